"""Agents that worked in parallel, each with a scratchpad: what they saw is joined (spec 4.4).

Two sightings are the same when signal and key are, or when their words are alike (above 0.85). What
two agents saw needs one session only: they are witnesses of each other.
"""

from dataclasses import dataclass, replace
from typing import Final

from memory.intake import statements
from memory.observer.sightings import EVIDENCE_MOST, Sighting

ALIKE_ABOVE: Final = 0.85  # spec 4.4
WITNESSES_LEAST: Final = 2  # agents, spec 4.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """A sighting and the agents that had it."""

    sighting: Sighting
    agents: tuple[str, ...]


def join(*, seen: tuple[tuple[str, tuple[Sighting, ...]], ...]) -> tuple[Witnessed, ...]:
    """Join what agents saw, each given with its name; the order of agents does not matter."""
    joined: list[Witnessed] = []
    for agent, found in sorted(seen, key=lambda pair: pair[0]):
        for sighting in sorted(found, key=lambda one: (one.kind, one.key)):
            place = _place(joined, sighting)
            if place is None:
                joined.append(Witnessed(sighting=sighting, agents=(agent,)))
            else:
                joined[place] = _with(joined[place], agent, sighting)
    return tuple(joined)


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


def _with(known: Witnessed, agent: str, sighting: Sighting) -> Witnessed:
    both = (*known.sighting.evidence, *sighting.evidence)[-EVIDENCE_MOST:]
    agents = tuple(sorted({*known.agents, agent}))
    times = known.sighting.times + sighting.times
    return Witnessed(sighting=replace(known.sighting, evidence=both, times=times), agents=agents)
