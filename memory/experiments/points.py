"""The four points at which memory is given back, and who is given any.

Silence is the default: one brief at the first prompt, and from then on only what belongs to a file
that was just touched. Steps as a point of their own, and searches answered in passing, are for
projects that ask for them. Every switch off is final, whatever the others say.
"""

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
