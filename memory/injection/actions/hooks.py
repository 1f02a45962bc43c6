"""Follow an agent: store what its program reports of a session, and deliver what helps.

The session of the program is bound to one of Cairn once, by the program's own id; from then on it
stays in its project, wherever the agent goes. What people and agents say becomes turns, what tools
did becomes events, and no model is asked.

A touched file is answered with its warnings, whatever else is due; a prompt with unfinished work
and the brief, which share the tokens of a brief; between steps only what a project has asked for.
What stands before the brief is selected and logged before the search for the brief, and nothing
once the program does not wait any more. A subagent is warned, and not briefed.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, RateLimited
from memory.experiments.points import POINTS, Point
from memory.injection.actions import brief, deliver, external_binding, policy, session_start
from memory.injection.actions.brief import BriefRequest
from memory.injection.actions.deliver import LATE, SILENCE, Delivery
from memory.injection.actions.delivery_log import Recipient
from memory.injection.actions.external_binding import Whereabouts
from memory.injection.actions.trigger_points import answer_searches, deliver_warnings
from memory.injection.harnesses import events as harness_events
from memory.injection.harnesses.adapters import Meaning
from memory.injection.harnesses.payloads import HookEvent
from memory.search.deadline import NEVER, Deadline, TooLate
from memory.search.request import SearchRequest
from memory.secrets import scanner
from memory.sessions.actions import append_events, end_session, scratchpads
from memory.sessions.actions.append_turns import LONGEST_TURN, Clean, NewTurn, cleaned, store
from memory.sessions.models import Session, Turn
from memory.sessions.queries import sessions
from memory.sessions.turns import Speaker
from teams import audit
from teams.permissions import Act, require

BEYOND_CUT: Final = 5_000  # characters behind the cut in which a secret may end; default
START_TOKENS_MOST: Final = 600  # of those of the brief that it stands before; default
LONGEST_QUESTION: Final = 2_000  # characters of a prompt that a brief is searched with; default


@dataclass(frozen=True, slots=True, kw_only=True)
class HookResult:
    """The session that was followed, None where nothing was stored, and what is delivered."""

    session_id: UUID | None = None
    delivery: Delivery = SILENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompt:
    """What a brief is searched with: the text, and the turn that it stands in."""

    text: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Followed:
    """A session after an event was stored: what is delivered, or the prompt of its brief."""

    session: Session
    delivery: Delivery = SILENCE
    prompt: _Prompt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """An event, where the agent works, its turns and events without secrets, and the deadline."""

    event: HookEvent
    whereabouts: Whereabouts
    turns: tuple[Clean, ...]
    events: append_events.Clean
    deadline: Deadline

    def recipient(self, session: Session) -> Recipient:
        """Return which agent of the session is answered."""
        agent = external_binding.agent_of(hearing=self.event)
        return Recipient(session=session, agent=agent, deadline=self.deadline)

    def files(self, session: Session) -> tuple[str, ...]:
        """Return the files of the event by their names in the repository."""
        return scratchpads.named(row=session, paths=self.event.files, folder=self.event.folder)


def follow_agent(
    *,
    caller: Caller,
    event: HookEvent,
    whereabouts: Whereabouts,
    now: datetime,
    deadline: Deadline = NEVER,
) -> HookResult:
    """Store what an agent's program reports, and return what is delivered to its model.

    After the deadline nothing is delivered.

    Raises NotFound for a named project the caller cannot see, NotBoundToProject, InvalidInput.
    """
    require(caller=caller, act=Act.READ)
    require(caller=caller, act=Act.WRITE)
    if not event.session or event.meaning is Meaning.OTHER:
        return HookResult()
    report = _Report(
        event=event,
        whereabouts=whereabouts,
        turns=cleaned(turns=_turns(event)),
        events=append_events.cleaned(events=harness_events.rows_of(event=event)),
        deadline=deadline,
    )
    try:
        with tenancy.unit(), transaction.atomic():
            followed = _store_report(caller, report, now)
    except IntegrityError:  # its other event bound it between our read and our write: find it
        with tenancy.unit():
            followed = _store_report(caller, report, now)
    if followed is None:
        return HookResult()
    delivery = followed.delivery
    if followed.prompt is not None:
        delivery = _deliver_with_brief(caller, report, followed.session, followed.prompt, now)
    return HookResult(session_id=followed.session.id, delivery=delivery)


def _turns(event: HookEvent) -> tuple[NewTurn, ...]:
    """Return messages as turns that fit; a secret that the cut would halve is masked before."""
    texts = (
        (Speaker.USER, event.prompt if event.meaning is not Meaning.ENDED else ""),
        (Speaker.ASSISTANT, event.message),
    )
    turns = []
    for speaker, whole in texts:
        text = whole
        if len(whole) > LONGEST_TURN:
            clean = scanner.without_secrets(text=whole[: LONGEST_TURN + BEYOND_CUT])
            text = clean[:LONGEST_TURN]
        if whole.strip():
            turns.append(NewTurn(role=speaker.value, text=text))
    return tuple(turns)


def _store_report(caller: Caller, report: _Report, now: datetime) -> _Followed | None:
    """Bind, store, end, warn; None for the end of a session that nobody knows. In a unit."""
    event = report.event
    if event.meaning is Meaning.ENDED:
        known = external_binding.known(caller=caller, hearing=event)
        if known is None:
            return None
        if known.state == "open":
            end_session.close(rows=(known,), now=now)
            _audit(caller, known, {"ended": 1})
        return _Followed(session=known)
    bound = external_binding.bind(
        caller=caller, hearing=event, whereabouts=report.whereabouts, now=now
    )
    session = bound.row
    if report.turns:
        store(row=session, clean=report.turns, now=now)
    stored, dropped = 0, 0
    if report.events.events:
        try:
            stored = append_events.store_next(row=session, clean=report.events, now=now)
        except (RateLimited, InvalidInput):  # turns are stored, and warnings given, all the same
            dropped = len(report.events.events)
    if event.is_compacted:
        session.compacted_at = now
        session.save(update_fields=["compacted_at"])
    followed = _Followed(session=session)
    if event.is_answerable and event.waits:
        followed = _deliver_at_once(caller, report, session, now)
    _audit(
        caller,
        session,
        {
            "opened": int(bound.is_new),
            "compacted": int(event.is_compacted),
            "turns": len(report.turns),
            "events": stored,
            "dropped": dropped,
            "briefed": int(followed.prompt is not None),
            "given": len(followed.delivery.memories),
        },
    )
    return followed


def _audit(caller: Caller, session: Session, counts: dict[str, int]) -> None:
    """Append one entry for whatever was written; a call that is only announced writes nothing."""
    details = {name: count for name, count in counts.items() if count}
    if details:
        audit.append(
            act="session.followed",
            object_type="session",
            object_id=str(session.id),
            caller=caller,
            details=details,
        )


def _deliver_at_once(caller: Caller, report: _Report, session: Session, now: datetime) -> _Followed:
    """Deliver warnings, or else what a project asked for; a brief that is due comes later.

    In a unit.
    """
    recipient = report.recipient(session)
    prompt = _due_prompt(caller, recipient)
    if prompt is not None:
        return _Followed(session=session, prompt=prompt)
    delivery = _warnings(caller, recipient, report.files(session), now)
    is_answered = report.event.meaning is Meaning.ANSWERED
    if not delivery.text and not delivery.is_late and is_answered:
        delivery = answer_searches(caller=caller, recipient=recipient, now=now)
    return _Followed(session=session, delivery=delivery)


def _due_prompt(caller: Caller, recipient: Recipient) -> _Prompt | None:
    """Return the last prompt of a locked session, if a brief is due and was not tried with it.

    As it is stored: without secrets. In a unit.
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
    is_open = policy.is_open(caller=caller, session=session, point=Point.SYSTEM_PROMPT)
    text = last[0][:LONGEST_QUESTION].strip()
    is_due = is_open or _may_start(caller, session)
    return _Prompt(text=text, sequence=last[1]) if is_due else None


def _deliver_with_brief(
    caller: Caller, report: _Report, session: Session, prompt: _Prompt, now: datetime
) -> Delivery:
    """Deliver the warnings of an event's files, then what its work begins with, then the brief.

    The search for the brief is what takes long: where it comes too late, the rest is delivered all
    the same, and it is not searched with this prompt again.
    """
    recipient = report.recipient(session)
    files = report.files(session)
    request = BriefRequest(
        task=SearchRequest(query=prompt.text), through=prompt.sequence, working=files
    )
    try:
        with tenancy.unit(), transaction.atomic():
            recipient = _lock(caller, recipient)
            warnings = _in_time(_warnings(caller, recipient, files, now))
            behind = replace(recipient, is_continued=bool(warnings.text))
            start = _in_time(_start(caller, behind, files, now))
    except TooLate:
        return LATE
    try:
        found = _search_brief(caller, recipient, (warnings, start), request, now)
    except TooLate:
        with tenancy.unit():
            locked = _lock(caller, recipient).session
            brief.record_late_try(session=locked, through=prompt.sequence)
        joined = deliver.join(deliveries=(warnings, start))
        return joined if joined.text else LATE
    return deliver.join(deliveries=(warnings, start, found))


def _search_brief(
    caller: Caller,
    recipient: Recipient,
    before: tuple[Delivery, Delivery],
    request: BriefRequest,
    now: datetime,
) -> Delivery:
    """Search for the brief and deliver it behind warnings and start, or raise TooLate."""
    with tenancy.unit():
        is_open = policy.is_open(
            caller=caller, session=recipient.session, point=Point.SYSTEM_PROMPT
        )
    answer = (
        brief.search_task(caller=caller, recipient=recipient, request=request, now=now)
        if is_open
        else None
    )
    with tenancy.unit(), transaction.atomic():
        recipient = replace(_lock(caller, recipient), is_continued=any(one.text for one in before))
        if answer is None:
            brief.record_try(session=recipient.session, through=request.through, briefed_at=None)
            return SILENCE
        free = POINTS[Point.SYSTEM_PROMPT].tokens - before[1].tokens
        delivery = brief.deliver_brief(
            caller=caller,
            recipient=recipient,
            request=replace(request, tokens_most=free),
            answer=answer,
            now=now,
        )
        return _in_time(delivery)


def _lock(caller: Caller, recipient: Recipient) -> Recipient:
    locked = sessions.hold(caller=caller, session_id=recipient.session.id)
    return replace(recipient, session=locked)


def _in_time(delivery: Delivery) -> Delivery:
    if delivery.is_late:
        raise TooLate
    return delivery


def _warnings(
    caller: Caller, recipient: Recipient, files: tuple[str, ...], now: datetime
) -> Delivery:
    point = Point.TOOL_RESULT
    if not files or not policy.is_open(caller=caller, session=recipient.session, point=point):
        return SILENCE
    return deliver_warnings(caller=caller, recipient=recipient, point=point, files=files, now=now)


def _start(caller: Caller, recipient: Recipient, files: tuple[str, ...], now: datetime) -> Delivery:
    """Deliver what was left unfinished, and the files of it and of the event. In a unit."""
    session = recipient.session
    if not _may_start(caller, session):
        return SILENCE
    unfinished = session_start.unfinished_work(caller=caller, session=session, is_new=True)
    every = (*files, *(unfinished.state.files if unfinished else ()))
    delivery, _ = session_start.deliver_start(
        caller=caller,
        recipient=recipient,
        modules=session_start.modules_of(files=every),
        unfinished=unfinished,
        tokens_most=START_TOKENS_MOST,
        now=now,
    )
    return delivery


def _may_start(caller: Caller, session: Session) -> bool:
    """Say whether a session may be given what its work begins with: with its first prompt."""
    is_first = session.brief_tries == 0 and not session_start.had_start(session=session)
    point = Point.FIRST_MESSAGE
    return is_first and policy.is_open(caller=caller, session=session, point=point)
