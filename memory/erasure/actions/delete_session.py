"""Delete a session for good: what was said, what was done, and what points back at it.

Memories that were taken from it are kept without their origin, or deleted with it on request: rows,
vectors, words, versions, links, and what the change feed said of them. Kept are those that another
session has said as well, those that have left the place where the session stands, and those that
somebody stands for: verified by a person, pinned, of governance layer 1, and of layer 2 where no
person asks in person. The audit log says who deleted how much, and nothing of what it was.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller, decides_in_person, is_person
from accounts.errors import Conflict, Forbidden
from memory import sql_queries
from memory.erasure.actions import rows
from memory.observer.actions import prior_sessions
from memory.records.models import Memory
from memory.sessions import queries as sessions
from memory.sessions.actions import trust
from memory.sessions.models import GivenOut, Session, Turn
from memory.taxonomy import Governance
from teams import audit
from teams.permissions import Act, allows, require

FILE: Final = "sessions/sql/sessions.sql"


class Fate(StrEnum):
    """What becomes of the memories that were taken from a session."""

    KEEP = "keep"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was deleted, in numbers; `memories_kept` lost their origin alone."""

    session_id: UUID
    turns: int
    events: int
    memories_deleted: int
    memories_kept: int
    given_back: int
    deleted_at: datetime


def delete_session(*, caller: Caller, session_id: UUID, memories: Fate, now: datetime) -> Receipt:
    """Delete a session for good; its opener may, and an admin one that they see.

    No agent deletes memories with it: a person does, by whatever credential they decide.

    Raises NotFound, Forbidden, and Conflict while a job reads it.
    """
    require(caller=caller, act=Act.WRITE)
    if memories is Fate.DELETE and not decides_in_person(caller=caller):
        raise Forbidden(
            detail="An agent cannot permanently delete memories.",
            hint="Keep them, or delete in the dashboard or with a token of the scope review.",
        )
    with tenancy.unit():
        row = sessions.hold(caller=caller, session_id=session_id)
        if not may_delete(caller=caller, opened_by=row.opened_by):
            raise Forbidden(
                detail="Only the person who opened a session, or an admin in person,"
                " can delete it.",
                hint="Ask one of them.",
            )
        if row.read_by is not None and row.read_until is not None and row.read_until > now:
            raise Conflict(
                detail="A job reads this session now.", hint="Try again in a few minutes."
            )
        receipt = _deleted(caller, row, memories, now)
        audit.append(
            "session.deleted",
            "session",
            str(session_id),
            caller=caller,
            details={
                name: number for name, number in asdict(receipt).items() if isinstance(number, int)
            },
        )
        return receipt


def may_delete(*, caller: Caller, opened_by: UUID | None) -> bool:
    """Say whether a caller may delete a session that it sees."""
    is_own = opened_by is not None and opened_by == caller.user_id
    return is_own or (
        is_person(caller=caller) and allows(role=caller.role, act=Act.MANAGE_SETTINGS)
    )


def _deleted(caller: Caller, row: Session, memories: Fate, now: datetime) -> Receipt:
    place = {"audience": row.audience, "project": row.project_id}
    session_id = row.id
    turns, events = row.turns.count(), Turn.done.filter(session=row).count()
    trust.keep_session_evidence(row=row, now=now)
    erased = _erased(caller, row, now) if memories is Fate.DELETE else 0
    kept = rows.strip_provenance(session_ids=(session_id,))
    sql_queries.execute("fold_given", file=FILE, session=session_id)
    GivenOut.all_rows.filter(session_id=session_id, withheld=True).delete()
    given, _ = GivenOut.objects.filter(session_id=session_id).delete()
    prior_sessions.take_back(row=row, now=now)
    sql_queries.execute("drop_notes", file=FILE, since=row.opened_at, **place)
    row.delete()
    return Receipt(
        session_id=session_id,
        turns=turns,
        events=events,
        memories_deleted=erased,
        memories_kept=kept,
        given_back=given,
        deleted_at=now,
    )


def _erased(caller: Caller, row: Session, now: datetime) -> int:
    """Delete the memories of a session alone that still stand there, and that nobody stands for.

    Those that it taught its author alone go as well, and what it proposed to its project and nobody
    has kept.
    """
    proposed = Q(audience=row.project_id, needs_review=True)
    own = Q(audience__in=[one for one in (row.audience, row.opened_by) if one is not None])
    held = Memory.objects.select_for_update().filter(own | proposed, session_id=row.id)
    found = held.filter(project=row.project_id).order_by("id")
    kept = Governance.CONSTITUTIONAL if is_person(caller=caller) else Governance.LEGISLATIVE
    ids: list[UUID] = []
    for one in found:
        is_stood_for = one.user_verified or one.pinned or one.governance <= kept
        if set(one.provenance_sessions) <= {row.id} and not is_stood_for:
            ids.append(one.id)
    rows.erase_rows(memory_ids=ids, actor=caller, now=now)
    return len(ids)
