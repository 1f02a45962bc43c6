"""Deliver at the point that a caller names, for the session that it works in.

What may be delivered, and how much of it, is each point's own; most often nothing is.

Between two steps the first trigger with an answer is all that is delivered: files just touched, an
entry that the agent just recorded, and searches that a memory already answers. The last two are for
projects that switch them on, look by words alone, and never return an agent its own entry.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.points import Point
from memory.injection import harnesses, rules
from memory.injection.actions import brief, deliver, planner_context, policy, session_start
from memory.records.queries.views import MemoryView
from memory.search import lookups
from memory.search.request import SearchRequest
from memory.secrets import scanner
from memory.sessions import events as event_storage
from memory.sessions import file_paths, reducers, tools
from memory.sessions.actions import scratchpads
from memory.sessions.models import Session, Turn
from memory.sessions.queries import hold_own
from teams.permissions import Act, require

STEP_EVENTS: Final = 4  # that are just behind a step: two calls with their results; default
FAILED_MOST: Final = 2  # calls of one event that are looked up; default
QUESTION_PART: Final = 400  # characters of a command, and of its error, that are looked up; default
LAST_EVENTS: Final = 24  # among which the last three searches are looked for; default
EVENTS_OF_A_STEP: Final = 2  # a call and its result
NO_TASK: Final = SearchRequest(query="")


@dataclass(frozen=True, slots=True, kw_only=True)
class PointRequest:
    """What a caller says at a point: its task, the files and modules, the step it is at."""

    point: Point
    session_id: UUID
    task: SearchRequest = NO_TASK
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    step: int = rules.FIRST_STEP
    estimate: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PointDelivery:
    """What is delivered, and what a point gives beside memories."""

    delivery: deliver.Delivery = deliver.SILENCE
    prefetch: rules.FilePlan | None = None
    unfinished: rules.WorkState | None = None
    advice: rules.PlanAdvice | None = None


def deliver_at_point(*, caller: Caller, request: PointRequest, now: datetime) -> PointDelivery:
    """Return what a point gives.

    Raises NotFound, InvalidInput, and Forbidden for a session that somebody else opened.
    """
    require(caller=caller, act=Act.READ)
    point = request.point
    with tenancy.unit():
        session = hold_own(caller=caller, session_id=request.session_id)
        recipient = policy.Recipient(caller=caller, session=session, now=now)
        is_due = point is not Point.BRIEF or brief.is_due(session=session)
        if not policy.is_open(recipient=recipient, point=point) or not is_due:
            return PointDelivery()
        files = scratchpads.named(row=session, paths=request.files)
        modules = session_start.modules_of(named=request.modules, files=files)
        if point is Point.STEP:
            return PointDelivery(delivery=_deliver_step(recipient, request.step, files))
        if point is Point.TOOL_RESULT:
            delivery = deliver.deliver_warnings(recipient=recipient, point=point, files=files)
            return PointDelivery(delivery=delivery)
        if point is Point.SESSION_START:
            return _deliver_start(recipient, modules)
        asked = brief.BriefRequest(task=request.task, working=files, modules=modules)
        if point is Point.BRIEF:
            included = brief.always_included(recipient=recipient, modules=modules)
            asked = replace(asked, included=included)
    if point is Point.BRIEF:
        return PointDelivery(delivery=brief.brief(recipient=recipient, asked=asked))
    delivery, advice = planner_context.advise_planner(
        recipient=recipient,
        task=request.task,
        modules=modules,
        files=files,
        planned_steps=request.estimate,
    )
    return PointDelivery(delivery=delivery, advice=advice)


def _deliver_start(recipient: policy.Recipient, modules: tuple[str, ...]) -> PointDelivery:
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


def _deliver_step(
    recipient: policy.Recipient, step: int, files: tuple[str, ...]
) -> deliver.Delivery:
    """Deliver what the first trigger with an answer gives, from the fifth step on. In a unit.

    `files` are those just touched, if the caller names them. All of it is one unit, because fifty
    milliseconds are short: words ask no model.
    """
    point, session = Point.STEP, recipient.session
    if step < rules.FIRST_STEP:
        return deliver.SILENCE
    events = _last_events(session)
    triggers = policy.policy_of_recipient(recipient=recipient, point=point).triggers
    if rules.Trigger.FILE_TOUCHED in triggers:
        touched = files or _touched_files(session, events[-STEP_EVENTS:])
        delivery = deliver.deliver_warnings(recipient=recipient, point=point, files=touched)
        if delivery.memories:
            return delivery
    return _answer_lookups(recipient, events, triggers)


def answer_searches(*, recipient: policy.Recipient) -> deliver.Delivery:
    """Deliver what answers the last events of a locked session, where its project asks for it.

    Of files nothing: their touch is warned of by itself. In a unit.
    """
    step = (recipient.session.events + 1) // EVENTS_OF_A_STEP
    known = policy.policy_of_recipient(recipient=recipient, point=Point.TOOL_RESULT)
    if step < rules.FIRST_STEP or not known.triggers & rules.ON_REQUEST:
        return deliver.SILENCE
    if not policy.is_open(recipient=recipient, point=Point.STEP):
        return deliver.SILENCE
    return _answer_lookups(recipient, _last_events(recipient.session), known.triggers)


def answer_failures(
    *, recipient: policy.Recipient, calls: tuple[harnesses.ToolCall, ...]
) -> deliver.Delivery:
    """Deliver what is known of calls that just failed: the same error, and what went through then.

    By words alone; a memory is given where most of its own words stand in the call or its error. In
    a unit.
    """
    point = Point.TOOL_RESULT
    failed = tuple(one for one in calls if one.is_error)[:FAILED_MOST]
    if not failed or not policy.is_open(recipient=recipient, point=point):
        return deliver.SILENCE
    for question in map(_failure_question, failed):
        views, relevance = lookups.answer_by_words(
            caller=recipient.caller,
            project=recipient.session.project_id,
            question=question,
            work=deliver.narrowing_of(recipient.session, near=()).work,
            now=recipient.now,
        )
        met = rules.met(views=views, failed=question)
        found = rules.CandidateSet(views=met, relevance=relevance, is_of_failure=True)
        delivery = deliver.deliver(recipient=recipient, point=point, candidates=found)
        if delivery.memories or delivery.is_late:
            return delivery
    return deliver.SILENCE


def _failure_question(call: harnesses.ToolCall) -> str:
    """Return what a failed call is looked up by, without secrets: what it was, and its error."""
    command = call.arguments.get("command")
    said = (command if isinstance(command, str) else call.tool, call.result)
    return scanner.without_secrets(text=" ".join(one[:QUESTION_PART] for one in said))


def _answer_lookups(
    recipient: policy.Recipient,
    events: tuple[event_storage.Event, ...],
    triggers: frozenset[rules.Trigger],
) -> deliver.Delivery:
    """Deliver what answers the first question that has an answer, by words alone. In a unit."""
    session = recipient.session
    if not triggers & rules.ON_REQUEST or not events:
        return deliver.SILENCE
    questions = rules.triggered_questions(
        scratchpad=reducers.rebuild(setting=scratchpads.setting_of(row=session), events=events),
        through=events[-STEP_EVENTS:][0].sequence - 1,
        triggers=triggers & rules.ON_REQUEST,
    )
    for question in questions:
        views, relevance = lookups.answer_by_words(
            caller=recipient.caller,
            project=session.project_id,
            question=question,
            work=deliver.narrowing_of(session, near=()).work,
            now=recipient.now,
        )
        others = {one: view for one, view in views.items() if not _is_own(session, view)}
        found = rules.CandidateSet(views=others, relevance=relevance)
        delivery = deliver.deliver(recipient=recipient, point=Point.STEP, candidates=found)
        if delivery.memories or delivery.is_late:
            return delivery
    return deliver.SILENCE


def _last_events(session: Session) -> tuple[event_storage.Event, ...]:
    """Return the last events of a session, in their order."""
    newest = Turn.done.filter(session=session).order_by("-sequence")[:LAST_EVENTS]
    made = [event_storage.from_row(sequence=turn.sequence, row=turn.body or {}) for turn in newest]
    return tuple(reversed(made))


def _touched_files(session: Session, events: tuple[event_storage.Event, ...]) -> tuple[str, ...]:
    """Return the files of the repository that some events touched, the last first."""
    setting = scratchpads.setting_of(row=session)
    read = [
        tools.read(event=event, root=setting.root, folder=setting.folder)
        for event in reversed(events)
    ]
    paths = (
        one.target for one in read if one.act in {tools.Act.READ, tools.Act.EDIT} and one.target
    )
    return tuple(dict.fromkeys(path for path in paths if not file_paths.is_outside(path=path)))


def _is_own(session: Session, view: MemoryView) -> bool:
    """Say whether the agent of a session has stored a memory itself since the session began."""
    is_same = view.author_user == session.opened_by and view.author_agent in {"", session.agent}
    return is_same and view.created_at >= session.opened_at
