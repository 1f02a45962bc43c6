"""Phases of work, the methodologies that name them, and a project's own weights.

Six universal phases as literal tables: which types count more, and how a context's tokens are
shared. A methodology is data: a name and a map from its phases to the six, shipped or of an
organization. A name that a caller sends and nothing knows is refused with the names that would do.

A project's own weights are learned of its sessions and approved by a person. They stand in its
settings, where a search reads its threshold too, so they cost it no statement. A decision keeps the
one before it, so that it can be taken back, once. Sessions count for a proposal from the last
decision on, or from when one was taken back.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from accounts.errors import InvalidInput, wrong_field
from accounts.messages import message
from memory.taxonomy import MemoryType
from memory.text.text import check_text


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


class OnComplete(StrEnum):
    """What a methodology can do when a unit of work ends."""

    RECORD_OUTCOME = "record_outcome"
    CALIBRATE = "calibrate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """From one stage to the next; only `types`, shipped or custom, pass on, all where empty."""

    before: str
    after: str
    types: frozenset[str] = frozenset()


LOWEST: Final = 0.8  # the range of the table
HIGHEST: Final = 1.4  # likewise
Weight = Annotated[float, Field(strict=True, ge=LOWEST, le=HIGHEST)]
Own = Mapping[Phase, Mapping[MemoryType, float]]
Methodology = Mapping[str, Phase]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A project's own weights, when a person decided last, and what was kept before that.

    `before` is None where nothing can be taken back; sessions count from `counts_since` on.
    """

    weights: Mapping[Phase, Mapping[MemoryType, Weight]] = field(default_factory=dict)
    decided_at: AwareDatetime | None = None
    counts_since: AwareDatetime | None = None
    before: Mapping[str, Any] | None = None


DECIDED: Final = TypeAdapter(Decided)  # as a project's settings keep it
NATIVE: Final = "native"
MOST_PHASES: Final = 50  # of a methodology; default, not measured
LONGEST_NAME: Final = 40  # characters of a methodology's or a phase's
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}\Z")
NATIVE_TRANSITIONS: Final = (
    Transition(before="planner", after="coder"),
    Transition(before="coder", after="qa_reviewer"),
    Transition(
        before="qa_reviewer",
        after="qa_fixer",
        types=frozenset({MemoryType.ERROR_PATTERN, MemoryType.REQUIREMENT}),
    ),
)
KEPT: Final = "phase_weights"  # settings of a project

# fmt: off
WEIGHTS: Mapping[Phase, Mapping[MemoryType, float]] = {  # missing = 1.0
    Phase.DEFINE: {
        MemoryType.WORKFLOW_RECIPE: 1.4, MemoryType.DEAD_END: 1.2, MemoryType.REQUIREMENT: 1.2,
        MemoryType.DECISION: 1.1, MemoryType.TASK_CALIBRATION: 1.1, MemoryType.GOTCHA: 0.8,
        MemoryType.ERROR_PATTERN: 0.8,
    },
    Phase.IMPLEMENT: {
        MemoryType.GOTCHA: 1.4, MemoryType.ERROR_PATTERN: 1.3, MemoryType.CAUSAL_DEPENDENCY: 1.2,
        MemoryType.DEAD_END: 1.2, MemoryType.PATTERN: 1.1, MemoryType.PREFETCH_PATTERN: 1.1,
    },
    Phase.VALIDATE: {
        MemoryType.ERROR_PATTERN: 1.4, MemoryType.E2E_OBSERVATION: 1.4, MemoryType.REQUIREMENT: 1.2,
        MemoryType.WORK_UNIT_OUTCOME: 1.1,
    },
    Phase.REFINE: {
        MemoryType.ERROR_PATTERN: 1.3, MemoryType.GOTCHA: 1.2, MemoryType.DEAD_END: 1.2,
        MemoryType.PATTERN: 1.0,
    },
    Phase.EXPLORE: {
        MemoryType.MODULE_INSIGHT: 1.4, MemoryType.DECISION: 1.2, MemoryType.PATTERN: 1.1,
        MemoryType.CAUSAL_DEPENDENCY: 1.0,
    },
    Phase.REFLECT: {
        MemoryType.WORK_UNIT_OUTCOME: 1.4, MemoryType.TASK_CALIBRATION: 1.3,
        MemoryType.DEAD_END: 1.1,
    },
}

BUDGETS: Mapping[Phase, Budget] = {
    Phase.DEFINE: Budget(
        tokens=2500,
        shares={
            MemoryType.WORKFLOW_RECIPE: 0.30, MemoryType.REQUIREMENT: 0.20,
            MemoryType.DECISION: 0.20, MemoryType.DEAD_END: 0.15, MemoryType.TASK_CALIBRATION: 0.10,
        },
        other=0.05,
    ),
    Phase.IMPLEMENT: Budget(
        tokens=3000,
        shares={
            MemoryType.GOTCHA: 0.30, MemoryType.ERROR_PATTERN: 0.25,
            MemoryType.CAUSAL_DEPENDENCY: 0.15, MemoryType.PATTERN: 0.15, MemoryType.DEAD_END: 0.10,
        },
        other=0.05,
    ),
    Phase.VALIDATE: Budget(
        tokens=2500,
        shares={
            MemoryType.ERROR_PATTERN: 0.30, MemoryType.REQUIREMENT: 0.25,
            MemoryType.E2E_OBSERVATION: 0.25, MemoryType.WORK_UNIT_OUTCOME: 0.15,
        },
        other=0.05,
    ),
    Phase.REFINE: Budget(
        tokens=2000,
        shares={
            MemoryType.ERROR_PATTERN: 0.35, MemoryType.GOTCHA: 0.25, MemoryType.DEAD_END: 0.20,
            MemoryType.PATTERN: 0.15,
        },
        other=0.05,
    ),
    Phase.EXPLORE: Budget(
        tokens=2000,
        shares={
            MemoryType.MODULE_INSIGHT: 0.40, MemoryType.DECISION: 0.25, MemoryType.PATTERN: 0.20,
            MemoryType.CAUSAL_DEPENDENCY: 0.15,
        },
        other=0.0,
    ),
    Phase.REFLECT: Budget(
        tokens=1500,
        shares={
            MemoryType.WORK_UNIT_OUTCOME: 0.40, MemoryType.TASK_CALIBRATION: 0.35,
            MemoryType.DEAD_END: 0.15,
        },
        other=0.10,
    ),
}
# fmt: on

GENERAL = Budget(tokens=2000, shares={}, other=1.0)  # of work in no phase, ours

METHODOLOGIES: Mapping[str, Methodology] = {
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
    *, methodology: str, name: str, own: Mapping[str, Methodology] | None = None
) -> Phase | None:
    """Find the universal phase of a methodology's phase; None when no map knows it.

    A universal name is itself. `own` are the organization's methodologies, which come first.
    """
    mapped = {**METHODOLOGIES, **(own or {})}.get(methodology, {}).get(name)
    if mapped is not None:
        return mapped
    return Phase(name) if name in set(Phase) else None


def named_phase(
    *, methodology: str | None, name: str | None, own: Mapping[str, Methodology]
) -> Phase | None:
    """Return the phase that a methodology calls by this name; None when no phase is named.

    One of our six names is itself in every methodology. `own` are the organization's, which come
    before ours of the same name. Raises InvalidInput for a name that nothing knows.
    """
    known = {**METHODOLOGIES, **own}
    if methodology is not None and methodology not in known:
        raise _unknown("/methodology", methodology, tuple(known))
    if name is None:
        return None
    phases = known[methodology or NATIVE]
    if found := phase_of(methodology=methodology or NATIVE, name=name, own=own):
        return found
    raise _unknown("/phase", name, (*phases, *(item for item in Phase if item not in phases)))


def checked_methodology(*, name: str, phases: Mapping[str, Any]) -> Methodology:
    """Return the map of a methodology that somebody defines. Raises InvalidInput."""
    if not NAME.match(name):
        raise wrong_field(
            pointer="/name",
            detail=message("{name!r} cannot be the name of a methodology.", name=name[:60]),
            hint="Use 1 to 40 small letters, digits, hyphens and underscores.",
            code="name",
        )
    if not 1 <= len(phases) <= MOST_PHASES:
        raise wrong_field(
            pointer="/phases",
            detail=message("A methodology has 1 to {most} phases.", most=MOST_PHASES),
            hint="Name each of its phases with the one of the six that it is.",
            code="length",
        )
    for key, value in phases.items():
        if not key.strip() or len(key) > LONGEST_NAME or check_text(text=key):
            raise wrong_field(
                pointer="/phases",
                detail=message("{name!r} cannot be the name of a phase.", name=key[:60]),
                hint=message("Use 1 to {most} characters.", most=LONGEST_NAME),
                code="name",
            )
        if not isinstance(value, str) or value not in set(Phase):
            raise wrong_field(
                pointer=f"/phases/{key}",
                detail=message("{name!r} is none of the six phases.", name=str(value)[:60]),
                hint=message("Use one of: {names}.", names=tuple(Phase)),
                code="unknown_phase",
            )
    return {key: Phase(value) for key, value in phases.items()}


def _unknown(pointer: str, given: str, known: tuple[str, ...]) -> InvalidInput:
    what = pointer.removeprefix("/")
    return wrong_field(
        pointer=pointer,
        detail=message("There is no {what} {name!r}.", what=what, name=given[:60]),
        hint=message("Use one of: {names}.", names=tuple(sorted(known))),
        code=f"unknown_{what}",
    )


def read_weights(*, settings: Mapping[str, Any]) -> Decided:
    """Return what a project's settings say; what cannot be read counts as if it were not there."""
    try:
        found = DECIDED.validate_python(settings.get(KEPT) or {})
    except ValidationError:
        return Decided()
    return replace(found, counts_since=found.counts_since or found.decided_at)


def with_decision(*, settings: Mapping[str, Any], weights: Own, now: datetime) -> dict[str, Any]:
    """Return the settings after a decision, which remembers what was kept before it."""
    before = {name: kept for name, kept in settings.get(KEPT, {}).items() if name != "before"}
    decided = Decided(weights=weights, decided_at=now, before=before)
    kept = DECIDED.dump_python(decided, mode="json", exclude={"counts_since"})
    return {**settings, KEPT: kept}


def without_decision(*, settings: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the settings as they were before the last decision; sessions count from now on.

    Settings of which nothing can be taken back are returned as they are.
    """
    before = read_weights(settings=settings).before
    if before is None:
        return dict(settings)
    return {**settings, KEPT: {**before, "counts_since": now.isoformat()}}


def joined_weights(*, own: Own, changes: Own) -> Own:
    """Return a project's own weights with some of them changed."""
    phases = (*own, *(phase for phase in changes if phase not in own))
    return {phase: {**own.get(phase, {}), **changes.get(phase, {})} for phase in phases}
