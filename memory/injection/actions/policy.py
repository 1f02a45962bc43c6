"""Whether anything may be delivered at a point, and how sure it must be: decided here alone.

Every delivery that nobody asked for checks this first: what somebody paused or switched off stays
off, whatever else holds. Searches of agents are not checked here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.queries import trust_level_of
from memory.experiments.actions import measurement
from memory.experiments.points import POINTS_OF_GROUP, Group, Point
from memory.injection.rules import Trigger
from memory.search.request import NEVER, Deadline
from memory.sessions.models import Session
from teams.models import Project
from teams.queries import Hook, hooks_in, is_paused
from teams.trust import level_row

POINT_HOOKS: Final[Mapping[Point, Hook]] = {
    Point.BRIEF: Hook.BRIEF,
    Point.SESSION_START: Hook.PREFETCH,
    Point.TOOL_RESULT: Hook.WARNINGS,
    Point.STEP: Hook.STEP,
    Point.PLANNER: Hook.PLANNER,
}
TRIGGER_HOOKS: Final[Mapping[Trigger, Hook]] = {
    Trigger.FILE_TOUCHED: Hook.WARNINGS,
    Trigger.RECORDED: Hook.STEP_RECORDED,
    Trigger.SEARCHED: Hook.STEP_SEARCHED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """An agent of a locked session, who calls for it, and when.

    `agent` is empty for the first one, whose session it is. Each has a context of its own, so what
    one was given is news to another. `is_continued`: the text stands behind another one in the same
    answer. Nothing is given after the deadline.
    """

    caller: Caller
    session: Session
    now: datetime
    agent: str = ""
    deadline: Deadline = NEVER
    is_continued: bool = False

    @property
    def compacted_at(self) -> datetime | None:
        """When its context was last compacted, None where it never was."""
        return None if self.agent else self.session.compacted_at


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionPolicy:
    """What holds at a point: whether anything may be delivered, least effective confidence."""

    is_open: bool
    confidence: float
    triggers: frozenset[Trigger]


def policy_of_recipient(*, recipient: Recipient, point: Point) -> InjectionPolicy:
    """Return what holds for a session at a point, read once in a unit. In a unit."""
    caller, session = recipient.caller, recipient.session
    memo = tenancy.memo()
    key = (InjectionPolicy, caller.user_id, caller.token_id, caller.role, session.pk, point)
    if key not in memo:
        memo[key] = policy_of(caller=caller, project=session.project, session=session, point=point)
    found: InjectionPolicy = memo[key]
    return found


def is_open(*, recipient: Recipient, point: Point) -> bool:
    """Say whether anything may be delivered to a session at a point. In a unit."""
    return policy_of_recipient(recipient=recipient, point=point).is_open


def policy_of(
    *, caller: Caller, project: Project | None, session: Session | None = None, point: Point
) -> InjectionPolicy:
    """Return what holds for a caller in a project, and in a session of it. In a unit.

    The group of the session is assigned where something could be delivered.
    """
    on = hooks_in(project=project)
    level = trust_level_of(caller=caller, project_id=None if project is None else project.id)
    is_held = is_paused(project=project, token_id=caller.token_id, user_id=caller.user_id)
    could = on[POINT_HOOKS[point]] and not is_held
    group = measurement.group_in_effect(session=session) if could and session is not None else None
    return InjectionPolicy(
        is_open=could and point in POINTS_OF_GROUP[group or Group.FULL],
        confidence=level_row(level=level).injects_from_confidence,
        triggers=frozenset(one for one, hook in TRIGGER_HOOKS.items() if on[hook]),
    )
