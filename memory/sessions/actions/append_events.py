"""Append events to a session: what its agent did, scanned, masked, stored.

Nothing is asked of a model and nothing is folded here, so an agent never waits for what is made of
its events. An event whose sequence is there already changes nothing; one that comes late or out of
order is stored like any other. What is no event is refused by its place, and the others of its
batch stand. The secret is taken out of whatever an event says before it is even read. What Cairn's
own tools answered is not kept: it holds what only its asker may see, a shared session is seen by
others, and the ledger and the log of accesses know what was given to whom.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import FieldError, Forbidden, InvalidInput, RateLimited, wrong_field
from accounts.messages import message
from memory.secrets import event_masking, scanner
from memory.secrets import findings as secrets
from memory.secrets.findings import Finding
from memory.sessions import event_parsing, event_storage, tools
from memory.sessions.actions.append_turns import MOST_MASKED, Masked, hold_own
from memory.sessions.event_parsing import Batch, Refused
from memory.sessions.events import Event, EventKind
from memory.sessions.models import Session, Turn
from memory.sessions.queries import sessions
from memory.sessions.sql import events as table
from teams import audit
from teams.permissions import Act, require

MOST: Final = 500  # events a call, spec 4.1 leaves it to us
MOST_OF_SESSION: Final = 50_000  # events, ours
MOST_BEHIND: Final = 10_000  # events that nobody has looked at yet, ours
WAIT_SECONDS: Final = 30  # before somebody comes again, ours
EVERY: Final = 500  # events after which the session is looked at, ours
MOST_TOLD: Final = 20  # refused rows that are named, ours
JOB: Final = "memory.observe"
_Redacted = tuple[tuple[str, ...], str]  # the kinds of what was taken out, and the text without
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
    refused: tuple[Refused, ...]
    masked: tuple[Masked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clean:
    """A batch that may be stored, and the kinds of what was taken out, by position."""

    batch: Batch
    events: Mapping[int, Event]
    kinds: Mapping[int, tuple[str, ...]]


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
        row = _hold(caller, session_id)
        done = _store(row, clean, now)
        audit.append(
            act="session.events_appended",
            object_type="session",
            object_id=str(row.id),
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


def _hold(caller: Caller, session_id: UUID) -> Session:
    """Return a session of the caller's own, locked; another one is as none. In a unit."""
    try:
        return hold_own(caller=caller, session_id=session_id)
    except Forbidden as error:
        raise sessions.missing() from error


def store_next(*, row: Session, clean: Clean, now: datetime) -> int:
    """Store cleaned events behind the last of a locked session; return how many. In a unit.

    Each call of a tool is a step of its own. What has no moment happened now, and a call that is
    told with its result, and not how long it took, took all the time since the event before it.
    Raises RateLimited, InvalidInput as `append_events`.
    """
    last = _last(row)
    if last + len(clean.events) > event_parsing.SEQUENCE_MOST:
        raise wrong_field(
            pointer="/events",
            detail=message(
                "Use a whole number from 1 to {most}.", most=event_parsing.SEQUENCE_MOST
            ),
            code="range",
        )
    took = _took(row, clean, now)
    moved = {
        place: replace(
            event,
            sequence=last + event.sequence,
            step=(last + event.sequence + 1) // 2,
            at_seconds=now.timestamp() if event.at_seconds is None else event.at_seconds,
            took_seconds=_or(event, took),
        )
        for place, event in clean.events.items()
    }
    return _store(row, replace(clean, events=moved), now).stored


def _took(row: Session, clean: Clean, now: datetime) -> float | None:
    """Return how long the one call took that is told with its result; None where nobody knows."""
    kinds = [event.kind for event in clean.events.values()]
    if kinds != [EventKind.TOOL_CALL, EventKind.TOOL_RESULT] or not row.events:
        return None
    return max(0.0, (now - row.active_at).total_seconds())


def _or(event: Event, took: float | None) -> float | None:
    is_open = event.kind is EventKind.TOOL_RESULT and event.took_seconds is None
    return took if is_open else event.took_seconds


def cleaned(*, events: tuple[object, ...]) -> Clean:
    """Take secrets out of rows and read them. Outside of a unit. Raises InvalidInput."""
    if len(events) > MOST:
        raise wrong_field(
            pointer="/events",
            detail=message("Send at most {most} events in one call.", most=MOST),
            code="too_many",
        )
    kinds: dict[int, tuple[str, ...]] = {}
    known: dict[tuple[str, str], _Redacted] = {}
    rows: list[object] = []
    for position, event in enumerate(events):
        found: list[str] = []
        rows.append(event_masking.mask_texts(row=event, redact=_redactor(found, known)))
        if found:
            kinds[position] = tuple(found)
    batch = event_parsing.read_all(rows=tuple(rows))
    _check_any(batch)
    refused = {one.position for one in batch.refused}
    places = (place for place in range(len(rows)) if place not in refused)
    return Clean(batch=batch, events=dict(zip(places, batch.events, strict=True)), kinds=kinds)


def _redactor(found: list[str], known: dict[tuple[str, str], _Redacted]) -> event_masking.Redact:
    """Return what takes secrets out of a text and notes their kinds; the same text once a call."""

    def redact(name: str, text: str) -> str:
        if (name, text) not in known:
            known[name, text] = _redacted(name, text)
        kinds, clean = known[name, text]
        found.extend(kinds)
        return clean

    return redact


def _redacted(name: str, text: str) -> _Redacted:
    findings = scanner.find_spoken(text=text)
    if not findings and name:
        findings = _told_by_name(f"{name}: ", text)
    kinds = tuple(one.kind.value for one in findings)
    return kinds, secrets.redact(text=text, findings=findings) if findings else text


def _told_by_name(name: str, text: str) -> tuple[Finding, ...]:
    """Find what looks like a secret only beside its name, by its place in the text alone."""
    return tuple(
        replace(one, start=max(0, one.start - len(name)), end=one.end - len(name))
        for one in scanner.find_spoken(text=name + text)
        if one.end > len(name)
    )


def _check_any(batch: Batch) -> None:
    """Check that one row at least is an event. Raises InvalidInput naming the others."""
    if batch.events or not batch.refused:
        return
    errors = tuple(
        FieldError(
            pointer=f"/events/{one.position}/{one.field}".rstrip("/"),
            detail=message("This is no event: {reason}.", reason=one.reason.value),
            code=one.reason.value,
        )
        for one in batch.refused[:MOST_TOLD]
    )
    raise InvalidInput(
        detail=errors[0].detail,
        hint="An event has a sequence from 1 on and a kind; a call of a tool has its name.",
        errors=errors,
    )


def _store(row: Session, clean: Clean, now: datetime) -> AppendedEvents:
    """Store cleaned events under a locked session. In a unit."""
    asked = {event.sequence for event in clean.events.values()}
    last = _last(row)
    there = _there(row, asked) if min(asked, default=0) <= last else frozenset()
    rows: dict[int, table.Row] = {}
    masked: list[Masked] = []
    unknown = 0
    for place, event in _without_answers(row, clean.events).items():
        if event.sequence in there or event.sequence in rows:
            continue
        kinds = clean.kinds.get(place, ())
        rows[event.sequence] = _row(event, len(kinds), now)
        masked.extend(Masked(sequence=event.sequence, kind=kind) for kind in kinds)
        unknown += event.kind is EventKind.UNKNOWN
    _check_room(row, len(rows))
    if rows:
        is_late = _write(row, rows, now)
        is_bound = any(event.kind in BOUNDS for event in clean.events.values())
        _look_at(row, len(rows), is_bound=is_bound or is_late)
    return AppendedEvents(
        stored=len(rows),
        known=len(clean.events) - len(rows),
        unknown=unknown,
        last_sequence=max(last, row.events, *rows),
        refused=clean.batch.refused,
        masked=tuple(masked),
    )


def _there(row: Session, asked: set[int]) -> frozenset[int]:
    """Return those of some sequences that a session has. In a unit."""
    done = Turn.done.filter(session_id=row.id, sequence__in=asked)
    return frozenset(done.order_by().values_list("sequence", flat=True))


def _without_answers(row: Session, events: Mapping[int, Event]) -> Mapping[int, Event]:
    """Return events without the text of what Cairn's own tools answered."""
    results = {place: one for place, one in events.items() if one.kind is EventKind.TOOL_RESULT}
    names = _names(row, events.values(), tuple(results.values()))
    own = {
        place: replace(one, text="")
        for place, one in results.items()
        if one.text and tools.is_of_ours(name=one.name or names.get(one.call, ""))
    }
    return {**events, **own}


def _names(row: Session, events: Iterable[Event], results: tuple[Event, ...]) -> Mapping[str, str]:
    """Return by call the name of its tool, for results that do not name it. In a unit."""
    asked = {one.call for one in results if one.call and not one.name}
    names = {one.call: one.name for one in events if one.kind is EventKind.TOOL_CALL and one.call}
    if missing := asked - names.keys():
        before = Turn.done.filter(
            session=row, body__kind=EventKind.TOOL_CALL.value, body__call__in=sorted(missing)
        )
        names.update(before.values_list("body__call", "body__name"))
    return names


def _row(event: Event, masked: int, now: datetime) -> table.Row:
    seconds = event.at_seconds
    return {
        "sequence": event.sequence,
        "body": event_storage.to_row(event=event),
        "masked": min(masked, MOST_MASKED),
        "at": now if seconds is None else datetime.fromtimestamp(seconds, tz=UTC),
    }


def _write(row: Session, rows: Mapping[int, table.Row], now: datetime) -> bool:
    """Write events; say whether one came so late that all have to be looked at again."""
    is_late = table.append(session_id=row.id, events=rows, now=now)
    row.events += len(rows)
    row.folded = 0 if is_late else row.folded  # what came late is read in its place
    row.active_at, row.state, row.ended_at = now, "open", None
    return is_late


def is_full(*, row: Session) -> bool:
    """Say whether a session may have no room for another call's events."""
    return row.events > MOST_OF_SESSION - MOST


def _check_room(row: Session, new: int) -> None:
    if row.events + new > MOST_OF_SESSION:
        raise wrong_field(
            pointer="/events",
            detail=message("A session has at most {most} events.", most=MOST_OF_SESSION),
            hint="End this session and open another one of the same thread.",
            code="too_many",
        )
    if new and row.memory_eligible and row.events + new - row.folded > MOST_BEHIND:
        raise RateLimited(
            detail="More events came than could be looked at.", retry_after_seconds=WAIT_SECONDS
        )


def _look_at(row: Session, new: int, *, is_bound: bool) -> None:
    """Queue a look at the session when enough has happened."""
    is_due = row.events // EVERY > (row.events - new) // EVERY
    if row.memory_eligible and (is_due or is_bound):
        jobs.enqueue(
            JOB,
            payload={"ids": [str(row.id)]},
            key=row.id.hex,
            created_by=row.opened_by or row.token_id,
        )


def _last(row: Session) -> int:
    last = table.last(session_id=row.id)
    return max(last, row.events)  # the first may be forgotten; no number is used twice
