"""Whether anything may be given back at a point, and how sure it must be: decided here alone.

Every way in which memory comes back to an agent by itself asks this first and keeps to it: what
somebody paused or switched off stays off, whatever else holds. What an agent searches for is not
asked here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.queries import trust_levels
from memory.experiments.actions import assignment
from memory.injection.steps import Trigger
from memory.sessions import points
from memory.sessions.models import Session
from memory.sessions.points import Group, Point, Switches
from teams.models import Project
from teams.queries import Hook, hooks_in, is_paused
from teams.trust import level_row

HOOKS: Final[Mapping[Point, Hook]] = {
    Point.SYSTEM_PROMPT: Hook.BRIEF,
    Point.FIRST_MESSAGE: Hook.PREFETCH,
    Point.TOOL_RESULT: Hook.WARNINGS,
    Point.STEP: Hook.STEP,
    Point.PLANNER: Hook.PLANNER,
}
TRIGGERS: Final[Mapping[Trigger, Hook]] = {
    Trigger.FILE_TOUCHED: Hook.WARNINGS,
    Trigger.RECORDED: Hook.STEP_RECORDED,
    Trigger.SEARCHED: Hook.STEP_SEARCHED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something would be given: a project, or none; its session, where there is one."""

    project: Project | None
    row: Session | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What holds at a point: switches, group of the session, least effective confidence."""

    point: Point
    switches: Switches
    group: Group
    confidence: float
    triggers: frozenset[Trigger]

    @property
    def is_open(self) -> bool:
        """Say whether anything may be given at all."""
        return points.is_open(point=self.point, switches=self.switches, group=self.group)


def of_session(*, caller: Caller, row: Session, point: Point) -> Allowance:
    """Return what holds for a session at a point, read once in a unit. In a unit."""
    memo = tenancy.memo()
    key = (Allowance, caller.user_id, caller.token_id, caller.role, row.pk, point)
    if key not in memo:
        place = Place(project=row.project, row=row)
        memo[key] = allowance(caller=caller, place=place, point=point)
    found: Allowance = memo[key]
    return found


def allowance(*, caller: Caller, place: Place, point: Point) -> Allowance:
    """Return what holds for a caller at a point. In a unit."""
    on = hooks_in(project=place.project)
    project_id = None if place.project is None else place.project.id
    level = trust_levels.level_of(caller=caller, project_id=project_id)
    switches = Switches(
        off=frozenset(one for one, hook in HOOKS.items() if not on[hook]),
        paused=is_paused(project=place.project, token_id=caller.token_id, user_id=caller.user_id),
        experiments=False,
    )
    group = _group(place, point, switches)
    return Allowance(
        point=point,
        switches=replace(switches, experiments=group is not None),
        group=group or Group.FULL,
        confidence=level_row(level=level).injects_from_confidence,
        triggers=frozenset(one for one, hook in TRIGGERS.items() if on[hook]),
    )


def _group(place: Place, point: Point, switches: Switches) -> Group | None:
    """Return the session's group; it is settled where something could be given. In a unit."""
    is_open = points.is_open(point=point, switches=switches, group=Group.FULL)
    return assignment.compared(row=place.row) if is_open and place.row is not None else None
