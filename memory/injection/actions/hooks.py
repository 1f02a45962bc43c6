"""Follow an agent: store what its program reports of a session, and deliver what helps.

The session of the program is bound to one of Cairn once, by the program's own id; from then on it
stays in its project, wherever the agent goes. What people and agents say becomes turns, what tools
did becomes events, and no model is asked.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, RateLimited
from memory.injection.actions import brief, external_binding, hook_answers
from memory.injection.actions.deliver import SILENCE, Delivery
from memory.injection.actions.policy import Recipient
from memory.injection.harnesses.adapters import Meaning
from memory.injection.harnesses.payloads import HookEvent, event_rows
from memory.search.deadline import NEVER, Deadline
from memory.secrets import scanner
from memory.sessions.actions import append_events, append_turns, lifecycle
from memory.sessions.models import Session
from memory.sessions.turns import Speaker
from teams import audit
from teams.permissions import Act, require

BEYOND_CUT: Final = 5_000  # characters behind the cut in which a secret may end; default


@dataclass(frozen=True, slots=True, kw_only=True)
class HookResult:
    """The session that was followed, None where nothing was stored, and what is delivered."""

    session_id: UUID | None = None
    delivery: Delivery = SILENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """An event, where the agent works, its turns and events without secrets, and the deadline."""

    event: HookEvent
    whereabouts: external_binding.Whereabouts
    turns: tuple[append_turns.Clean, ...]
    events: append_events.Clean
    deadline: Deadline


def follow_agent(
    *,
    caller: Caller,
    event: HookEvent,
    whereabouts: external_binding.Whereabouts,
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
        turns=append_turns.cleaned(turns=_turns(event)),
        events=append_events.cleaned(events=event_rows(event=event)),
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
    recipient, delivery, due = followed
    if due is not None:
        delivery = hook_answers.deliver_with_brief(recipient=recipient, request=due)
    return HookResult(session_id=recipient.session.id, delivery=delivery)


def _turns(event: HookEvent) -> tuple[append_turns.NewTurn, ...]:
    """Return messages as turns that fit; a secret that the cut would halve is masked before."""
    texts = (
        (Speaker.USER, event.prompt if event.meaning is not Meaning.ENDED else ""),
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


def _store_report(
    caller: Caller, report: _Report, now: datetime
) -> tuple[Recipient, Delivery, brief.BriefRequest | None] | None:
    """Bind, store, end, warn; None for the end of a session that nobody knows. In a unit.

    Return what is delivered at once, or what a brief is searched with.
    """
    event = report.event
    if event.meaning is Meaning.ENDED:
        known = external_binding.find_bound(caller=caller, event=event)
        if known is None:
            return None
        if known.state == "open":
            lifecycle.close(rows=(known,), now=now)
            _audit(caller, known, {"ended": 1})
        return Recipient(caller=caller, session=known, now=now), SILENCE, None
    bound = external_binding.bind(
        caller=caller, event=event, whereabouts=report.whereabouts, now=now
    )
    session = bound.row
    if report.turns:
        append_turns.store(row=session, clean=report.turns, now=now)
    stored, dropped = 0, 0
    if report.events.events:
        try:
            stored = append_events.store_next(row=session, clean=report.events, now=now)
        except (RateLimited, InvalidInput):  # turns are stored, and warnings given, all the same
            dropped = len(report.events.events)
    if event.is_compacted:
        session.compacted_at = now
        session.save(update_fields=["compacted_at"])
    recipient = Recipient(
        caller=caller,
        session=session,
        now=now,
        agent=external_binding.agent_of(event=event),
        deadline=report.deadline,
    )
    delivery, due = SILENCE, None
    if event.is_answerable and event.waits:
        delivery, due = hook_answers.deliver_at_once(recipient=recipient, event=event)
    _audit(
        caller,
        session,
        {
            "opened": int(bound.is_new),
            "compacted": int(event.is_compacted),
            "turns": len(report.turns),
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
        audit.append(
            act="session.followed",
            object_type="session",
            object_id=str(session.id),
            caller=caller,
            details=details,
        )
