"""Append turns to a session, or take a whole conversation at once; no model is asked.

A conversation that holds a secret is not refused, because it would be lost; the secret is taken out
before anything is stored, and who sent it is told of which kind it was, and in which turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Min

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.secrets import findings as secrets
from memory.secrets import scanner
from memory.sessions import queries as sessions
from memory.sessions.actions import hook_rows, lifecycle
from memory.sessions.actions.lifecycle import NewSession
from memory.sessions.models import OF_PROGRAM, Session, Turn
from memory.sessions.turns import Speaker
from teams import audit
from teams.permissions import Act, require

HANDED_IN: Final = "handed_in"  # in what a session has shown: the taint of who told its turns
OF_AN_EVENT: Final = 2  # turns at most that a program tells at once: what both sides said
LARGEST_SEQUENCE: Final = 2_147_483_647  # of an integer column
MOST_MASKED: Final = 32_767  # of a small integer column

# Defaults, not measured.
MOST: Final = 200  # turns a call
MOST_OF_SESSION: Final = 10_000  # turns
LONGEST_TURN: Final = 100_000  # characters; the body's bound is 1 MiB


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """One turn; without a sequence it comes after the last."""

    role: str
    text: str
    sequence: int | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedSecret:
    """A secret that was taken out: in which turn, and of which kind."""

    sequence: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """How many turns are new and how many were there already, and what was taken out of them."""

    stored: int
    known: int
    last_sequence: int
    masked: tuple[MaskedSecret, ...]


Clean = tuple[NewTurn, tuple[str, ...]]  # a turn that may be stored, the kinds of what it held


def append_turns(
    *, caller: Caller, session_id: UUID, turns: tuple[NewTurn, ...], now: datetime
) -> Appended:
    """Append turns; one whose sequence is there already changes nothing.

    A session that had ended is open again. Raises InvalidInput naming the field, NotFound, and
    Forbidden for a session that somebody else opened.
    """
    require(caller=caller, act=Act.WRITE)
    clean = cleaned(turns=turns)
    with tenancy.unit():
        row = sessions.hold_own(caller=caller, session_id=session_id)
        done = store(row=row, clean=clean, now=now)
        audit.append(
            "session.turns_appended",
            "session",
            str(row.id),
            caller=caller,
            details={"stored": done.stored, "known": done.known, "masked": len(done.masked)},
        )
        return done


def store_next(
    *, row: Session, clean: tuple[Clean, ...], now: datetime, is_of_program: bool
) -> None:
    """Store cleaned turns that hooks tell under a locked session, behind the last. In a unit.

    What its transcript has told already is not stored again. `is_of_program`: a program that is
    known by name tells them, so that what a person said counts as theirs.
    """
    ends = Turn.objects.filter(session=row).aggregate(first=Min("sequence"), last=Max("sequence"))
    if (ends["first"] or hook_rows.FIRST) < hook_rows.FIRST:
        clean = tuple(
            (turn, kinds)
            for turn, kinds in clean
            if not hook_rows.is_told(row=row, role=turn.role, text=turn.text, now=now)
        )
    last = max(ends["last"] or 0, hook_rows.FIRST)
    numbered = tuple(
        (replace(turn, sequence=sequence), kinds)
        for sequence, (turn, kinds) in enumerate(clean, last + 1)
    )
    store(row=row, clean=numbered, now=now, body={OF_PROGRAM: True} if is_of_program else None)


def store(
    *,
    row: Session,
    clean: tuple[Clean, ...],
    now: datetime,
    body: Mapping[str, bool] | None = None,
) -> Appended:
    """Store cleaned turns under a locked session. In a unit."""
    asked = {turn.sequence for turn, _ in clean if turn.sequence}
    mine = Turn.objects.filter(session=row)
    sums = mine.aggregate(last=Max("sequence", default=0), count=Count("pk"))
    there = set(mine.filter(sequence__in=asked).values_list("sequence", flat=True))
    last = sums["last"]
    rows: dict[int, Turn] = {}
    masked: list[MaskedSecret] = []
    for place, (turn, kinds) in enumerate(clean):
        sequence = turn.sequence or last + 1
        _check_sequence(place, sequence)
        last = max(last, sequence)
        if sequence in there:
            continue
        there.add(sequence)
        rows[sequence] = Turn(
            session=row,
            sequence=sequence,
            role=turn.role,
            text=turn.text,
            body=body,
            masked=min(len(kinds), MOST_MASKED),
            at=turn.at or now,
        )
        masked.extend(MaskedSecret(sequence=sequence, kind=kind) for kind in kinds)
    rows = hook_rows.adopt_turns(row=row, new=rows, last=sums["last"])
    if sums["count"] + len(rows) > MOST_OF_SESSION:
        raise wrong_field(
            pointer="/turns",
            detail=message("A session has at most {most} turns.", most=MOST_OF_SESSION),
            hint="End this session and open another one of the same thread.",
            code="too_many",
        )
    if rows:
        Turn.objects.bulk_create(rows.values())
        row.active_at, row.state, row.ended_at = now, "open", None
        row.taken_through = min(row.taken_through, min(rows) - 1)  # what came late is read too
        row.save(update_fields=["active_at", "state", "ended_at", "taken_through"])
    known = len(clean) - len(rows)
    return Appended(stored=len(rows), known=known, last_sequence=last, masked=tuple(masked))


def cleaned(*, turns: tuple[NewTurn, ...]) -> tuple[Clean, ...]:
    """Check turns and take secrets out of them. Outside of a unit. Raises InvalidInput."""
    found: list[Clean] = []
    for place, turn in enumerate(turns):
        at = f"/turns/{place}"
        roles = tuple(speaker.value for speaker in Speaker)
        if turn.role not in roles:
            detail = message("{value!r} is not one of: {names}.", value=turn.role, names=roles)
            raise wrong_field(pointer=f"{at}/role", detail=detail, code="choice")
        lifecycle.check_field(pointer=f"{at}/text", text=turn.text, longest=LONGEST_TURN)
        if turn.sequence is not None:
            _check_sequence(place, turn.sequence)
        findings = scanner.find_secrets(text=turn.text, is_spoken=True)
        text = secrets.redact(text=turn.text, findings=findings) if findings else turn.text
        kinds = tuple(one.kind.value for one in findings)
        found.append((replace(turn, text=text), kinds))
    return tuple(found)


def _check_sequence(place: int, sequence: int) -> None:
    """Check the sequence of a turn, also one that it has as the next after the last."""
    if not 1 <= sequence <= LARGEST_SEQUENCE:
        detail = message("Use a whole number from 1 to {most}.", most=LARGEST_SEQUENCE)
        raise wrong_field(pointer=f"/turns/{place}/sequence", detail=detail, code="range")


def is_full(*, row: Session) -> bool:
    """Say whether a session may have no room for what one more event of its program says."""
    return Turn.objects.filter(session_id=row.id).count() > MOST_OF_SESSION - OF_AN_EVENT


Taken = tuple[UUID, UUID | None, Appended]  # the session, the job that reads it, its turns


def take_conversation(
    *,
    caller: Caller,
    new: NewSession,
    turns: tuple[NewTurn, ...],
    now: datetime,
    taint: str = "",
) -> Taken:
    """Store a conversation as an ended session; sent again under its external id, only what is new.

    Who hands it in says what a person said in it, so no word of it counts as a person's; `taint` is
    the outside content that they have seen.

    Raises InvalidInput naming the field, NotFound for a project the caller cannot see,
    NotBoundToProject, and Forbidden for a session of somebody else.
    """
    require(caller=caller, act=Act.WRITE)
    lifecycle.check(new=new)
    clean = cleaned(turns=turns)
    try:
        with tenancy.unit(), transaction.atomic():
            return _taken(caller, new, clean, taint, now)
    except IntegrityError:  # somebody handed it in between our look and our write: add to theirs
        with tenancy.unit():
            return _taken(caller, new, clean, taint, now)


def _taken(
    caller: Caller, new: NewSession, clean: tuple[Clean, ...], taint: str, now: datetime
) -> Taken:
    placed = lifecycle.place_session(caller=caller, new=new, now=now)
    if placed.is_new:
        lifecycle.close_others(caller=caller, row=placed.row, now=now)
    row = sessions.hold_own(caller=caller, session_id=placed.row.id)
    seen = row.observed or {}
    row.observed = {**seen, HANDED_IN: seen.get(HANDED_IN) or taint}
    row.save(update_fields=["observed"])
    done = store(row=row, clean=clean, now=now)
    is_open = row.state == "open"
    job_id = lifecycle.close(rows=(row,), now=now)[0] if is_open else None
    audit.append(
        "session.taken",
        "session",
        str(row.id),
        caller=caller,
        details={"stored": done.stored, "known": done.known, "masked": len(done.masked)},
    )
    return row.id, job_id, done
