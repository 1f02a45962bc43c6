"""The four points at which memory is given back, and who is given any.

Silence is the default: one brief at the first prompt, and from then on only what belongs to a file
that was just touched. Steps as a point of their own, and searches answered in passing, are for
projects that ask for them. Every switch off is final, whatever the others say.
"""

import hashlib
import hmac
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.taxonomy import MemoryType


class Point(StrEnum):
    """Where memory is given back."""

    SYSTEM_PROMPT = "system_prompt"
    FIRST_MESSAGE = "first_message"
    TOOL_RESULT = "tool_result"
    STEP = "step"
    PLANNER = "planner"


class Group(StrEnum):
    """The group of an experiment that a session belongs to."""

    CONTROL = "control"
    PASSIVE = "passive"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class PointRow:
    """One point: its deadline, its tokens, and the types it gives; none named: any."""

    point: Point
    number: int
    milliseconds: int
    tokens: int
    types: frozenset[MemoryType]


WARNINGS: Final = frozenset({MemoryType.GOTCHA, MemoryType.ERROR_PATTERN, MemoryType.DEAD_END})
OF_A_FILE: Final = WARNINGS | {MemoryType.CAUSAL_DEPENDENCY}  # given when it is touched
POINTS: Final = {  # tokens are defaults, not measured
    row.point: row
    for row in (
        PointRow(
            point=Point.SYSTEM_PROMPT, number=1, milliseconds=500, tokens=2_500, types=frozenset()
        ),
        PointRow(
            point=Point.FIRST_MESSAGE,
            number=2,
            milliseconds=2_000,
            tokens=32_000,
            types=frozenset({MemoryType.PREFETCH_PATTERN, MemoryType.WORK_STATE}),
        ),
        PointRow(point=Point.TOOL_RESULT, number=3, milliseconds=100, tokens=600, types=OF_A_FILE),
        PointRow(point=Point.STEP, number=4, milliseconds=50, tokens=600, types=frozenset()),
        PointRow(  # asked for before a plan
            point=Point.PLANNER, number=0, milliseconds=2_000, tokens=2_500, types=frozenset()
        ),
    )
}
_BY_GROUP: Final = {
    Group.CONTROL: frozenset[Point](),
    Group.PASSIVE: frozenset({Point.SYSTEM_PROMPT, Point.FIRST_MESSAGE}),
    Group.FULL: frozenset(Point),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """What a project has switched: all of it, single points; a paused session gets nothing."""

    enabled: bool = True
    off: frozenset[Point] = frozenset()
    paused: bool = False
    experiments: bool = True


def is_open(*, point: Point, switches: Switches, group: Group) -> bool:
    """Say whether anything may be given at a point; without experiments everybody is in full."""
    if not switches.enabled or switches.paused or point in switches.off:
        return False
    return not switches.experiments or point in _BY_GROUP[group]


# Who takes part in an experiment and on which side: keyed hashes, the same for ever.
#
# A session is in the control group, the passive one or the full one of its project; a memory may
# be withheld from some of the sessions that would be given it. Both follow from a hash under a
# key of the installation, so nobody outside can foresee or choose a side, and nothing has to be
# drawn. What was once decided of a session is stored by the caller, because shares may change.

BASIS_POINTS: Final = 10_000  # places of a draw: shares are exact to a hundredth of a percent
PERCENT: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How many of 100 sessions are in the two smaller groups; the others are in full."""

    control: float = 5.0
    passive: float = 10.0


USUAL: Final = Shares()


def group(*, key: bytes, session: str, project: str, shares: Shares = USUAL) -> Group:
    """Return the group of a session: control, passive, full as 5 : 10 : 85 of many."""
    place = _place(key, "group", session, project)
    if place < shares.control * BASIS_POINTS / PERCENT:
        return Group.CONTROL
    is_passive = place < (shares.control + shares.passive) * BASIS_POINTS / PERCENT
    return Group.PASSIVE if is_passive else Group.FULL


def is_withheld(*, key: bytes, memory: str, session: str, percent: float) -> bool:
    """Say whether a session belongs to the share from which a memory is withheld."""
    return _place(key, "withheld", memory, session) < percent * BASIS_POINTS / PERCENT


def _place(key: bytes, *parts: str) -> int:
    """Return the first eight bytes of HMAC-SHA-256 of the parts, modulo 10,000."""
    digest = hmac.new(key, "\0".join(parts).encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big") % BASIS_POINTS
