"""Signal 16: two at work on one file.

Seen when an edit or git fails because somebody else changed the file; and when two agents that
worked side by side, in one session or `between` scratchpads of their own, edited it soon after each
other while both were at work. One that waits for another, as a main agent does for the subagent it
sent, is not at work with it. Each agent counts steps of its own, so clocks say what was soon; where
a call has none, the order of numbers does.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting, SignalEvidence, SignalKind, strongest
from memory.sessions.scratchpad import Deed, Scratchpad, each_file
from memory.sessions.tools import Act

SECONDS_APART: Final = 600.0  # at most; default, not measured
NUMBERS_APART: Final = 60  # at most without clocks, about twenty calls; default, not measured
_COLLIDED: Final = re.compile(
    r"(?:modified|changed) (?:externally|since|by (?:another|someone)|on disk)"
    r"|Merge conflict in (?P<path>\S+)|would be overwritten by (?:merge|checkout)"
    r"|cannot lock ref|index\.lock",
    re.IGNORECASE,
)
_Made = tuple[float, int, Deed]  # when, by which agent


@strongest
def find_parallel_conflict(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Find the files at which two collided in one session."""
    by_agent: dict[str, list[Deed]] = {}
    by_file: dict[str, list[Deed]] = {}
    for deed in scratchpad.deeds.values():
        by_agent.setdefault(deed.agent, []).append(deed)
        found = _COLLIDED.search(deed.message) if deed.is_error else None
        if found is not None and deed.act in {Act.EDIT, Act.RUN}:
            path = deed.target if deed.act is Act.EDIT else found["path"] or ""
            by_file.setdefault(path, []).append(deed)
    for path, met in _met(tuple(map(tuple, by_agent.values()))):
        by_file.setdefault(path, []).extend(deed for _, _, deed in met)
    for path, deeds in by_file.items():
        yield _sighting(path, detections.evidence(deeds=deeds))


@strongest
def between(*, scratchpads: tuple[Scratchpad, ...]) -> Iterator[Sighting]:
    """Find the files at which some parallel agents collided; the evidence is each one's."""
    for path, met in _met(tuple(tuple(each.deeds.values()) for each in scratchpads)):
        evidence = tuple(
            SignalEvidence(sequence=one.sequence, step=one.step, file=one.target, line=one.line)
            for _, _, one in met
        )
        yield _sighting(path, evidence[-detections.EVIDENCE_MOST :])


def _sighting(path: str, evidence: tuple[SignalEvidence, ...]) -> Sighting:
    return Sighting(
        kind=SignalKind.PARALLEL_CONFLICT,
        key=path or "repository",
        files=(path,) if path else (),
        evidence=evidence,
        times=len(evidence),
    )


def _met(agents: tuple[tuple[Deed, ...], ...]) -> Iterator[tuple[str, list[_Made]]]:
    """Yield the files at which agents met, with their edits that did.

    An agent is known to have been at work from its first to its last call. How long the last one
    took is left out: some programs tell of a call when it has ended.
    """
    at_work = tuple(deeds for deeds in agents if deeds)
    if len(at_work) < 2:
        return
    is_timed = all(deed.at_seconds is not None for deeds in at_work for deed in deeds)

    def when(deed: Deed) -> float:
        return (deed.at_seconds or 0.0) if is_timed else deed.sequence

    spans = [(min(map(when, deeds)), max(map(when, deeds))) for deeds in at_work]
    edits: dict[str, list[_Made]] = {}
    for agent, deeds in enumerate(at_work):
        for deed in each_file(deeds=deeds):
            if detections.is_own_edit(deed=deed):
                edits.setdefault(deed.target, []).append((when(deed), agent, deed))
    apart = SECONDS_APART if is_timed else NUMBERS_APART
    for path, made in edits.items():
        made.sort(key=lambda one: one[:2])
        met: dict[tuple[int, int], _Made] = {}
        for two in pairwise(made):
            (before, one, _), (after, other, _) = two
            begins = max(spans[one][0], spans[other][0])
            ends = min(spans[one][1], spans[other][1])
            if one != other and begins <= before and after <= ends and after - before <= apart:
                met.update({(agent, deed.sequence): (at, agent, deed) for at, agent, deed in two})
        if met:
            yield path, list(met.values())
