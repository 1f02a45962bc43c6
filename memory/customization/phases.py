"""Phases of work: which types count more, and how a context's tokens are shared.

Six universal phases as literal tables; each methodology maps its own phases to them. An
organization's own methodology is data: it passes its map in. A phase that no map knows weighs
nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from memory.taxonomy import MemoryType


class Phase(StrEnum):
    """What kind of work is being done."""

    DEFINE = "define"
    IMPLEMENT = "implement"
    VALIDATE = "validate"
    REFINE = "refine"
    EXPLORE = "explore"
    REFLECT = "reflect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens of a phase's context, the share of each named type, and of all the others."""

    tokens: int
    shares: Mapping[MemoryType, float]
    other: float


Own = Mapping[Phase, Mapping[MemoryType, float]]

WEIGHTS: Mapping[Phase, Mapping[MemoryType, float]] = {  # missing = 1.0
    Phase.DEFINE: {
        MemoryType.WORKFLOW_RECIPE: 1.4,
        MemoryType.DEAD_END: 1.2,
        MemoryType.REQUIREMENT: 1.2,
        MemoryType.DECISION: 1.1,
        MemoryType.TASK_CALIBRATION: 1.1,
        MemoryType.GOTCHA: 0.8,
        MemoryType.ERROR_PATTERN: 0.8,
    },
    Phase.IMPLEMENT: {
        MemoryType.GOTCHA: 1.4,
        MemoryType.ERROR_PATTERN: 1.3,
        MemoryType.CAUSAL_DEPENDENCY: 1.2,
        MemoryType.DEAD_END: 1.2,
        MemoryType.PATTERN: 1.1,
        MemoryType.PREFETCH_PATTERN: 1.1,
    },
    Phase.VALIDATE: {
        MemoryType.ERROR_PATTERN: 1.4,
        MemoryType.E2E_OBSERVATION: 1.4,
        MemoryType.REQUIREMENT: 1.2,
        MemoryType.WORK_UNIT_OUTCOME: 1.1,
    },
    Phase.REFINE: {
        MemoryType.ERROR_PATTERN: 1.3,
        MemoryType.GOTCHA: 1.2,
        MemoryType.DEAD_END: 1.2,
        MemoryType.PATTERN: 1.0,
    },
    Phase.EXPLORE: {
        MemoryType.MODULE_INSIGHT: 1.4,
        MemoryType.DECISION: 1.2,
        MemoryType.PATTERN: 1.1,
        MemoryType.CAUSAL_DEPENDENCY: 1.0,
    },
    Phase.REFLECT: {
        MemoryType.WORK_UNIT_OUTCOME: 1.4,
        MemoryType.TASK_CALIBRATION: 1.3,
        MemoryType.DEAD_END: 1.1,
    },
}

BUDGETS: Mapping[Phase, Budget] = {
    Phase.DEFINE: Budget(
        tokens=2500,
        shares={
            MemoryType.WORKFLOW_RECIPE: 0.30,
            MemoryType.REQUIREMENT: 0.20,
            MemoryType.DECISION: 0.20,
            MemoryType.DEAD_END: 0.15,
            MemoryType.TASK_CALIBRATION: 0.10,
        },
        other=0.05,
    ),
    Phase.IMPLEMENT: Budget(
        tokens=3000,
        shares={
            MemoryType.GOTCHA: 0.30,
            MemoryType.ERROR_PATTERN: 0.25,
            MemoryType.CAUSAL_DEPENDENCY: 0.15,
            MemoryType.PATTERN: 0.15,
            MemoryType.DEAD_END: 0.10,
        },
        other=0.05,
    ),
    Phase.VALIDATE: Budget(
        tokens=2500,
        shares={
            MemoryType.ERROR_PATTERN: 0.30,
            MemoryType.REQUIREMENT: 0.25,
            MemoryType.E2E_OBSERVATION: 0.25,
            MemoryType.WORK_UNIT_OUTCOME: 0.15,
        },
        other=0.05,
    ),
    Phase.REFINE: Budget(
        tokens=2000,
        shares={
            MemoryType.ERROR_PATTERN: 0.35,
            MemoryType.GOTCHA: 0.25,
            MemoryType.DEAD_END: 0.20,
            MemoryType.PATTERN: 0.15,
        },
        other=0.05,
    ),
    Phase.EXPLORE: Budget(
        tokens=2000,
        shares={
            MemoryType.MODULE_INSIGHT: 0.40,
            MemoryType.DECISION: 0.25,
            MemoryType.PATTERN: 0.20,
            MemoryType.CAUSAL_DEPENDENCY: 0.15,
        },
        other=0.0,
    ),
    Phase.REFLECT: Budget(
        tokens=1500,
        shares={
            MemoryType.WORK_UNIT_OUTCOME: 0.40,
            MemoryType.TASK_CALIBRATION: 0.35,
            MemoryType.DEAD_END: 0.15,
        },
        other=0.10,
    ),
}

GENERAL = Budget(tokens=2000, shares={}, other=1.0)  # of work in no phase, ours

METHODOLOGIES: Mapping[str, Mapping[str, Phase]] = {
    "native": {
        "planning": Phase.DEFINE,
        "spec": Phase.DEFINE,
        "coding": Phase.IMPLEMENT,
        "qa_review": Phase.VALIDATE,
        "qa_fix": Phase.REFINE,
        "debugging": Phase.REFINE,
        "insights": Phase.EXPLORE,
    },
    "tdd": {"red": Phase.DEFINE, "green": Phase.IMPLEMENT, "refactor": Phase.REFINE},  # ours
    "bmad": {  # ours
        "analysis": Phase.EXPLORE,
        "planning": Phase.DEFINE,
        "solutioning": Phase.DEFINE,
        "implementation": Phase.IMPLEMENT,
        "review": Phase.VALIDATE,
        "retrospective": Phase.REFLECT,
    },
}


def weights_of(*, phase: Phase | None, own: Own) -> Mapping[MemoryType, float]:
    """Return how much types count in a phase: the table's, but a project's own; others count 1."""
    return {} if phase is None else {**WEIGHTS[phase], **own.get(phase, {})}


def phase_of(
    *, methodology: str, name: str, own: Mapping[str, Mapping[str, Phase]] | None = None
) -> Phase | None:
    """Find the universal phase of a methodology's phase; None when no map knows it.

    A universal name is itself. `own` are the organization's methodologies, which come first.
    """
    mapped = {**METHODOLOGIES, **(own or {})}.get(methodology, {}).get(name)
    if mapped is not None:
        return mapped
    return Phase(name) if name in set(Phase) else None
