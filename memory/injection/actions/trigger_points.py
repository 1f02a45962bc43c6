"""Deliver at the point that a caller names, for the session that it works in.

What may be delivered, and how much of it, is each point's own; most often nothing is. Between two
steps the first trigger with an answer is all that is delivered: files just touched; an entry that
the agent just recorded; searches that a memory already answers. The last two are for projects that
switch them on, look by words alone, and never return an agent its own entry.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.points import Point
from memory.injection import selection
from memory.injection.actions import brief, deliver, planner_context, policy, session_start
from memory.injection.actions.brief import BriefRequest
from memory.injection.actions.deliver import SILENCE, CandidateSet, Delivery
from memory.injection.actions.delivery_log import Recipient
from memory.injection.actions.planner_context import PlanAdvice, PlannedTask
from memory.injection.actions.session_start import UnfinishedWork
from memory.injection.selection import FIRST_STEP, ON_REQUEST, Trigger
from memory.injection.session_start_rules import FilePlan
from memory.records.queries.views import MemoryView
from memory.search import lookups
from memory.search.request import SearchRequest
from memory.sessions import events as event_storage
from memory.sessions import file_paths, fold, tools
from memory.sessions.actions import scratchpads
from memory.sessions.events import Event
from memory.sessions.models import Session, Turn
from memory.sessions.queries.sessions import hold_own
from memory.sessions.tools import Act
from teams.permissions import Act as Right
from teams.permissions import require

STEP_EVENTS: Final = 4  # that are just behind a step: two calls with their results; default
LAST_EVENTS: Final = 24  # among which the last three searches are looked for; default
LONGEST_QUESTION: Final = 400  # characters of an entry that is looked up; default
EVENTS_OF_A_STEP: Final = 2  # a call and its result
_NO_WORDS: Final = re.compile(r"\\.|[^\w./-]+")  # of a regular expression or a glob


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
    unfinished: UnfinishedWork | None = None
    advice: PlanAdvice | None = None


def deliver_at_point(*, caller: Caller, request: PointRequest, now: datetime) -> PointDelivery:
    """Return what a point gives.

    Raises NotFound, InvalidInput, and Forbidden for a session that somebody else opened.
    """
    require(caller=caller, act=Right.READ)
    return _POINTS[request.point](caller, request, now)


def deliver_at_step(
    *, caller: Caller, session_id: UUID, step: int, files: tuple[str, ...] = (), now: datetime
) -> Delivery:
    """Return what the first trigger with an answer gives, from the fifth step on, never twice.

    `files` are those just touched, if the caller names them. All of it is one unit, because fifty
    milliseconds are short: words ask no model. Raises NotFound, and Forbidden for a session that
    somebody else opened.
    """
    require(caller=caller, act=Right.READ)
    with tenancy.unit():
        session = hold_own(caller=caller, session_id=session_id)
        allowed = policy.policy_of_session(caller=caller, session=session, point=Point.STEP)
        if step < FIRST_STEP or not allowed.is_open:
            return SILENCE
        events = _last_events(session)
        recipient = Recipient(session=session)
        if Trigger.FILE_TOUCHED in allowed.triggers:
            named = scratchpads.named(row=session, paths=files)
            touched = named or _touched_files(session, events[-STEP_EVENTS:])
            delivery = deliver_warnings(
                caller=caller, recipient=recipient, point=Point.STEP, files=touched, now=now
            )
            if delivery.memories:
                return delivery
        return _answer_lookups(caller, recipient, events, allowed.triggers, now)


def deliver_warnings(
    *, caller: Caller, recipient: Recipient, point: Point, files: tuple[str, ...], now: datetime
) -> Delivery:
    """Deliver what warns of some files. In a unit."""
    if not files:
        return SILENCE
    session = recipient.session
    found = deliver.of_files(caller=caller, session=session, files=files, now=now)
    return deliver.deliver(
        caller=caller, recipient=recipient, point=point, candidates=found, now=now
    )


def answer_searches(*, caller: Caller, recipient: Recipient, now: datetime) -> Delivery:
    """Deliver what answers the last events of a locked session, where its project asks for it.

    Of files nothing: their touch is warned of by itself. In a unit.
    """
    session = recipient.session
    step = (session.events + 1) // EVENTS_OF_A_STEP
    known = policy.policy_of_session(caller=caller, session=session, point=Point.TOOL_RESULT)
    if step < FIRST_STEP or not known.triggers & ON_REQUEST:
        return SILENCE
    allowed = policy.policy_of_session(caller=caller, session=session, point=Point.STEP)
    if not allowed.is_open:
        return SILENCE
    events = _last_events(session)
    return _answer_lookups(caller, recipient, events, allowed.triggers, now)


def _answer_lookups(
    caller: Caller,
    recipient: Recipient,
    events: tuple[Event, ...],
    triggers: frozenset[Trigger],
    now: datetime,
) -> Delivery:
    """Deliver what answers the first question that has an answer, by words alone. In a unit."""
    session = recipient.session
    for question in _questions(session, events, triggers & ON_REQUEST):
        views, relevance = lookups.answer_by_words(
            caller=caller, project=session.project_id, question=question, now=now
        )
        others = {one: view for one, view in views.items() if not _is_own(session, view)}
        delivery = deliver.deliver(
            caller=caller,
            recipient=recipient,
            point=Point.STEP,
            candidates=CandidateSet(views=others, relevance=relevance, files={}),
            now=now,
        )
        if delivery.memories or delivery.is_late:
            return delivery
    return SILENCE


def _last_events(session: Session) -> tuple[Event, ...]:
    """Return the last events of a session, in their order."""
    newest = Turn.done.filter(session=session).order_by("-sequence")[:LAST_EVENTS]
    made = [event_storage.from_row(sequence=turn.sequence, row=turn.body or {}) for turn in newest]
    return tuple(reversed(made))


def _touched_files(session: Session, events: tuple[Event, ...]) -> tuple[str, ...]:
    """Return the files of the repository that some events touched, the last first."""
    setting = scratchpads.setting_of(row=session)
    read = (
        tools.read(
            event=event,
            root=setting.root,
            own_servers=setting.own_servers,
            folder=setting.folder,
        )
        for event in reversed(events)
    )
    paths = (one.target for one in read if one.act in {Act.READ, Act.EDIT} and one.target)
    return tuple(dict.fromkeys(path for path in paths if not file_paths.is_outside(path=path)))


def _questions(
    session: Session, events: tuple[Event, ...], triggers: frozenset[Trigger]
) -> Iterator[str]:
    """Yield what to look up, in the order of triggers: one question each, or none has time."""
    if not triggers or not events:
        return
    lookups = selection.triggered_lookups(
        scratchpad=fold.rebuild(setting=scratchpads.setting_of(row=session), events=events),
        through=events[-STEP_EVENTS:][0].sequence - 1,
        triggers=triggers,
    )
    for one in lookups:
        words = " ".join(_NO_WORDS.sub(" ", " ".join(one.patterns)).split())
        text = one.recorded[-1].text if one.recorded else words
        if text.strip():
            yield text[:LONGEST_QUESTION].strip()


def _is_own(session: Session, view: MemoryView) -> bool:
    """Say whether the agent of a session has stored a memory itself since the session began."""
    is_same = view.author_user == session.opened_by and view.author_agent in {"", session.agent}
    return is_same and view.created_at >= session.opened_at


def _system_prompt(caller: Caller, request: PointRequest, now: datetime) -> PointDelivery:
    with tenancy.unit():
        session = hold_own(caller=caller, session_id=request.session_id)
        files = scratchpads.named(row=session, paths=request.files)
        is_open = policy.is_open(caller=caller, session=session, point=request.point)
        if not brief.is_due(session=session) or not is_open:
            return PointDelivery()
        modules = session_start.modules_of(named=request.modules, files=files)
        included = brief.always_included(caller=caller, session=session, modules=modules, now=now)
    delivery = brief.brief(
        caller=caller,
        recipient=Recipient(session=session),
        request=BriefRequest(task=request.task, working=files, included=included),
        now=now,
    )
    return PointDelivery(delivery=delivery)


def _first_message(caller: Caller, request: PointRequest, now: datetime) -> PointDelivery:
    with tenancy.unit():
        session = hold_own(caller=caller, session_id=request.session_id)
        is_open = policy.is_open(caller=caller, session=session, point=request.point)
        if session_start.had_start(session=session) or not is_open:
            return PointDelivery()
        files = scratchpads.named(row=session, paths=request.files)
        unfinished = session_start.unfinished_work(caller=caller, session=session, is_new=False)
        delivery, plan = session_start.deliver_start(
            caller=caller,
            recipient=Recipient(session=session),
            modules=session_start.modules_of(named=request.modules, files=files),
            unfinished=unfinished,
            now=now,
        )
    return PointDelivery(delivery=delivery, prefetch=plan, unfinished=unfinished)


def _tool_result(caller: Caller, request: PointRequest, now: datetime) -> PointDelivery:
    with tenancy.unit():
        session = hold_own(caller=caller, session_id=request.session_id)
        files = scratchpads.named(row=session, paths=request.files)
        if not policy.is_open(caller=caller, session=session, point=request.point):
            return PointDelivery()
        delivery = deliver_warnings(
            caller=caller,
            recipient=Recipient(session=session),
            point=request.point,
            files=files,
            now=now,
        )
    return PointDelivery(delivery=delivery)


def _step(caller: Caller, request: PointRequest, now: datetime) -> PointDelivery:
    delivery = deliver_at_step(
        caller=caller,
        session_id=request.session_id,
        step=request.step,
        files=request.files,
        now=now,
    )
    return PointDelivery(delivery=delivery)


def _planner(caller: Caller, request: PointRequest, now: datetime) -> PointDelivery:
    with tenancy.unit():
        session = hold_own(caller=caller, session_id=request.session_id)
        files = scratchpads.named(row=session, paths=request.files)
    planned = PlannedTask(
        task=request.task,
        modules=session_start.modules_of(named=request.modules, files=files),
        files=files,
        estimate=request.estimate,
    )
    delivery, advice = planner_context.advise_planner(
        caller=caller, session_id=request.session_id, planned=planned, now=now
    )
    return PointDelivery(delivery=delivery, advice=advice)


_POINTS: Final[Mapping[Point, Callable[[Caller, PointRequest, datetime], PointDelivery]]] = {
    Point.SYSTEM_PROMPT: _system_prompt,
    Point.FIRST_MESSAGE: _first_message,
    Point.TOOL_RESULT: _tool_result,
    Point.STEP: _step,
    Point.PLANNER: _planner,
}
