"""Agents that worked in parallel, each with a scratchpad: what they saw is joined.

Two sightings are the same when signal and key are, or when their words are alike (above 0.85). What
two agents saw needs one session only: they are witnesses of each other.
"""

from dataclasses import dataclass, replace
from typing import Final

from memory.observer.detections import EVIDENCE_MOST, Sighting
from memory.observer.signals import parallel_conflict
from memory.records import statements
from memory.sessions import trust_gate
from memory.sessions.scratchpad import Scratchpad

ALIKE_ABOVE: Final = 0.85
WITNESSES_LEAST: Final = 2  # agents


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one agent did and what was sighted in it."""

    agent: str
    scratchpad: Scratchpad
    found: tuple[Sighting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """A sighting, the agents that had it, and why it is tainted if one of them was (else empty)."""

    sighting: Sighting
    agents: tuple[str, ...]
    reason: str


def join(*, seen: tuple[Seen, ...]) -> tuple[Witnessed, ...]:
    """Join what agents saw, with the files at which they collided; their order does not matter."""
    joined: list[Witnessed] = []
    for one in sorted(seen, key=lambda each: each.agent):
        for sighting in sorted(one.found, key=lambda each: (each.kind, each.key)):
            witnessed = _witnessed(one, sighting)
            place = _place(joined, sighting)
            if place is None:
                joined.append(witnessed)
            else:
                joined[place] = _with(joined[place], witnessed)
    return (*joined, *_collisions(seen))


def sessions_needed(*, usual: int, agents: int) -> int:
    """Return how many sessions a signal needs: one when at least two agents saw it."""
    return 1 if agents >= WITNESSES_LEAST else usual


def _place(joined: list[Witnessed], sighting: Sighting) -> int | None:
    words = _words(sighting)
    for place, known in enumerate(joined):
        if known.sighting.kind is not sighting.kind:
            continue
        is_same = known.sighting.key == sighting.key
        if is_same or statements.jaccard(left=_words(known.sighting), right=words) > ALIKE_ABOVE:
            return place
    return None


def _words(sighting: Sighting) -> frozenset[str]:
    """Return what a sighting says in words; its key when it says nothing more."""
    said = " ".join((*sighting.files, *(value for _, value in sighting.details)))
    return statements.words(text=said or sighting.key)


def _witnessed(one: Seen, sighting: Sighting) -> Witnessed:
    reason = trust_gate.taint_of(last_sequence=sighting.last_sequence, scratchpad=one.scratchpad)
    return Witnessed(sighting=sighting, agents=(one.agent,), reason=reason)


def _with(known: Witnessed, more: Witnessed) -> Witnessed:
    """Join two: the evidence of both, and the taint of either."""
    both = (*known.sighting.evidence, *more.sighting.evidence)[-EVIDENCE_MOST:]
    times = known.sighting.times + more.sighting.times
    return Witnessed(
        sighting=replace(known.sighting, evidence=both, times=times),
        agents=tuple(sorted({*known.agents, *more.agents})),
        reason=known.reason or more.reason,
    )


def _collisions(seen: tuple[Seen, ...]) -> tuple[Witnessed, ...]:
    """Return the files that several agents edited; tainted when any of the agents is."""
    ordered = sorted(seen, key=lambda each: each.agent)
    scratchpads = tuple(one.scratchpad for one in ordered)
    taints = (one.taint.reason for one in scratchpads if one.taint is not None)
    reason = next(taints, "")
    agents = tuple(dict.fromkeys(one.agent for one in ordered))
    return tuple(
        Witnessed(sighting=sighting, agents=agents, reason=reason)
        for sighting in parallel_conflict.between(scratchpads=scratchpads)
    )
