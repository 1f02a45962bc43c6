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
from memory.experiments.uplift import NOTHING, Estimate, Side
from memory.taxonomy import MemoryType

SESSIONS_LEAST: Final = 30  # sessions before anything is learned
STEP: Final = 20  # steps of a weight in one: 0.05; default

PhaseOutcomes = Mapping[tuple[Phase, MemoryType], Side]  # deliveries; the total are those used


@dataclass(frozen=True, slots=True)
class LearnedWeight:
    """A type in a phase against its others, what it counts now, what is proposed."""

    phase: Phase
    type: MemoryType
    own: Side
    others: Side
    difference: Estimate | None  # of the shares used, None where too little is known
    now: float

    @property
    def proposed(self) -> float | None:
        """What the type is to count; None where nothing is to be changed."""
        if self.difference is None or not self.difference.is_sure:
            return None
        wanted = weight(now=self.now, own=self.own, others=self.others)
        return None if wanted == self.now else wanted


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
        phase, type = key
        first, second, difference = outcomes[key], others[key], None
        if key in enough:
            difference = uplift.of_shares(first=first, second=second, level=level)
        now = phases.weights_of(phase=phase, own=own).get(type, 1.0)
        found.append(LearnedWeight(phase, type, first, second, difference, now))
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
