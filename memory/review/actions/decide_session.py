"""Decide about what a session came to, all at once or memory by memory.

One transaction: either every verdict stands, or none. Each is the verdict of the review inbox, with
its rules: who proposed does not approve, and a taint is lifted in person alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, FieldError, InvalidInput, wrong_field
from accounts.messages import message
from memory.intake.actions.remember import Prepared
from memory.records.actions.validation import check_reason
from memory.records.models import Memory
from memory.review.actions import correct, keep, reject, snooze
from memory.review.actions import verdict as review_verdict
from memory.review.actions.correct import Correction
from memory.review.queries import session_summary
from memory.review.queries.session_summary import Summary
from memory.sessions.models import Session
from memory.sessions.queries import sessions
from teams import audit
from teams.permissions import Act, require

VERDICTS: Final = ("keep", "edit", "reject", "later")
MOST: Final = 200  # verdicts a call, ours
LATER_DAYS: Final = 7  # that “later” is, ours
EDITED: Final = "wrong"  # kind of the correction


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVerdict:
    """What somebody decides about one memory; `content` is what is right instead."""

    memory_id: UUID
    verdict: str
    content: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """All others that wait, which are kept; `count`, where somebody has counted them before."""

    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDecided:
    """How many memories were decided how, what the session comes to now, and what can be undone.

    `reviews` names the verdicts that stand in the way back, in the order of the memories; an edit
    that was merged into another memory has none.
    """

    decided: Mapping[str, int]
    summary: Summary
    reviews: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """A verdict with the edit that is made ready for it, where it is one."""

    verdict: NewVerdict
    edit: Prepared | None = None


def decide_session(
    *,
    caller: Caller,
    session_id: UUID,
    verdicts: tuple[NewVerdict, ...],
    others: Others | None,
    now: datetime,
) -> SessionDecided:
    """Decide about memories of a session; `others` keeps all others that wait for the caller.

    Raises InvalidInput naming the verdict, NotFound for a session or a memory that is not of it,
    Conflict where one waits no more or others wait than were counted, and what each verdict raises.
    """
    require(caller=caller, act=Act.CONFIRM)
    _check(verdicts, others)
    with tenancy.unit():
        row = sessions.find(caller=caller, session_id=session_id)
        of_it = set(session_summary.candidate_ids(caller=caller, session=row))
    for place, one in enumerate(verdicts):
        _check_of_it(place, one, of_it)
    prepared = tuple(_prepared(caller, one) for one in verdicts)
    with tenancy.unit(), transaction.atomic():
        kept = () if others is None else _others(caller, row, verdicts, now)
        _check_count(others, kept)
        _lock((*(one.memory_id for one in verdicts), *kept))
        done: dict[str, list[UUID]] = {}
        reviews: list[UUID | None] = []
        for made in (*prepared, *(_kept(one) for one in kept)):
            reviews.append(_decided(caller, made, now))
            done.setdefault(made.verdict.verdict, []).append(made.verdict.memory_id)
        _record(caller, row, done)
        return SessionDecided(
            decided={name: len(ids) for name, ids in done.items()},
            summary=session_summary.read(caller=caller, session_id=session_id, now=now),
            reviews=tuple(one for one in reviews if one is not None),
        )


def _check(verdicts: tuple[NewVerdict, ...], others: Others | None) -> None:
    """Check the shape of verdicts. Raises InvalidInput naming the first that is wrong."""
    if not verdicts and others is None:
        raise InvalidInput(
            detail="There is nothing to decide.",
            hint=message("Choose memories, and one of: {names}.", names=VERDICTS),
            errors=tuple(
                FieldError(pointer=pointer, detail="Give one of the two.", code="required")
                for pointer in ("/verdicts", "/save_all")
            ),
        )
    ids = [one.memory_id for one in verdicts]
    for place, one in enumerate(verdicts):
        if one.memory_id in ids[:place]:
            raise wrong_field(
                pointer=f"/verdicts/{place}/memory_id",
                detail="This memory is decided twice in one call.",
                code="twice",
            )
        if one.verdict == "edit" and not one.content.strip():
            raise wrong_field(
                pointer=f"/verdicts/{place}/content",
                detail="An edit says what is right instead.",
                code="required",
            )
        check_reason(reason=one.reason)


def _check_of_it(place: int, one: NewVerdict, of_it: set[UUID]) -> None:
    """Check that a memory is one of the session's. Raises InvalidInput; others are as none."""
    if one.memory_id not in of_it:
        raise wrong_field(
            pointer=f"/verdicts/{place}/memory_id",
            detail="This session came to no such memory.",
            hint="GET /api/v1/sessions/{id}/summary lists those it came to.",
            code="unknown",
        )


def _prepared(caller: Caller, one: NewVerdict) -> _Prepared:
    if one.verdict != "edit":
        return _Prepared(verdict=one)
    edit = correct.prepare_edit(caller=caller, memory_id=one.memory_id, correction=_correction(one))
    return _Prepared(verdict=one, edit=edit)


def _kept(memory_id: UUID) -> _Prepared:
    return _Prepared(verdict=NewVerdict(memory_id=memory_id, verdict="keep"))


def _correction(one: NewVerdict) -> Correction:
    return Correction(content=one.content, kind=EDITED, reason=one.reason)


def _decided(caller: Caller, one: _Prepared, now: datetime) -> UUID | None:
    """Carry out one verdict; return the review that undoes it. In a unit."""
    given = one.verdict
    memory_id = given.memory_id
    if one.edit is not None:
        review_verdict.lock_waiting(caller=caller, memory_id=memory_id)
        return correct.apply(
            caller=caller,
            memory_id=memory_id,
            correction=_correction(given),
            prepared=one.edit,
            now=now,
        ).review_id
    if given.verdict == "keep":
        return keep.apply(caller=caller, memory_id=memory_id, now=now).review_id
    if given.verdict == "reject":
        reason = given.reason
        return reject.apply(caller=caller, memory_id=memory_id, reason=reason, now=now).review_id
    until = now + timedelta(days=LATER_DAYS)
    return snooze.apply(caller=caller, memory_id=memory_id, until=until, now=now).review_id


def _others(
    caller: Caller, row: Session, verdicts: tuple[NewVerdict, ...], now: datetime
) -> tuple[UUID, ...]:
    """Return what waits for the caller and was not named. In a unit."""
    named = {one.memory_id for one in verdicts}
    waiting = session_summary.waiting_ids(caller=caller, session=row, now=now)
    return tuple(one for one in waiting if one not in named)


def _check_count(others: Others | None, kept: tuple[UUID, ...]) -> None:
    """Check that nothing came in since somebody counted. Raises Conflict."""
    if others is None or others.count in {None, len(kept)}:
        return
    raise Conflict(
        detail=message(
            "{count} wait here now, not {counted}.", count=len(kept), counted=others.count
        ),
        hint="Look at the list again and type the number that it says.",
    )


def _lock(memory_ids: tuple[UUID, ...]) -> None:
    """Lock what is decided in the order in which everybody does. In a unit."""
    rows = Memory.objects.select_for_update().filter(pk__in=memory_ids)
    list(rows.order_by("id").values_list("id", flat=True))


def _record(caller: Caller, row: Session, done: Mapping[str, list[UUID]]) -> None:
    audit.append(
        act="session.decided",
        object_type="session",
        object_id=str(row.id),
        caller=caller,
        details={name: [str(one) for one in ids] for name, ids in done.items() if ids},
    )
