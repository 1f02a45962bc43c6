"""The points at which memory is delivered, and the groups that are given any.

Silence is the default: one brief at the first prompt, and from then on only what belongs to a file
that was just touched. Steps as a point of their own, and searches answered in passing, are for
projects that ask for them.

Who takes part in an experiment, and on which side, follows from keyed hashes: a session is in the
control group, the passive one or the full one of its project; a memory may be withheld from some of
the sessions that would be given it. The key is the installation's, so nobody outside can foresee
or choose a side, and nothing has to be drawn. The caller stores the group of a session, because
shares may change.
"""

import hashlib
import hmac
from enum import StrEnum
from typing import Final, NamedTuple

from memory.taxonomy import MemoryType


class Point(StrEnum):
    """Where memory is delivered."""

    # The values are stored, and callers send them: they stay, also where the names are clearer.
    BRIEF = "system_prompt"  # what is known about the task, with the first prompt
    SESSION_START = "first_message"  # unfinished work and files to read first, before the brief
    TOOL_RESULT = "tool_result"  # what warns of a file that was just touched
    STEP = "step"  # what belongs to a step between prompts, where a project asks for it
    PLANNER = "planner"  # advice that is asked for before a plan


class Group(StrEnum):
    """The group of an experiment that a session belongs to."""

    CONTROL = "control"
    PASSIVE = "passive"
    FULL = "full"


class PointBounds(NamedTuple):
    """What a point may deliver: so many tokens, of these types; none named: any."""

    tokens: int
    types: frozenset[MemoryType] = frozenset()


WARNINGS: Final = frozenset({MemoryType.GOTCHA, MemoryType.ERROR_PATTERN, MemoryType.DEAD_END})
RECORDS: Final = frozenset({  # of work that was done: they warn of nothing
    MemoryType.PREFETCH_PATTERN, MemoryType.TASK_CALIBRATION, MemoryType.CONTEXT_COST,
    MemoryType.WORK_UNIT_OUTCOME, MemoryType.WORK_STATE, MemoryType.EVENT, MemoryType.EPISODE,
    MemoryType.REFLECTION,
})  # fmt: skip
OF_A_FILE: Final = frozenset(MemoryType) - RECORDS  # of a touched file: whatever names it
OF_A_PLAN: Final = frozenset({MemoryType.PREFETCH_PATTERN, MemoryType.WORK_STATE})
OF_A_START: Final = OF_A_PLAN | {MemoryType.REQUIREMENT, MemoryType.PREFERENCE}
POINTS: Final = {  # tokens are defaults, not measured
    Point.BRIEF: PointBounds(2_500),
    Point.SESSION_START: PointBounds(32_000, OF_A_START),
    Point.TOOL_RESULT: PointBounds(600, OF_A_FILE),
    Point.STEP: PointBounds(600),
    Point.PLANNER: PointBounds(2_500),
}
POINTS_OF_GROUP: Final = {
    Group.CONTROL: frozenset[Point](),
    Group.PASSIVE: frozenset({Point.BRIEF, Point.SESSION_START}),
    Group.FULL: frozenset(Point),
}
BASIS_POINTS: Final = 10_000  # places of a draw: shares are exact to a hundredth of a percent
PERCENT: Final = 100


def group(*, key: bytes, session: str, project: str, control: float, passive: float) -> Group:
    """Return the group of a session; `control` and `passive` are percents, the rest is in full."""
    percent = _percent(key, "group", session, project)
    if percent < control:
        return Group.CONTROL
    return Group.PASSIVE if percent < control + passive else Group.FULL


def is_withheld(*, key: bytes, memory: str, session: str, percent: float) -> bool:
    """Say whether a session belongs to the share from which a memory is withheld."""
    return _percent(key, "withheld", memory, session) < percent


def _percent(key: bytes, *parts: str) -> float:
    """Return the first eight bytes of HMAC-SHA-256 of the parts, modulo 10,000, as a percent."""
    digest = hmac.new(key, "\0".join(parts).encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big") % BASIS_POINTS * PERCENT / BASIS_POINTS
