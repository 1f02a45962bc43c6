"""Decide about several memories in one transaction: all of them, or none.

`decide_bulk` gives one verdict to those that are selected, or to all that a group or an import
holds; then the caller says how many that are, and nothing is done when there are others by now.
`decide_session` gives each memory that a session came to a verdict of its own. Both use the table
of verdicts, with its rules: who proposed does not approve, and a taint is lifted in person alone.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, FieldError, InvalidInput, wrong_field
from accounts.messages import message
from memory.intake.actions.remember import Prepared
from memory.records import actions, protection
from memory.records.models import Memory
from memory.records.queries import pending
from memory.review.actions import corrections
from memory.review.actions.verdicts import VERBS
from memory.review.queries import inbox
from memory.sessions import queries as sessions
from teams import audit
from teams.permissions import Act, require

SESSION_VERDICTS: Final = ("keep", "share", "edit", "reject", "later")
MOST_VERDICTS: Final = 200  # of a session in one call; default, not measured
LATER: Final = timedelta(days=7)  # how long “later” is; default, not measured
EDITED: Final = "wrong"  # kind of the correction


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingGroup:
    """All that waits in a group of a project, or of an import; the caller counted it.

    Of more than can be decided at once those that wait longest, and that many are counted.
    """

    project: str | None
    group: pending.Group | None
    count: int
    imported: QuerySet[Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionVerdict:
    """What somebody decides about one memory; `content` is what is right instead."""

    memory_id: UUID
    verdict: str
    content: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDecided:
    """How many memories were decided how, what the session comes to now, and what can be undone.

    `reviews` names the verdicts that can be undone, in the order of the memories; an edit that was
    merged into another memory has none.
    """

    decided: Mapping[str, int]
    summary: inbox.SessionSummary
    reviews: tuple[UUID, ...]


def decide_bulk(
    *,
    caller: Caller,
    verb: str,
    chosen: tuple[UUID, ...] | WaitingGroup,
    details: actions.VerbDetails,
    now: datetime,
) -> tuple[actions.DecidedMemory, ...]:
    """Decide about each memory in one transaction, in the order of their ids.

    Raises what `apply_each` raises, and Conflict when there are more or fewer than counted.
    """
    return actions.apply_each(
        caller=caller,
        verbs=VERBS,
        name=verb,
        select=lambda: _find_ids(caller, chosen, now),
        details=details,
        now=now,
    )


def decide_session(
    *,
    caller: Caller,
    session_id: UUID,
    verdicts: tuple[SessionVerdict, ...],
    save_all: bool,
    count: int | None,
    now: datetime,
) -> SessionDecided:
    """Decide about memories of a session; `save_all` keeps all others that wait for the caller.

    `count` is how many these are, where somebody has counted them before.

    Raises InvalidInput naming the verdict, NotFound for a session or a memory that is not of it,
    Conflict where one waits no more or others wait than were counted, and what each verdict raises.
    """
    require(caller=caller, act=Act.CONFIRM)
    _check_verdicts(verdicts, save_all)
    with tenancy.unit():
        row = sessions.find(caller=caller, session_id=session_id)
        known = set(inbox.candidate_ids(caller=caller, session=row))
    _check_members(verdicts, known)
    edits = {
        one.memory_id: corrections.prepare_edit(
            caller=caller, memory_id=one.memory_id, correction=_correction(one)
        )
        for one in verdicts
        if one.verdict == "edit"
    }
    with tenancy.unit(), transaction.atomic():
        kept: tuple[SessionVerdict, ...] = ()
        if save_all:
            named = {one.memory_id for one in verdicts}
            waiting = inbox.session_waiting_ids(caller=caller, session=row, now=now)
            ids = (one for one in waiting if one not in named)
            kept = tuple(SessionVerdict(memory_id=one, verdict="keep") for one in ids)
            _check_count(len(kept), count)
        done, reviews = _apply_each(caller, (*verdicts, *kept), edits, now)
        audit.append("session.decided", "session", str(row.id), caller=caller, details=done)
        return SessionDecided(
            decided={name: len(ids) for name, ids in done.items()},
            summary=inbox.read_summary(caller=caller, session_id=session_id, now=now),
            reviews=reviews,
        )


def _find_ids(
    caller: Caller, chosen: tuple[UUID, ...] | WaitingGroup, now: datetime
) -> tuple[UUID, ...]:
    if isinstance(chosen, tuple):
        return chosen
    found = inbox.waiting_ids(
        caller=caller,
        project=chosen.project,
        group=chosen.group,
        imported=chosen.imported,
        most=actions.MOST_IN_BULK,
        now=now,
    )
    _check_count(len(found), chosen.count)
    return found


def _check_count(count: int, counted: int | None) -> None:
    """Check that nothing came or went since somebody counted. Raises Conflict."""
    if counted not in {None, count}:
        raise Conflict(
            detail=message("{count} wait here now, not {counted}.", count=count, counted=counted),
            hint="Look at the list again and type the number that it says.",
        )


def _check_members(verdicts: tuple[SessionVerdict, ...], known: Set[UUID]) -> None:
    """Check that a session came to each memory. Raises InvalidInput naming the first other."""
    for place, one in enumerate(verdicts):
        if one.memory_id not in known:
            raise wrong_field(
                pointer=f"/verdicts/{place}/memory_id",
                detail="This session came to no such memory.",
                hint="GET /api/v1/sessions/{id}/summary lists those it came to.",
                code="unknown",
            )


def _check_verdicts(verdicts: tuple[SessionVerdict, ...], save_all: bool) -> None:
    """Check the shape of verdicts. Raises InvalidInput naming the first that is wrong."""
    if not (verdicts or save_all):
        raise InvalidInput(
            detail="There is nothing to decide.",
            hint=message("Choose memories, and one of: {names}.", names=SESSION_VERDICTS),
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
        protection.check_reason(reason=one.reason)


def _correction(one: SessionVerdict) -> corrections.Correction:
    return corrections.Correction(content=one.content, kind=EDITED, reason=one.reason)


def _apply_each(
    caller: Caller,
    verdicts: tuple[SessionVerdict, ...],
    edits: Mapping[UUID, Prepared],
    now: datetime,
) -> tuple[dict[str, list[str]], tuple[UUID, ...]]:
    """Carry out each verdict; return what was decided how, and what undoes it. In a unit."""
    rows = Memory.objects.select_for_update().filter(pk__in=[one.memory_id for one in verdicts])
    list(rows.order_by("id").values_list("id", flat=True))  # locked in the order of everybody
    done: dict[str, list[str]] = {}
    reviews: list[UUID | None] = []
    for one in verdicts:
        memory_id = one.memory_id
        if memory_id in edits:
            actions.lock_waiting(caller=caller, memory_id=memory_id)
            made = corrections.apply_edit(
                caller=caller,
                memory_id=memory_id,
                correction=_correction(one),
                prepared=edits[memory_id],
                now=now,
            )
            reviews.append(made.review_id)
        else:
            verb = VERBS["snooze" if one.verdict == "later" else one.verdict]
            details = actions.VerbDetails(reason=one.reason, until=now + LATER)
            reviews.append(verb.apply(caller, memory_id, details, now).review_id)
        done.setdefault(one.verdict, []).append(str(memory_id))
    return done, tuple(one for one in reviews if one is not None)
