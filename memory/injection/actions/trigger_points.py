"""Deliver at the point that a caller names, for the session that it works in.

What may be delivered, and how much of it, is each point's own; most often nothing is.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.points import Point
from memory.injection.actions import brief, deliver, planner_context, policy, session_start
from memory.injection.actions.between_steps import deliver_at_step
from memory.injection.actions.brief import BriefRequest
from memory.injection.actions.deliver import NO_CANDIDATES, SILENCE, Delivery
from memory.injection.actions.policy import Recipient
from memory.injection.memory_selection import FIRST_STEP
from memory.injection.planner import PlanAdvice
from memory.injection.session_start_rules import FilePlan, WorkState
from memory.search.request import SearchRequest
from memory.sessions.actions import scratchpads
from memory.sessions.queries import hold_own
from teams.permissions import Act, require


@dataclass(frozen=True, slots=True, kw_only=True)
class PointRequest:
    """What a caller says at a point: its task, the files and modules, the step it is at."""

    point: Point
    session_id: UUID
    task: SearchRequest
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    step: int = FIRST_STEP
    estimate: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PointDelivery:
    """What is delivered, and what a point gives beside memories."""

    delivery: Delivery = SILENCE
    prefetch: FilePlan | None = None
    unfinished: WorkState | None = None
    advice: PlanAdvice | None = None


def deliver_at_point(*, caller: Caller, request: PointRequest, now: datetime) -> PointDelivery:
    """Return what a point gives.

    Raises NotFound, InvalidInput, and Forbidden for a session that somebody else opened.
    """
    require(caller=caller, act=Act.READ)
    session_id, point = request.session_id, request.point
    if point is Point.STEP:
        delivery = deliver_at_step(
            caller=caller, session_id=session_id, step=request.step, files=request.files, now=now
        )
        return PointDelivery(delivery=delivery)
    with tenancy.unit():
        session = hold_own(caller=caller, session_id=session_id)
        recipient = Recipient(caller=caller, session=session, now=now)
        is_due = point is not Point.SYSTEM_PROMPT or brief.is_due(session=session)
        if not policy.is_open(recipient=recipient, point=point) or not is_due:
            return PointDelivery()
        files = scratchpads.named(row=session, paths=request.files)
        modules = session_start.modules_of(named=request.modules, files=files)
        if point is Point.TOOL_RESULT:
            delivery = deliver.deliver_warnings(recipient=recipient, point=point, files=files)
            return PointDelivery(delivery=delivery)
        if point is Point.FIRST_MESSAGE:
            return _deliver_start(recipient, modules)
        included = NO_CANDIDATES
        if point is Point.SYSTEM_PROMPT:
            included = brief.always_included(recipient=recipient, modules=modules)
    if point is Point.SYSTEM_PROMPT:
        asked = BriefRequest(task=request.task, working=files, included=included)
        return PointDelivery(delivery=brief.brief(recipient=recipient, request=asked))
    delivery, advice = planner_context.advise_planner(
        recipient=recipient,
        task=request.task,
        modules=modules,
        files=files,
        planned_steps=request.estimate,
    )
    return PointDelivery(delivery=delivery, advice=advice)


def _deliver_start(recipient: Recipient, modules: tuple[str, ...]) -> PointDelivery:
    """Deliver what the work of a locked session begins with, once. In a unit."""
    if session_start.had_start(session=recipient.session):
        return PointDelivery()
    unfinished = session_start.unfinished_work(
        caller=recipient.caller, session=recipient.session, is_new=False
    )
    delivery, plan = session_start.deliver_start(
        recipient=recipient, modules=modules, unfinished=unfinished
    )
    return PointDelivery(delivery=delivery, prefetch=plan, unfinished=unfinished)
