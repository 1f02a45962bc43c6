"""Which of the six phases a caller means: of a methodology of ours, or of the organization's own.

A methodology is data: a name and a map from its phases to ours. A name that nothing
knows is refused with the names that would do, because a phase silently ignored is a context packed
for other work than is being done.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from accounts.errors import InvalidInput, wrong_field
from accounts.messages import message
from memory.customization.phases import METHODOLOGIES, Phase
from memory.taxonomy import MemoryType
from memory.text.text import check_text

NATIVE: Final = "native"
MOST_PHASES: Final = 50  # of a methodology, ours
LONGEST_NAME: Final = 40  # characters of a methodology's or a phase's
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}\Z")

Methodology = Mapping[str, Phase]


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


NATIVE_TRANSITIONS: Final = (
    Transition(before="planner", after="coder"),
    Transition(before="coder", after="qa_reviewer"),
    Transition(
        before="qa_reviewer",
        after="qa_fixer",
        types=frozenset({MemoryType.ERROR_PATTERN, MemoryType.REQUIREMENT}),
    ),
)


def phase(
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
    if name in phases:
        return phases[name]
    if name in set(Phase):
        return Phase(name)
    raise _unknown("/phase", name, (*phases, *(item for item in Phase if item not in phases)))


def checked(*, name: str, phases: Mapping[str, Any]) -> Methodology:
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
    return {key: _checked_phase(key, value) for key, value in phases.items()}


def _checked_phase(key: str, value: Any) -> Phase:
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
    return Phase(value)


def _unknown(pointer: str, given: str, known: tuple[str, ...]) -> InvalidInput:
    what = pointer.removeprefix("/")
    return wrong_field(
        pointer=pointer,
        detail=message("There is no {what} {name!r}.", what=what, name=given[:60]),
        hint=message("Use one of: {names}.", names=tuple(sorted(known))),
        code=f"unknown_{what}",
    )
