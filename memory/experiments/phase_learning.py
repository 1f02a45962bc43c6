"""Learn how much types of memories count in a phase, from what sessions did with them.

The delivery log has for each memory what came of it: used, ignored, wrong, or unknown, which is
left out. In a phase, the share of a type that was used is compared with that of all the other types
of the phase. Where the interval of the difference excludes zero, although those of all comparisons
hold together, a weight is proposed: a person approves it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, sqrt
from typing import Final

from memory.customization import phases
from memory.customization.phases import HIGHEST, LOWEST, Own, Phase
from memory.experiments import intervals
from memory.experiments.intervals import LEAST_SESSIONS, Difference, Side
from memory.taxonomy import MemoryType

SESSIONS_LEAST: Final = 30  # sessions before anything is learned
STEP: Final = 20  # steps of a weight in one: 0.05; default


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCounts:
    """How many memories were delivered with a known outcome, and how many of them were used."""

    given: int
    used: int


PhaseOutcomes = Mapping[tuple[Phase, MemoryType], OutcomeCounts]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedWeight:
    """A type in a phase against the others of it, what it counts now, and what is proposed.

    `difference` is that of the shares used, None where too little is known; `proposed` None where
    nothing is to be changed.
    """

    phase: Phase
    type: MemoryType
    own: OutcomeCounts
    others: OutcomeCounts
    difference: Difference | None
    now: float
    proposed: float | None


def learn_weights(*, outcomes: PhaseOutcomes, own: Own) -> tuple[LearnedWeight, ...]:
    """Compare each type with the others of its phase; `own` are the project's weights now."""
    pairs = {key: (counts, _others(outcomes, key)) for key, counts in outcomes.items()}
    compared = sum(_is_enough(*pair) for pair in pairs.values())
    level = intervals.shared_level(comparisons=compared)
    return tuple(
        _learned(key, pairs[key], phases.weights_of(phase=key[0], own=own).get(key[1], 1.0), level)
        for key in sorted(pairs, key=lambda key: (list(Phase).index(key[0]), key[1].value))
    )


def weight(*, now: float, own: OutcomeCounts, others: OutcomeCounts) -> float:
    """Compute now · √(share / share of the others), within 0.8..1.4, in steps of 0.05.

    Half the way, as logarithms go: what is given more often is met with less patience.
    """
    share, usual = own.used / own.given, others.used / others.given
    wanted = now * sqrt(share / usual) if usual else inf
    return round(min(HIGHEST, max(LOWEST, wanted)) * STEP) / STEP


def proposed_weights(*, found: tuple[LearnedWeight, ...]) -> Own:
    """Return the weights that are proposed."""
    chosen = [one for one in found if one.proposed is not None]
    return {
        phase: {one.type: one.proposed for one in chosen if one.phase is phase and one.proposed}
        for phase in dict.fromkeys(one.phase for one in chosen)
    }


def proposal_name(*, found: tuple[LearnedWeight, ...]) -> str:
    """Return a name of what is proposed, so that nothing else is approved; empty for nothing."""
    proposed = [
        (one.phase.value, one.type.value, one.now, one.proposed)
        for one in found
        if one.proposed is not None
    ]
    return hashlib.sha256(json.dumps(proposed).encode()).hexdigest()[:16] if proposed else ""


def _others(outcomes: PhaseOutcomes, key: tuple[Phase, MemoryType]) -> OutcomeCounts:
    rest = [counts for other, counts in outcomes.items() if other[0] is key[0] and other != key]
    return OutcomeCounts(given=sum(one.given for one in rest), used=sum(one.used for one in rest))


def _is_enough(own: OutcomeCounts, others: OutcomeCounts) -> bool:
    return min(own.given, others.given) >= LEAST_SESSIONS


def _learned(
    key: tuple[Phase, MemoryType],
    pair: tuple[OutcomeCounts, OutcomeCounts],
    now: float,
    level: float,
) -> LearnedWeight:
    own, others = pair
    difference = (
        intervals.of_shares(first=_side(own), second=_side(others), level=level)
        if _is_enough(own, others)
        else None
    )
    is_sure = difference is not None and difference.is_sure
    wanted = weight(now=now, own=own, others=others) if is_sure else now
    return LearnedWeight(
        phase=key[0],
        type=key[1],
        own=own,
        others=others,
        difference=difference,
        now=now,
        proposed=wanted if wanted != now else None,
    )


def _side(counts: OutcomeCounts) -> Side:
    return Side(count=counts.given, total=counts.used, squares=counts.used)
