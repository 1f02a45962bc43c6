"""Phases of work, the methodologies that name them, and a project's own weights.

Six universal phases, each with a table: which types count more, and how a context's tokens are
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
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from accounts.errors import InvalidInput, wrong_field
from accounts.messages import message
from memory.taxonomy import MemoryType
from memory.text.text import check_text, read_tables


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
    """A project's own weights, when a person decided last, and those before that."""

    weights: Mapping[Phase, Mapping[MemoryType, Weight]] = field(default_factory=dict)
    decided_at: AwareDatetime | None = None
    counts_since: AwareDatetime | None = None  # sessions count from then on
    before: Mapping[str, Any] | None = None  # None: nothing to take back


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
_TYPES: Final = frozenset(one.value for one in MemoryType)
_PHASES: Final = frozenset(one.value for one in Phase)


class PhaseTable(NamedTuple):
    """What a phase of work makes of types of memories; a weight that is missing is 1."""

    budget: Budget
    weights: Mapping[MemoryType, Weight]


_FILES: Final = Path(__file__).with_name("tables")
TABLES: Final = TypeAdapter(dict[Phase, PhaseTable]).validate_python(
    read_tables(file=_FILES / "phases.toml")
)
GENERAL = Budget(tokens=2000, shares={}, other=1.0)  # of work in no phase, ours

METHODOLOGIES: Final[Mapping[str, Methodology]] = TypeAdapter(
    dict[str, dict[str, Phase]]
).validate_python(read_tables(file=_FILES / "methodologies.toml"))


def weights_of(*, phase: Phase | None, own: Own) -> Mapping[MemoryType, float]:
    """Return how much types count in a phase: the table's, but a project's own; others count 1."""
    return {} if phase is None else {**TABLES[phase].weights, **own.get(phase, {})}


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
    stored = settings.get(KEPT)
    if not isinstance(stored, dict):
        return Decided()
    try:
        found = DECIDED.validate_python(
            {**stored, "weights": _known_weights(stored.get("weights"))}
        )
    except ValidationError:
        return Decided()
    return replace(found, counts_since=found.counts_since or found.decided_at)


def _known_weights(weights: Any) -> dict[str, dict[str, Any]]:
    """Return the weights in range of phases and types that there are; others may have been once."""
    return {
        phase: {
            type: weight
            for type, weight in own.items()
            if type in _TYPES and isinstance(weight, int | float) and LOWEST <= weight <= HIGHEST
        }
        for phase, own in (weights.items() if isinstance(weights, dict) else ())
        if phase in _PHASES and isinstance(own, dict)
    }


def with_decision(*, settings: Mapping[str, Any], weights: Own, now: datetime) -> dict[str, Any]:
    """Return the settings after a decision, which remembers what was kept before it."""
    before = {name: kept for name, kept in (settings.get(KEPT) or {}).items() if name != "before"}
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
