"""Signal 3: an error, and what the agent did until the same call went through, or gave up.

Seen when a call failed and the same program was called again within the next ten calls. What a
person refused is no error of the code.
"""

import re
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions import tools
from memory.sessions.scratchpad import Deed, Scratchpad, each_file, in_order
from memory.sessions.tools import Act
from memory.text import text

CALLS_APART: Final = 10  # at most, ours
FILES_NAMED: Final = 3  # that were changed until it went through, ours
CHANGED: Final = "after a change of "
_REFUSED: Final = re.compile(r"user (?:doesn't want|rejected|denied)|interrupted by user", re.I)


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the errors that were tried again, one sighting a fingerprint."""
    deeds = in_order(scratchpad=scratchpad)
    by_error: dict[str, list[tuple[int, int]]] = {}
    for place, deed in enumerate(deeds):
        again = _again(deeds, place) if _is_error(deed) else None
        if again is not None:
            by_error.setdefault(deed.fingerprint, []).append((place, again))
    found = (_sighting(deeds, tries) for tries in by_error.values())
    return detections.strongest(sightings=found)


def changed(*, how: str) -> tuple[str, ...]:
    """Return the files whose change helped, by the words that say how it went through."""
    return tuple(how.removeprefix(CHANGED).split(", ")) if how.startswith(CHANGED) else ()


def _is_error(deed: Deed) -> bool:
    return deed.is_error and _REFUSED.search(text.straighten_apostrophes(text=deed.message)) is None


def _again(deeds: tuple[Deed, ...], place: int) -> int | None:
    """Return where the same is tried again."""
    failed = _what(deeds[place])
    following = range(place + 1, min(place + 1 + CALLS_APART, len(deeds)))
    return next((later for later in following if _what(deeds[later]) == failed), None)


def _what(deed: Deed) -> tuple[Act, str]:
    """Return what is tried: a program, or a kind of act on one target."""
    if deed.act in {Act.RUN, Act.TEST}:
        return deed.act, tools.program(command=deed.target)
    return deed.act, deed.target


def _sighting(deeds: tuple[Deed, ...], tries: list[tuple[int, int]]) -> Sighting:
    first, (place, again) = deeds[tries[0][0]], tries[-1]
    last = deeds[again]
    between = _edits(deeds[place + 1 : again])
    changed = tuple(deed for start, end in tries for deed in _edits(deeds[start + 1 : end]))
    went_through = last.is_done and not last.is_error
    return Sighting(
        kind=SignalKind.ERROR_RETRY,
        key=first.fingerprint,
        files=tuple(dict.fromkeys(deed.target for deed in changed))[: detections.FILES_MOST],
        evidence=detections.evidence(
            deeds=(*(deeds[at] for pair in tries for at in pair), *changed)
        ),
        times=len(tries),
        details=(
            ("what", " ".join(part for part in _what(first) if part)),
            ("message", first.message),
            ("resolved", "yes" if went_through else "no"),
            ("how", _how(deeds[place], last, between) if went_through else ""),
        ),
    )


def _edits(deeds: tuple[Deed, ...]) -> tuple[Deed, ...]:
    return tuple(deed for deed in each_file(deeds=deeds) if deed.act is Act.EDIT)


def _how(failed: Deed, last: Deed, between: tuple[Deed, ...]) -> str:
    """Say what differed when it went through."""
    if between:
        changed = tuple(dict.fromkeys(deed.target for deed in between))[:FILES_NAMED]
        return f"{CHANGED}{', '.join(changed)}"
    if last.target != failed.target:
        return f"as `{last.target}`"
    return "when tried again"
