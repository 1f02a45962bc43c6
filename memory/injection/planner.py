"""What memories imply for a plan, and a short list to check before a complex one.

Calibrations multiply the estimate, dead ends are constraints, causal dependencies widen the scope;
outcomes and recipes are given as they are.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Final
from uuid import UUID

from memory.records.queries.views import MemoryView
from memory.taxonomy import MemoryType

CALIBRATION_MOST: Final = 2.0
STEPS_MOST: Final = 400  # absolute; default, not measured
CITED_MOST: Final = {  # memories of each type that a plan rests on; defaults, not measured
    MemoryType.TASK_CALIBRATION: 5,
    MemoryType.DEAD_END: 8,
    MemoryType.CAUSAL_DEPENDENCY: 10,
    MemoryType.WORK_UNIT_OUTCOME: 5,
    MemoryType.WORKFLOW_RECIPE: 2,
}
FILES_MOST: Final = 12  # that are named as also in scope; default
COMPLEX_STEPS: Final = 8  # of a plan that has a checklist; default
COMPLEX_MODULES: Final = 2  # of a plan that has a checklist; default
CHECKS_MOST: Final = 7  # lines of a checklist; default
CHECKED: Final = (
    MemoryType.REQUIREMENT,
    MemoryType.DEAD_END,
    MemoryType.CAUSAL_DEPENDENCY,
    MemoryType.GOTCHA,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAdvice:
    """What memory implies for a plan; `step_limit` None where nobody said how long it is.

    `rests_on` are the memories that it follows from, `checklist` those to check, in their order;
    empty for a simple plan.
    """

    calibration: float | None = None
    planned_steps: int | None = None
    step_limit: int | None = None
    also_in_scope: tuple[str, ...] = ()
    rests_on: tuple[UUID, ...] = ()
    checklist: tuple[UUID, ...] = ()


def advise(
    *, memories: Iterable[MemoryView], planned_steps: int | None, files: frozenset[str]
) -> PlanAdvice:
    """Compose what follows for a task of so many steps that touches some files.

    The calibration is the mean ratio, each weighed by its samples. A dependency adds its files when
    one of them is in scope.
    """
    ranked = sorted(memories, key=lambda one: (-one.effective_confidence, one.id))
    kept = {
        type: tuple(one for one in ranked if one.type == type)[:most]
        for type, most in CITED_MOST.items()
    }
    calibration = _mean_ratio(kept[MemoryType.TASK_CALIBRATION])
    coupled = (
        path
        for one in kept[MemoryType.CAUSAL_DEPENDENCY]
        if not files.isdisjoint(one.related_files)
        for path in one.related_files
        if path not in files
    )
    limit = step_limit(base=planned_steps, calibration=calibration) if planned_steps else None
    return PlanAdvice(
        calibration=calibration,
        planned_steps=planned_steps,
        step_limit=limit,
        also_in_scope=tuple(dict.fromkeys(coupled))[:FILES_MOST],
        rests_on=tuple(one.id for one in chain.from_iterable(kept.values())),
    )


def _mean_ratio(calibrations: tuple[MemoryView, ...]) -> float | None:
    """Return the mean of the ratios that memories measured, each weighed by its samples."""
    fields = [one.attributes for one in calibrations]
    measured = [
        (_positive(one.get("ratio"), 0.0), int(_positive(one.get("samples"), 1))) for one in fields
    ]
    samples = sum(count for ratio, count in measured if ratio)
    total = sum(ratio * count for ratio, count in measured)
    return total / samples if samples else None


def _positive(value: object, otherwise: float) -> float:
    """Return a number of an attribute of a calibration, which agents write as they like."""
    return float(value) if isinstance(value, int | float) and value > 0 else otherwise


def step_limit(*, base: int, calibration: float | None) -> int:
    """Compute L = min(⌈base · min(r, 2.0)⌉, 400) steps; r = 1 when nothing is known.

    Raises ValueError for a base below 1.
    """
    if base < 1:
        raise ValueError(f"base must be at least 1, not {base}")
    factor = min(calibration if calibration is not None else 1.0, CALIBRATION_MOST)
    return max(1, min(math.ceil(base * factor), STEPS_MOST))


def is_complex(*, steps: int, modules: int) -> bool:
    """Say whether a plan is worth a checklist."""
    return steps >= COMPLEX_STEPS or modules >= COMPLEX_MODULES


def checklist(*, memories: Iterable[MemoryView]) -> tuple[UUID, ...]:
    """Return what to check: what must hold, what failed, what is coupled, traps."""
    ranked = sorted(
        (CHECKED.index(type), -one.effective_confidence, one.id)
        for one in memories
        if (type := MemoryType(one.type)) in CHECKED
    )
    return tuple(memory_id for _, _, memory_id in ranked[:CHECKS_MOST])
