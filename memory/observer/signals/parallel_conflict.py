"""Signal 16: two at work on one file.

Seen when an edit or git fails because somebody else changed the file; when two agents of a session
edited it within ten steps of each other; and, `between` scratchpads of agents that ran in parallel,
when both edited it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from memory.observer import places, sightings
from memory.observer.scratchpad import Deed, Scratchpad, edited
from memory.observer.sightings import Evidence, Sighting
from memory.observer.signal_table import SignalKind
from memory.observer.tools import Act

STEPS_APART: Final = 10  # at most, ours
_COLLIDED: Final = re.compile(
    r"(?:modified|changed) (?:externally|since|by (?:another|someone)|on disk)"
    r"|Merge conflict in (?P<path>\S+)|would be overwritten by (?:merge|checkout)"
    r"|cannot lock ref|index\.lock",
    re.IGNORECASE,
)


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the files at which two collided in one session."""
    by_file: dict[str, list[Deed]] = {}
    for path, deed in (*_collided(scratchpad), *_by_two(scratchpad)):
        by_file.setdefault(path, []).append(deed)
    return sightings.strongest(
        sightings=(
            _sighting(path, sightings.evidence(deeds=deeds)) for path, deeds in by_file.items()
        )
    )


def between(*, scratchpads: tuple[Scratchpad, ...]) -> tuple[Sighting, ...]:
    """Find the files that several of some parallel agents edited; the evidence is each one's."""
    editors: dict[str, list[Evidence]] = {}
    for scratchpad in scratchpads:
        for path in sorted(edited(scratchpad=scratchpad)):
            use = scratchpad.files[path]
            last = Evidence(sequence=use.last_sequence, step=use.last_step, file=path)
            editors.setdefault(path, []).append(last)
    return sightings.strongest(
        sightings=(
            _sighting(path, tuple(each))
            for path, each in editors.items()
            if len(each) > 1 and not places.is_outside(path=path)
        )
    )


def _collided(scratchpad: Scratchpad) -> Iterator[tuple[str, Deed]]:
    """Yield the calls that failed because somebody else was there."""
    for deed in scratchpad.deeds.values():
        found = _COLLIDED.search(deed.message) if deed.is_error else None
        if found is not None and deed.act in {Act.EDIT, Act.RUN}:
            named = found["path"] or ""
            yield deed.target if deed.act is Act.EDIT else named, deed


def _by_two(scratchpad: Scratchpad) -> Iterator[tuple[str, Deed]]:
    """Yield the edits of a file that follow another agent's edit of it."""
    last: dict[str, Deed] = {}
    for deed in _edits(scratchpad.deeds.values()):
        before = last.get(deed.target)
        if before is not None and _is_by_another_soon(before, deed):
            yield deed.target, before
            yield deed.target, deed
        last[deed.target] = deed


def _is_by_another_soon(before: Deed, deed: Deed) -> bool:
    return before.agent != deed.agent and deed.step - before.step <= STEPS_APART


def _edits(deeds: Iterable[Deed]) -> Iterator[Deed]:
    return (deed for deed in deeds if deed.act is Act.EDIT and deed.target and not deed.is_error)


def _sighting(path: str, evidence: tuple[Evidence, ...]) -> Sighting:
    return Sighting(
        kind=SignalKind.PARALLEL_CONFLICT,
        key=path or "repository",
        files=(path,) if path else (),
        evidence=evidence,
        times=len(evidence),
    )
