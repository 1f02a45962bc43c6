"""What a planner is told, with what it implies for the plan, and a short list to check.

Calibrations multiply the estimate, dead ends become constraints, causal dependencies widen the
scope; outcomes and recipes are told as they are. A pre-brief is the same as a checklist, for plans
that are worth one.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memory.taxonomy import MemoryType

CALIBRATION_MOST: Final = 2.0
STEPS_MOST: Final = 400  # absolute, ours
LINES_MOST: Final = {  # of each type, seed 001
    MemoryType.TASK_CALIBRATION: 5,
    MemoryType.DEAD_END: 8,
    MemoryType.CAUSAL_DEPENDENCY: 10,
    MemoryType.WORK_UNIT_OUTCOME: 5,
    MemoryType.WORKFLOW_RECIPE: 2,
}
COMPLEX_STEPS: Final = 8  # of a plan, ours
COMPLEX_MODULES: Final = 2  # of a plan, ours
CHECKS_MOST: Final = 7  # lines of a checklist, ours
CHECKED: Final = (
    MemoryType.REQUIREMENT,
    MemoryType.DEAD_END,
    MemoryType.CAUSAL_DEPENDENCY,
    MemoryType.GOTCHA,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A memory about the modules of a task; `ratio` only of calibrations, 0 otherwise.

    `own_type` is what a methodology calls its type, empty where none does.
    """

    id: UUID
    type: MemoryType
    content: str
    confidence: float
    files: tuple[str, ...] = ()
    own_type: str = ""
    ratio: float = 0.0
    samples: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerContext:
    """What a planner is told and what follows from it; `cited` names what it rests on."""

    calibration: float | None
    estimate: int
    constraints: tuple[str, ...]
    also_in_scope: tuple[str, ...]
    outcomes: tuple[str, ...]
    recipes: tuple[str, ...]
    cited: tuple[UUID, ...]


def context(*, known: Iterable[Known], estimate: int, files: frozenset[str]) -> PlannerContext:
    """Compose what a planner is told about a task of so many steps that touches some files."""
    kept = _kept(known)
    calibration = _calibration(kept[MemoryType.TASK_CALIBRATION])
    coupled = (path for one in kept[MemoryType.CAUSAL_DEPENDENCY] for path in _wider(one, files))
    return PlannerContext(
        calibration=calibration,
        estimate=step_limit(base=estimate, calibration=calibration),
        constraints=tuple(f"Not again: {one.content}" for one in kept[MemoryType.DEAD_END]),
        also_in_scope=tuple(dict.fromkeys(coupled)),
        outcomes=tuple(one.content for one in kept[MemoryType.WORK_UNIT_OUTCOME]),
        recipes=tuple(one.content for one in kept[MemoryType.WORKFLOW_RECIPE]),
        cited=tuple(one.id for group in kept.values() for one in group),
    )


def step_limit(*, base: int, calibration: float | None) -> int:
    """Compute L = min(⌈base · min(r, 2.0)⌉, 400) steps; r = 1 when nothing is known.

    Raises ValueError for a base below 1.
    """
    if base < 1:
        raise ValueError(f"base must be at least 1, not {base}")
    factor = min(calibration if calibration is not None else 1.0, CALIBRATION_MOST)
    return max(1, min(math.ceil(base * factor), STEPS_MOST))


def is_complex(*, steps: int, modules: int) -> bool:
    """Say whether a plan is worth a pre-brief."""
    return steps >= COMPLEX_STEPS or modules >= COMPLEX_MODULES


def checklist(*, known: Iterable[Known]) -> tuple[Known, ...]:
    """Return the pre-brief of a complex plan: what must hold, what failed, what is coupled,
    traps."""
    order = {type: place for place, type in enumerate(CHECKED)}
    checked = (one for one in known if one.type in order)
    ranked = sorted(checked, key=lambda one: (order[one.type], -one.confidence, one.id))
    return tuple(ranked[:CHECKS_MOST])


def _kept(known: Iterable[Known]) -> dict[MemoryType, tuple[Known, ...]]:
    """Return the surest memories of each type a planner is told about."""
    ranked = sorted(known, key=lambda one: (-one.confidence, one.id))
    return {
        type: tuple(one for one in ranked if one.type is type)[:most]
        for type, most in LINES_MOST.items()
    }


def _calibration(known: tuple[Known, ...]) -> float | None:
    """Return the mean ratio, each weighed by its samples."""
    measured = [one for one in known if one.ratio > 0 and one.samples > 0]
    samples = sum(one.samples for one in measured)
    return sum(one.ratio * one.samples for one in measured) / samples if samples else None


def _wider(one: Known, files: frozenset[str]) -> tuple[str, ...]:
    """Return the files that a dependency adds when one of its files is in scope."""
    if files.isdisjoint(one.files):
        return ()
    return tuple(path for path in one.files if path not in files)
