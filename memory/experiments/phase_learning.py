"""Learn how much types of memories count in a phase, from what sessions did with them.

A session's ledger says of each memory that was given what came of it: used, ignored, wrong, or
unknown, which is left out. In a phase, the share of a type that was used stands against that of all
the other types of the phase. Where it is surely another one, although the intervals of all that is
compared hold together, a weight is proposed: a person approves it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, sqrt
from typing import Final

from memory.customization import phases
from memory.customization.phase_weights import HIGHEST, LOWEST
from memory.customization.phases import Own, Phase
from memory.experiments import differences
from memory.experiments.differences import LEAST_SESSIONS, Difference, Side
from memory.taxonomy import MemoryType

LEAST_TOLD: Final = 30  # sessions before anything is learned
STEP: Final = 20  # steps of a weight in one: 0.05; ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """How many memories were given of which something came, and how many of them were used."""

    given: int
    used: int


Told = Mapping[tuple[Phase, MemoryType], Came]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A type in a phase against the others of it, what it counts now, and what is proposed.

    `difference` is that of the shares used, None where too little is known; `proposed` None where
    nothing is to be changed.
    """

    phase: Phase
    type: MemoryType
    own: Came
    others: Came
    difference: Difference | None
    now: float
    proposed: float | None


def learned(*, told: Told, own: Own) -> tuple[Learned, ...]:
    """Compare each type with the others of its phase; `own` are the project's weights now."""
    pairs = {key: (came, _others(told, key)) for key, came in told.items()}
    compared = sum(_is_enough(*pair) for pair in pairs.values())
    level = differences.shared_level(comparisons=compared)
    return tuple(
        _learned(key, pairs[key], phases.weights_of(phase=key[0], own=own).get(key[1], 1.0), level)
        for key in sorted(pairs, key=lambda key: (list(Phase).index(key[0]), key[1].value))
    )


def weight(*, now: float, own: Came, others: Came) -> float:
    """Compute now · √(share / share of the others), within 0.8..1.4, in steps of 0.05.

    Half the way, as logarithms go: what is given more often is met with less patience.
    """
    share, usual = own.used / own.given, others.used / others.given
    wanted = now * sqrt(share / usual) if usual else inf
    return round(min(HIGHEST, max(LOWEST, wanted)) * STEP) / STEP


def changes(*, found: tuple[Learned, ...]) -> Own:
    """Return the weights that are proposed."""
    chosen = [one for one in found if one.proposed is not None]
    return {
        phase: {one.type: one.proposed for one in chosen if one.phase is phase and one.proposed}
        for phase in dict.fromkeys(one.phase for one in chosen)
    }


def name_of(*, found: tuple[Learned, ...]) -> str:
    """Return a name of what is proposed, so that nothing else is approved; empty for nothing."""
    said = [
        (one.phase.value, one.type.value, one.now, one.proposed)
        for one in found
        if one.proposed is not None
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16] if said else ""


def _others(told: Told, key: tuple[Phase, MemoryType]) -> Came:
    rest = [came for other, came in told.items() if other[0] is key[0] and other != key]
    return Came(given=sum(one.given for one in rest), used=sum(one.used for one in rest))


def _is_enough(own: Came, others: Came) -> bool:
    return min(own.given, others.given) >= LEAST_SESSIONS


def _learned(
    key: tuple[Phase, MemoryType], pair: tuple[Came, Came], now: float, level: float
) -> Learned:
    own, others = pair
    difference = (
        differences.of_shares(first=_side(own), second=_side(others), level=level)
        if _is_enough(own, others)
        else None
    )
    is_sure = difference is not None and difference.is_sure
    wanted = weight(now=now, own=own, others=others) if is_sure else now
    return Learned(
        phase=key[0],
        type=key[1],
        own=own,
        others=others,
        difference=difference,
        now=now,
        proposed=wanted if wanted != now else None,
    )


def _side(came: Came) -> Side:
    return Side(count=came.given, total=came.used, squares=came.used)
