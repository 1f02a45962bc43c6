"""Follow an agent: store what its program reports of a session, and deliver what helps.

The session of the program is bound to one of Cairn once, by the program's own id; from then on it
stays in its project, wherever the agent goes. What people and agents say becomes turns, what tools
did becomes events, and no model is asked.

A touched file is answered with its warnings, whatever else is due; a prompt with unfinished work
and the brief, which share the tokens of a brief; between steps only what a project has asked for.
What stands before the brief is selected and logged before the search for the brief, and nothing
once the program does not wait any more. A subagent is warned, and not briefed.
"""

from dataclasses import replace
from datetime import datetime
from typing import Final

from django.db import IntegrityError, transaction

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, RateLimited
from memory.experiments.points import POINTS, Point
from memory.injection import harnesses
from memory.injection.actions import (
    brief,
    deliver,
    external_binding,
    policy,
    session_start,
    trigger_points,
)
from memory.intake.classify import named_files
from memory.search.request import NEVER, Deadline, SearchRequest, TooLate
from memory.secrets import scanner
from memory.sessions import queries as sessions
from memory.sessions.actions import append_events, append_turns, lifecycle, scratchpads
from memory.sessions.models import Session, Turn
from memory.sessions.turns import Speaker
from teams import audit
from teams.permissions import Act, require

BEYOND_CUT: Final = 5_000  # characters behind the cut in which a secret may end; default
START_TOKENS_MOST: Final = 600  # of those of the brief that it stands before; default
LONGEST_QUESTION: Final = 2_000  # characters of a prompt that a brief is searched with; default

# What is delivered at once, to whom, and what a brief that is due is searched with.
Followed = tuple[policy.Recipient, deliver.Delivery, brief.BriefRequest | None]


def follow_agent(
    *,
    caller: Caller,
    event: harnesses.HookEvent,
    whereabouts: external_binding.Whereabouts,
    now: datetime,
    deadline: Deadline = NEVER,
) -> deliver.Delivery:
    """Store what an agent's program reports, and return what is delivered to its model.

    After the deadline nothing is delivered.

    Raises NotFound for a named project the caller cannot see, NotBoundToProject, InvalidInput.
    """
    require(caller=caller, act=Act.READ)
    require(caller=caller, act=Act.WRITE)
    if not event.session or event.meaning is harnesses.Meaning.OTHER:
        return deliver.SILENCE
    turns = append_turns.cleaned(turns=_turns(event))
    events = append_events.cleaned(events=harnesses.event_rows(event=event))

    def store() -> Followed | None:
        if event.meaning is harnesses.Meaning.ENDED:
            _end(caller, event, now)
            return None
        bound = external_binding.bind(caller=caller, event=event, whereabouts=whereabouts, now=now)
        recipient = policy.Recipient(
            caller=caller,
            session=bound.row,
            now=now,
            agent=external_binding.agent_of(event=event),
            deadline=deadline,
        )
        return _store(recipient, event, turns, events, is_new=bound.is_new)

    try:
        with tenancy.unit(), transaction.atomic():
            followed = store()
    except IntegrityError:  # its other event bound it between our read and our write: find it
        with tenancy.unit():
            followed = store()
    if followed is None:
        return deliver.SILENCE
    recipient, delivery, due = followed
    return delivery if due is None else deliver_with_brief(recipient=recipient, asked=due)


def _turns(event: harnesses.HookEvent) -> tuple[append_turns.NewTurn, ...]:
    """Return messages as turns that fit; a secret that the cut would halve is masked before."""
    texts = (
        (Speaker.USER, event.prompt if event.meaning is not harnesses.Meaning.ENDED else ""),
        (Speaker.ASSISTANT, event.message),
    )
    turns = []
    for speaker, whole in texts:
        text = whole
        if len(whole) > append_turns.LONGEST_TURN:
            clean = scanner.without_secrets(text=whole[: append_turns.LONGEST_TURN + BEYOND_CUT])
            text = clean[: append_turns.LONGEST_TURN]
        if whole.strip():
            turns.append(append_turns.NewTurn(role=speaker.value, text=text))
    return tuple(turns)


def _end(caller: Caller, event: harnesses.HookEvent, now: datetime) -> None:
    """End the session that a program means, if there is one. In a unit."""
    known, _ = external_binding.find_bound(caller=caller, event=event)
    if known is not None and known.state == "open":
        lifecycle.close(rows=(known,), now=now)
        _audit(caller, known, {"ended": 1})


def _store(
    recipient: policy.Recipient,
    event: harnesses.HookEvent,
    turns: tuple[append_turns.Clean, ...],
    events: append_events.Clean,
    *,
    is_new: bool,
) -> Followed:
    """Store turns and events without secrets, and warn. In a unit."""
    session, now = recipient.session, recipient.now
    if turns:
        is_of_program = event.harness != harnesses.Harness.GENERIC  # which anybody may speak
        append_turns.store_next(row=session, clean=turns, now=now, is_of_program=is_of_program)
    stored, dropped = 0, 0
    if events.events:
        try:
            stored = append_events.store_next(row=session, clean=events, now=now)
        except (RateLimited, InvalidInput):  # turns are stored, and warnings given, all the same
            dropped = len(events.events)
    if event.is_compacted:
        session.compacted_at = now
        session.save(update_fields=["compacted_at"])
    delivery, due = deliver.SILENCE, None
    if event.is_answerable and event.waits:
        delivery, due = _deliver_at_once(recipient, event)
    _audit(
        recipient.caller,
        session,
        {
            "opened": int(is_new),
            "compacted": int(event.is_compacted),
            "turns": len(turns),
            "events": stored,
            "dropped": dropped,
            "briefed": int(due is not None),
            "given": len(delivery.memories),
        },
    )
    return recipient, delivery, due


def _audit(caller: Caller, session: Session, counts: dict[str, int]) -> None:
    """Append one entry for whatever was written; a call that is only announced writes nothing."""
    details = {name: count for name, count in counts.items() if count}
    if details:
        audit.append("session.followed", "session", str(session.id), caller=caller, details=details)


def _deliver_at_once(
    recipient: policy.Recipient, event: harnesses.HookEvent
) -> tuple[deliver.Delivery, brief.BriefRequest | None]:
    """Deliver warnings, or else what a project asked for; a brief that is due comes later.

    In a unit.
    """
    session = recipient.session
    files = scratchpads.named(row=session, paths=event.files, folder=event.folder)
    due = _due_brief(recipient, files)
    if due is not None:
        return deliver.SILENCE, due
    delivery = _warnings(recipient, files)
    is_answered = event.meaning is harnesses.Meaning.ANSWERED
    if not delivery.text and not delivery.is_late and is_answered:
        delivery = trigger_points.answer_failures(recipient=recipient, calls=event.calls)
    if not delivery.text and not delivery.is_late and is_answered:
        delivery = trigger_points.answer_searches(recipient=recipient)
    return delivery, None


def _due_brief(recipient: policy.Recipient, files: tuple[str, ...]) -> brief.BriefRequest | None:
    """Return what a brief of a locked session is searched with, if one is due: the last prompt.

    As it is stored: without secrets. A file that it names is as good as touched: in a young store
    every word is common, so that a search may find nothing relevant. None where it was tried with
    that prompt. In a unit.
    """
    session = recipient.session
    if recipient.agent or not brief.is_due(session=session):
        return None
    prompts = Turn.objects.filter(
        session=session, role=Speaker.USER.value, sequence__gt=session.brief_through
    )
    last = prompts.order_by("-sequence").values_list("text", "sequence").first()
    if last is None or not last[0].strip():
        return None
    is_open = policy.is_open(recipient=recipient, point=Point.BRIEF)
    if not is_open and not _may_start(recipient):
        return None
    query = last[0][:LONGEST_QUESTION].strip()
    working = tuple(dict.fromkeys((*files, *named_files(text=query))))
    return brief.BriefRequest(task=SearchRequest(query=query), through=last[1], working=working)


def deliver_with_brief(
    *, recipient: policy.Recipient, asked: brief.BriefRequest
) -> deliver.Delivery:
    """Deliver the warnings of an event's files, then what its work begins with, then the brief.

    The search for the brief is what takes long: where it comes too late, the rest is delivered all
    the same, and it is not searched with this prompt again.
    """
    try:
        with tenancy.unit(), transaction.atomic():
            recipient = replace(recipient, session=_lock(recipient))
            warnings = _in_time(_warnings(recipient, asked.working))
            behind = replace(recipient, is_continued=bool(warnings.text))
            start = _in_time(_start(behind, asked.working))
            is_open = policy.is_open(recipient=recipient, point=Point.BRIEF)
    except TooLate:
        return deliver.LATE
    before = deliver.join(deliveries=(warnings, start))
    if is_open:
        behind = replace(recipient, is_continued=bool(before.text))
        free = POINTS[Point.BRIEF].tokens - start.tokens
        found = brief.brief(recipient=behind, asked=replace(asked, tokens_most=free))
        if not found.is_late:
            return deliver.join(deliveries=(before, found))
    with tenancy.unit():
        session = _lock(recipient)
        if brief.is_due(session=session) and session.brief_through < asked.through:
            brief.record_try(session=session, through=asked.through, briefed_at=None)
    return deliver.LATE if is_open and not before.text else before


def _lock(recipient: policy.Recipient) -> Session:
    return sessions.hold(caller=recipient.caller, session_id=recipient.session.id)


def _in_time(delivery: deliver.Delivery) -> deliver.Delivery:
    if delivery.is_late:
        raise TooLate
    return delivery


def _warnings(recipient: policy.Recipient, files: tuple[str, ...]) -> deliver.Delivery:
    point = Point.TOOL_RESULT
    if not files or not policy.is_open(recipient=recipient, point=point):
        return deliver.SILENCE
    return deliver.deliver_warnings(recipient=recipient, point=point, files=files)


def _start(recipient: policy.Recipient, files: tuple[str, ...]) -> deliver.Delivery:
    """Deliver what was left unfinished, and the files of it and of the event. In a unit."""
    if not _may_start(recipient):
        return deliver.SILENCE
    unfinished = session_start.unfinished_work(
        caller=recipient.caller, session=recipient.session, is_new=True
    )
    every = (*files, *(unfinished.files if unfinished else ()))
    delivery, _ = session_start.deliver_start(
        recipient=recipient,
        modules=session_start.modules_of(files=every),
        unfinished=unfinished,
        tokens_most=START_TOKENS_MOST,
    )
    return delivery


def _may_start(recipient: policy.Recipient) -> bool:
    """Say whether a session may be given what its work begins with: with its first prompt."""
    session = recipient.session
    is_first = session.brief_tries == 0 and not session_start.had_start(session=session)
    return is_first and policy.is_open(recipient=recipient, point=Point.SESSION_START)
