"""Append events to a session: what its agent did, scanned, masked, stored.

Nothing is asked of a model and nothing is folded here, so an agent never waits for what is made of
its events. An event whose sequence is there already changes nothing; one that comes late or out of
order is stored like any other. What is no event is refused by its place, and the others of its
batch stand. The secret is taken out of whatever an event says before it is even read. What Cairn's
own tools answered is not kept: it holds what only its asker may see, a shared session is seen by
others, and the ledger and the log of accesses know what was given to whom.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import orjson

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import FieldError, Forbidden, InvalidInput, RateLimited, wrong_field
from accounts.messages import message
from memory import sql_queries
from memory.secrets import findings as secrets
from memory.secrets import scanner
from memory.sessions import event_parsing, external_content
from memory.sessions import queries as sessions
from memory.sessions.actions import hook_rows
from memory.sessions.actions.append_turns import MOST_MASKED, MaskedSecret
from memory.sessions.events import Event, EventKind, to_row
from memory.sessions.models import Session, Stream, Turn
from teams import audit
from teams.permissions import Act, require

# Defaults, not measured.
MOST: Final = 500  # events a call
MOST_OF_SESSION: Final = 50_000  # events
MOST_BEHIND: Final = 10_000  # events that nobody has looked at yet
WAIT_SECONDS: Final = 30  # before somebody comes again
EVERY: Final = 500  # events after which the session is looked at
CHECKPOINT_FROM: Final = 200  # behind a checkpoint, from which on who reads them asks for another
MOST_TOLD: Final = 20  # refused rows that are named

FILE: Final = "sessions/sql/sessions.sql"
JOB: Final = "memory.observe"
BOUNDS: Final = frozenset({EventKind.QA_REPORT})  # after which it is looked at in any case


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedEvents:
    """How many events are new and how many were there already; what was refused or taken out.

    `unknown` counts events of kinds that nothing is made of; they are kept.
    """

    stored: int
    known: int
    unknown: int
    last_sequence: int
    refused: tuple[event_parsing.Refused, ...]
    masked: tuple[MaskedSecret, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clean:
    """Events that may be stored, each with the kinds of what was taken out; and what is none."""

    events: tuple[tuple[Event, tuple[str, ...]], ...]
    refused: tuple[event_parsing.Refused, ...]


def append_events(
    *, caller: Caller, session_id: UUID, events: tuple[object, ...], now: datetime
) -> AppendedEvents:
    """Append events to a session of the caller's own.

    A session that had ended is open again. Raises InvalidInput where there are too many or none of
    them is an event, NotFound also for a session of somebody else, RateLimited while the observer
    is too far behind.
    """
    require(caller=caller, act=Act.WRITE)
    clean = cleaned(events=events)
    with tenancy.unit():
        try:
            row = sessions.hold_own(caller=caller, session_id=session_id)
        except Forbidden as error:  # a session of somebody else is as none
            raise sessions.missing() from error
        done = _store(row, clean, now)
        audit.append(
            "session.events_appended",
            "session",
            str(row.id),
            caller=caller,
            details={
                "stored": done.stored,
                "known": done.known,
                "unknown": done.unknown,
                "refused": len(done.refused),
                "masked": len(done.masked),
            },
        )
        return done


def store_next(*, row: Session, clean: Clean, now: datetime) -> int:
    """Store cleaned events behind the last of hooks in a session; return how many. In a unit.

    The session is locked; what its transcript has told already is not stored again. Each call of a
    tool is a step of its own. What has no moment happened now, and a call that is told with its
    result, and not how long it took, took all the time since the event before it.
    Raises RateLimited, InvalidInput as `append_events`.
    """
    numbers = _numbers(row)
    last = max(numbers.of_hooks, hook_rows.FIRST + row.events)
    if numbers.has_transcript:
        clean = replace(clean, events=hook_rows.untold(row=row, new=clean.events, now=now))
    took = None
    kinds = [event.kind for event, _ in clean.events]
    if kinds == [EventKind.TOOL_CALL, EventKind.TOOL_RESULT] and row.events:
        took = max(0.0, (now - row.active_at).total_seconds())
    moved = []
    for event, masked in clean.events:
        is_open = event.kind is EventKind.TOOL_RESULT and event.took_seconds is None
        behind = replace(
            event,
            sequence=last + event.sequence,
            step=(row.events + event.sequence + 1) // 2,
            at_seconds=now.timestamp() if event.at_seconds is None else event.at_seconds,
            took_seconds=took if is_open else event.took_seconds,
        )
        moved.append((behind, masked))
    return _store(row, replace(clean, events=tuple(moved)), now).stored


def ask_for_checkpoint(*, row: Session, behind: int) -> None:
    """Queue a look at a session where many events stand behind its checkpoint. In a unit.

    So whoever reads on from there has few of them to fold, however long the session is.
    """
    if behind >= CHECKPOINT_FROM:
        _queue_look(row, 0, is_asked=True)


def is_full(*, row: Session) -> bool:
    """Say whether a session may have no room for another call's events."""
    return row.events > MOST_OF_SESSION - MOST


def cleaned(*, events: tuple[object, ...]) -> Clean:
    """Take secrets out of rows and read them. Outside of a unit. Raises InvalidInput."""
    if len(events) > MOST:
        raise wrong_field(
            pointer="/events",
            detail=message("Send at most {most} events in one call.", most=MOST),
            code="too_many",
        )
    found: list[tuple[Event, tuple[str, ...]]] = []
    refused: list[event_parsing.Refused] = []
    known: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {}
    for position, event in enumerate(events):
        masked: list[str] = []

        def redact(name: str, text: str, masked: list[str] = masked) -> str:
            if (name, text) not in known:
                known[name, text] = _redacted(name, text)
            taken, clean = known[name, text]
            masked.extend(taken)
            return clean

        row = secrets.mask_texts(row=event, redact=redact)
        read = event_parsing.read(row=row, position=position)
        if isinstance(read, event_parsing.Refused):
            refused.append(read)
        else:
            found.append((read, tuple(masked)))
    if refused and not found:
        errors = tuple(
            FieldError(
                pointer=f"/events/{one.position}/{one.field}".rstrip("/"),
                detail=message("This is no event: {reason}.", reason=one.reason.value),
                code=one.reason.value,
            )
            for one in refused[:MOST_TOLD]
        )
        raise InvalidInput(
            detail=errors[0].detail,
            hint="An event has a sequence from 1 on and a kind; a call of a tool has its name.",
            errors=errors,
        )
    return Clean(events=tuple(found), refused=tuple(refused))


def _redacted(name: str, text: str) -> tuple[tuple[str, ...], str]:
    """Return the kinds of the secrets in a text, and the text without them.

    What looks like a secret only beside its name is found by both and cut by its place in the text.
    """
    findings = scanner.find_secrets(text=text, is_spoken=True)
    if not findings and name:
        before = f"{name}: "
        findings = tuple(
            replace(one, start=max(0, one.start - len(before)), end=one.end - len(before))
            for one in scanner.find_secrets(text=before + text)
            if one.end > len(before)
        )
    kinds = tuple(one.kind.value for one in findings)
    return kinds, secrets.redact(text=text, findings=findings) if findings else text


def _store(row: Session, clean: Clean, now: datetime) -> AppendedEvents:
    """Store cleaned events under a locked session; queue a look at it when it is due. In a unit."""
    numbers = _numbers(row)
    fresh = _new_events(row, clean, numbers.last)
    new = hook_rows.adopt(row=row, new=fresh, now=now) if numbers.of_hooks else fresh
    rows = {event.sequence: _row_of(event, kinds, now) for event, kinds in new}
    masked = tuple(
        MaskedSecret(sequence=event.sequence, kind=kind) for event, kinds in new for kind in kinds
    )
    _check_room(row, len(rows))
    is_late = len(new) < len(fresh)  # what moved is looked at in its new place
    if rows:
        is_late |= _write(row, rows, now)
    if fresh:
        is_bound = any(event.kind in BOUNDS for event, _ in clean.events)
        _queue_look(row, len(rows), is_asked=is_late or is_bound)
    return AppendedEvents(
        stored=len(rows),
        known=len(clean.events) - len(rows),
        unknown=sum(event.kind is EventKind.UNKNOWN for event, _ in new),
        last_sequence=max(numbers.last, row.events, *rows),
        refused=clean.refused,
        masked=masked,
    )


def _row_of(event: Event, kinds: tuple[str, ...], now: datetime) -> Mapping[str, object]:
    seconds = event.at_seconds
    return {
        "sequence": event.sequence,
        "body": to_row(event=event),
        "masked": min(len(kinds), MOST_MASKED),
        "at": now if seconds is None else datetime.fromtimestamp(seconds, tz=UTC),
    }


def _new_events(row: Session, clean: Clean, last: int) -> list[tuple[Event, tuple[str, ...]]]:
    """Return the first event of each number that is not there yet, as it is kept. In a unit."""
    own = _own_answers(row, [event for event, _ in clean.events])
    asked = {event.sequence for event, _ in clean.events}
    there: set[int] = set()
    if min(asked, default=0) <= last:
        known = Turn.done.filter(session_id=row.id, sequence__in=asked).order_by()
        there = set(known.values_list("sequence", flat=True))
    new = []
    for event, kinds in clean.events:
        if event.sequence not in there:
            there.add(event.sequence)
            kept = replace(event, text="") if event.sequence in own else event
            new.append((kept, kinds))
    return new


def _check_room(row: Session, count: int) -> None:
    """Raise InvalidInput for a full session, RateLimited where too many wait to be looked at."""
    if row.events + count > MOST_OF_SESSION:
        raise wrong_field(
            pointer="/events",
            detail=message("A session has at most {most} events.", most=MOST_OF_SESSION),
            hint="End this session and open another one of the same thread.",
            code="too_many",
        )
    if count and row.memory_eligible and row.events + count - row.folded > MOST_BEHIND:
        raise RateLimited(
            detail="More events came than could be looked at.", retry_after_seconds=WAIT_SECONDS
        )


def _queue_look(row: Session, count: int, *, is_asked: bool) -> None:
    """Queue a look at a session if that is asked for or due after so many more events."""
    is_due = row.events // EVERY > (row.events - count) // EVERY
    if row.memory_eligible and (is_asked or is_due):
        payload, creator = {"ids": [str(row.id)]}, row.opened_by or row.token_id
        jobs.enqueue(JOB, payload=payload, key=row.id.hex, created_by=creator)


def _own_answers(row: Session, events: list[Event]) -> set[int]:
    """Return the numbers of results that are answers of Cairn's own tools. In a unit.

    A result that does not name its tool is that of its call, in this batch or stored before.
    """
    results = [one for one in events if one.kind is EventKind.TOOL_RESULT and one.text]
    names = _names_of_calls(row, events, {one.call for one in results if not one.name})
    return {
        one.sequence
        for one in results
        if external_content.is_of_ours(name=one.name or names.get(one.call, ""))
    }


def _names_of_calls(row: Session, events: list[Event], asked: set[str]) -> dict[str, str]:
    """Return the names of tools by their calls, of a batch and of those asked for. In a unit."""
    names = {one.call: one.name for one in events if one.kind is EventKind.TOOL_CALL and one.call}
    if missing := asked - names.keys() - {""}:
        before = Turn.done.filter(
            session=row, body__kind=EventKind.TOOL_CALL.value, body__call__in=sorted(missing)
        )
        names.update(before.values_list("body__call", "body__name"))
    return names


def _write(row: Session, rows: Mapping[int, Mapping[str, object]], now: datetime) -> bool:
    """Write events in one statement; say whether one came so late that all are looked at again."""
    ((is_late, row.folded),) = sql_queries.rows(
        "append",
        file=FILE,
        session=row.id,
        done=Stream.DONE.value,
        checkpoint=Stream.CHECKPOINT.value,
        events=orjson.dumps(tuple(rows.values())).decode(),
        count=len(rows),
        first=min(rows),
        now=now,
    )
    row.events += len(rows)
    row.active_at, row.state, row.ended_at = now, "open", None
    return bool(is_late)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbers:
    """The last number of a session's events, the last of hooks, and whether others gave any."""

    last: int
    of_hooks: int
    has_transcript: bool


def _numbers(row: Session) -> _Numbers:
    """Return the numbers that were given; the first events may be forgotten. In a unit."""
    ((first, last, of_hooks),) = sql_queries.rows(
        "last",
        file=FILE,
        session=row.id,
        done=Stream.DONE.value,
        first=hook_rows.FIRST,
        end=hook_rows.END,
    )
    return _Numbers(
        last=max(last or 0, row.events),
        of_hooks=of_hooks or 0,
        has_transcript=first is not None and (first < hook_rows.FIRST or last > hook_rows.END),
    )
