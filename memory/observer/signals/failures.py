"""Signals in what went wrong: errors tried again, tests until they passed, corrections."""

import hashlib
import re
from collections.abc import Iterator
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting, SignalEvidence, SignalKind, made, strongest
from memory.sessions import tools
from memory.sessions.scratchpad import Deed, Scratchpad, each_file, in_order
from memory.sessions.self_reports import RemarkKind
from memory.sessions.tools import Act
from memory.text import text as texts

# Defaults, not measured.
RETRY_CALLS: Final = 10  # at most, from an error to the next try
FILES_NAMED: Final = 3  # that were changed until it went through
TESTS_LEAST: Final = 2  # different commands
TESTS_NAMED: Final = 3

CHANGED: Final = "after a change of "
_REFUSED: Final = re.compile(r"user (?:doesn't want|rejected|denied)|interrupted by user", re.I)
_WORDS: Final = re.compile(r"\w+")


@strongest
def find_error_retry(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 3: an error, and what the agent did until the same call went through, or gave up.

    Seen when a call failed and the same program was called again within the next ten calls, one
    sighting a fingerprint. What a person refused is no error of the code.
    """
    deeds = in_order(scratchpad=scratchpad)
    by_error: dict[str, list[tuple[int, int]]] = {}
    for place, deed in enumerate(deeds):
        if not deed.is_error or _REFUSED.search(texts.straighten_apostrophes(text=deed.message)):
            continue
        tried = _tried(deed)
        following = range(place + 1, min(place + 1 + RETRY_CALLS, len(deeds)))
        again = next((later for later in following if _tried(deeds[later]) == tried), None)
        if again is not None:
            by_error.setdefault(deed.fingerprint, []).append((place, again))
    yield from (_retried(deeds, one) for one in by_error.values())


def changed(*, how: str) -> tuple[str, ...]:
    """Return the files whose change helped, by the words that say how it went through."""
    return tuple(how.removeprefix(CHANGED).split(", ")) if how.startswith(CHANGED) else ()


def _tried(deed: Deed) -> tuple[Act, str]:
    """Return what is tried: a program, or a kind of act on one target."""
    if deed.act in {Act.RUN, Act.TEST}:
        return deed.act, tools.program(command=deed.target)
    return deed.act, deed.target


def _retried(deeds: tuple[Deed, ...], tries: list[tuple[int, int]]) -> Sighting:
    first, (place, again) = deeds[tries[0][0]], tries[-1]
    last = deeds[again]
    edits = tuple(deed for start, end in tries for deed in _edits(deeds[start + 1 : end]))
    went_through = last.is_done and not last.is_error
    how = ""
    if went_through:
        between = tuple(dict.fromkeys(deed.target for deed in _edits(deeds[place + 1 : again])))
        is_same = last.target == deeds[place].target
        how = "when tried again" if is_same else f"as `{last.target}`"
        how = f"{CHANGED}{', '.join(between[:FILES_NAMED])}" if between else how
    return made(
        SignalKind.ERROR_RETRY,
        first.fingerprint,
        (*(deeds[at] for pair in tries for at in pair), *edits),
        files=tuple(deed.target for deed in edits),
        times=len(tries),
        what=" ".join(part for part in _tried(first) if part),
        message=first.message,
        resolved="yes" if went_through else "no",
        how=how,
    )


def _edits(deeds: tuple[Deed, ...]) -> tuple[Deed, ...]:
    return tuple(deed for deed in each_file(deeds=deeds) if deed.act is Act.EDIT)


def find_test_order(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Signal 13: which tests were run in which order until they passed, at most one sighting.

    Seen when at least two different test commands were run and the last run passed.
    """
    runs = [deed for deed in scratchpad.deeds.values() if deed.act is Act.TEST and deed.is_done]
    targets = tuple(dict.fromkeys(run.target for run in runs))
    if len(targets) < TESTS_LEAST or runs[-1].is_error:
        return ()
    module, named = detections.main_module(scratchpad=scratchpad), targets[:TESTS_NAMED]
    return (
        made(
            SignalKind.TEST_ORDER,
            f"{module}: {' > '.join(named)}",
            runs,
            times=len(runs),
            module=module,
            order="\n".join(named),
            runs=str(len(runs)),
            failures=str(sum(run.is_error for run in runs)),
        ),
    )


@strongest
def find_self_correction(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 9: the agent says that it was wrong, and what is right, the same words once.

    Seen when a sentence of its reasoning corrects an earlier belief; the file it had last says
    where.
    """
    touches = detections.touches(scratchpad=scratchpad)
    seen: set[str] = set()
    for remark in scratchpad.remarks:
        if remark.kind is not RemarkKind.SELF_CORRECTION:
            continue
        words = " ".join(_WORDS.findall(remark.text.lower()))
        key = hashlib.blake2b(words.encode(), digest_size=8).hexdigest()
        if key in seen:
            continue
        seen.add(key)
        own = [deed for deed in touches if deed.agent == remark.agent]
        before = [deed for deed in own if deed.sequence < remark.sequence][-1:]
        told = SignalEvidence(sequence=remark.sequence, step=remark.step)
        yield Sighting(
            kind=SignalKind.SELF_CORRECTION,
            key=key,
            files=tuple(deed.target for deed in before),
            evidence=(*detections.evidence(deeds=before), told),
            details={"text": remark.text},
        )
