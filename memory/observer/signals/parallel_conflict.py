"""Signal 16: two at work on one file.

Seen when an edit or git fails because somebody else changed the file; and when two agents that
worked side by side, in one session or `between` scratchpads of their own, edited it soon after each
other while both were at work. One that waits for another, as a main agent does for the subagent it
sent, is not at work with it. Each agent counts steps of its own, so clocks say what was soon; where
a call has none, the order of numbers does.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from memory.observer import detections
from memory.observer.detections import Evidence, Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions import file_paths
from memory.sessions.scratchpad import Deed, Scratchpad, each_file
from memory.sessions.tools import Act

SECONDS_APART: Final = 600.0  # at most, ours
NUMBERS_APART: Final = 60  # at most, where there are no clocks: about twenty calls; ours
_COLLIDED: Final = re.compile(
    r"(?:modified|changed) (?:externally|since|by (?:another|someone)|on disk)"
    r"|Merge conflict in (?P<path>\S+)|would be overwritten by (?:merge|checkout)"
    r"|cannot lock ref|index\.lock",
    re.IGNORECASE,
)
_Made = tuple[float, int, Deed]  # when, by which agent


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the files at which two collided in one session."""
    by_agent: dict[str, list[Deed]] = {}
    for deed in scratchpad.deeds.values():
        by_agent.setdefault(deed.agent, []).append(deed)
    by_file: dict[str, list[Deed]] = {}
    for path, deed in _collided(scratchpad):
        by_file.setdefault(path, []).append(deed)
    for path, made in _met(tuple(map(tuple, by_agent.values()))):
        by_file.setdefault(path, []).extend(deed for _, _, deed in made)
    return detections.strongest(
        sightings=(
            _sighting(path, detections.evidence(deeds=deeds)) for path, deeds in by_file.items()
        )
    )


def between(*, scratchpads: tuple[Scratchpad, ...]) -> tuple[Sighting, ...]:
    """Find the files at which some parallel agents collided; the evidence is each one's."""
    agents = tuple(tuple(each.deeds.values()) for each in scratchpads)
    found = (
        _sighting(path, tuple(_evidence(deed) for _, _, deed in made)[-detections.EVIDENCE_MOST :])
        for path, made in _met(agents)
    )
    return detections.strongest(sightings=found)


def _collided(scratchpad: Scratchpad) -> Iterator[tuple[str, Deed]]:
    """Yield the calls that failed because somebody else was there."""
    for deed in scratchpad.deeds.values():
        found = _COLLIDED.search(deed.message) if deed.is_error else None
        if found is not None and deed.act in {Act.EDIT, Act.RUN}:
            named = found["path"] or ""
            yield deed.target if deed.act is Act.EDIT else named, deed


def _met(agents: tuple[tuple[Deed, ...], ...]) -> Iterator[tuple[str, list[_Made]]]:
    """Yield the files at which agents met, with their edits that did."""
    at_work = tuple(deeds for deeds in agents if deeds)
    if len(at_work) < 2:
        return
    is_timed = all(deed.at_seconds is not None for deeds in at_work for deed in deeds)
    spans = tuple(_span(deeds, is_timed) for deeds in at_work)
    edits: dict[str, list[_Made]] = {}
    for agent, deeds in enumerate(at_work):
        for deed in _edits(deeds):
            edits.setdefault(deed.target, []).append((_when(deed, is_timed), agent, deed))
    apart = SECONDS_APART if is_timed else NUMBERS_APART
    for path, made in edits.items():
        made.sort(key=lambda one: one[:2])
        both = (two for two in pairwise(made) if _is_together(two, spans, apart))
        met = {(agent, deed.sequence): (at, agent, deed) for two in both for at, agent, deed in two}
        if met:
            yield path, list(met.values())


def _span(deeds: tuple[Deed, ...], is_timed: bool) -> tuple[float, float]:
    """Return from when until when an agent is known to have been at work: its first and last call.

    How long the last one took is left out: some programs tell of a call when it has ended.
    """
    moments = [_when(deed, is_timed) for deed in deeds]
    return min(moments), max(moments)


def _when(deed: Deed, is_timed: bool) -> float:
    return (deed.at_seconds or 0.0) if is_timed else deed.sequence


def _is_together(
    two: tuple[_Made, _Made], spans: tuple[tuple[float, float], ...], apart: float
) -> bool:
    """Say whether two agents made two edits soon after each other while both were at work."""
    (before, one, _), (after, other, _) = two
    begins = max(spans[one][0], spans[other][0])
    ends = min(spans[one][1], spans[other][1])
    return one != other and begins <= before and after <= ends and after - before <= apart


def _edits(deeds: Iterable[Deed]) -> Iterator[Deed]:
    return (
        deed
        for deed in each_file(deeds=deeds)
        if deed.act is Act.EDIT and not deed.is_error and _is_ours(deed.target)
    )


def _is_ours(path: str) -> bool:
    return bool(path) and not file_paths.is_outside(path=path)


def _evidence(deed: Deed) -> Evidence:
    return Evidence(sequence=deed.sequence, step=deed.step, file=deed.target, line=deed.line)


def _sighting(path: str, evidence: tuple[Evidence, ...]) -> Sighting:
    return Sighting(
        kind=SignalKind.PARALLEL_CONFLICT,
        key=path or "repository",
        files=(path,) if path else (),
        evidence=evidence,
        times=len(evidence),
    )
