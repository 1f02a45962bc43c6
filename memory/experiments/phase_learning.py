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
from memory.experiments import uplift
from memory.experiments.uplift import NOTHING, Difference, Side
from memory.taxonomy import MemoryType

SESSIONS_LEAST: Final = 30  # sessions before anything is learned
STEP: Final = 20  # steps of a weight in one: 0.05; default

PhaseOutcomes = Mapping[tuple[Phase, MemoryType], Side]  # deliveries; the total are those used


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedWeight:
    """A type in a phase against the others of it, what it counts now, and what is proposed.

    `difference` is that of the shares used, None where too little is known; `proposed` None where
    nothing is to be changed.
    """

    phase: Phase
    type: MemoryType
    own: Side
    others: Side
    difference: Difference | None
    now: float
    proposed: float | None


def outcome_side(*, given: int, used: int) -> Side:
    """Return deliveries with a known outcome, and how many of them were used, as sums."""
    return Side(count=given, total=used, squares=used)


def learn_weights(*, outcomes: PhaseOutcomes, own: Own) -> tuple[LearnedWeight, ...]:
    """Compare each type with the others of its phase; `own` are the project's weights now."""
    others: dict[tuple[Phase, MemoryType], Side] = {}
    for phase, type in outcomes:
        rest = (
            one for other, one in outcomes.items() if other[0] is phase and other[1] is not type
        )
        others[phase, type] = sum(rest, NOTHING)
    enough = {
        key for key, side in outcomes.items() if uplift.is_enough(first=side, second=others[key])
    }
    level = uplift.shared_level(comparisons=len(enough))
    found = []
    for key in sorted(outcomes, key=lambda key: (list(Phase).index(key[0]), key[1].value)):
        first, second = outcomes[key], others[key]
        now = phases.weights_of(phase=key[0], own=own).get(key[1], 1.0)
        wanted, difference = now, None
        if key in enough:
            difference = uplift.of_shares(first=first, second=second, level=level)
            wanted = weight(now=now, own=first, others=second) if difference.is_sure else now
        learned = LearnedWeight(
            phase=key[0],
            type=key[1],
            own=first,
            others=second,
            difference=difference,
            now=now,
            proposed=wanted if wanted != now else None,
        )
        found.append(learned)
    return tuple(found)


def weight(*, now: float, own: Side, others: Side) -> float:
    """Compute now · √(share / share of the others), within 0.8..1.4, in steps of 0.05.

    Half the way, as logarithms go: what is given more often is met with less patience.
    """
    wanted = now * sqrt(own.mean / others.mean) if others.mean else inf
    return round(min(HIGHEST, max(LOWEST, wanted)) * STEP) / STEP


def proposed_weights(*, found: tuple[LearnedWeight, ...]) -> Own:
    """Return the weights that are proposed."""
    changes: dict[Phase, dict[MemoryType, float]] = {}
    for one in found:
        if one.proposed is not None:
            changes.setdefault(one.phase, {})[one.type] = one.proposed
    return changes


def proposal_name(*, found: tuple[LearnedWeight, ...]) -> str:
    """Return a name of what is proposed, so that nothing else is approved; empty for nothing."""
    proposed = [
        (one.phase.value, one.type.value, one.now, one.proposed)
        for one in found
        if one.proposed is not None
    ]
    return hashlib.sha256(json.dumps(proposed).encode()).hexdigest()[:16] if proposed else ""
