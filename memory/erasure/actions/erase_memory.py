"""Delete one memory for good: its words, what repeats them, and what the feed has said of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller, decides_in_person, is_person
from accounts.errors import Forbidden
from memory.documents.models import NoteVersion
from memory.erasure.actions import rows
from memory.records import protection, writes
from memory.records.models import Conflict, Memory
from memory.records.queries import memories, views
from memory.sessions import queries as sessions
from teams import changes, visibility
from teams.permissions import Act, allows, require

ACT: Final = "memory.erased"
MOST_PLACES: Final = 50  # sessions, and notes, that a receipt names


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """What was deleted, in numbers, and where its words still stand: in these sessions and notes.

    Of those, the ones that who deleted it may see, at most 50 of each; notes by their path.
    """

    memory_id: UUID
    versions: int
    links: int
    copies: int
    archived: int
    derived: int
    said_in: tuple[UUID, ...]
    notes: tuple[str, ...]
    erased_at: datetime


def erase_memory(
    *, caller: Caller, memory_id: UUID, if_version: int | None, now: datetime
) -> ErasureReceipt:
    """Delete a memory of any status for good; its author may in person, and an admin who sees it.

    Raises NotFound, PreconditionFailed, and Forbidden for agents and for who may not.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        # whoever settles a conflict locks it before its memories
        sides = Conflict.objects.filter(Q(older=memory_id) | Q(newer=memory_id)).order_by("id")
        list(sides.select_for_update().values_list("id"))
        row = memories.lock_memory(caller=caller, memory_id=memory_id)
        if not decides_in_person(caller=caller):
            raise Forbidden(
                detail="An agent cannot permanently delete memories.",
                hint="Archive it, or delete it on its page in the dashboard.",
            )
        protection.check_version(row=row, if_version=if_version)
        if not may_erase(caller=caller, author_user=row.author_user):
            raise Forbidden(
                detail="Only who added a memory, or an admin in person, can delete it for good.",
                hint="Archive it, or ask one of them.",
            )
        said_in, notes = _places(caller, row)
        audience, project_id = row.audience, row.project_id
        done = rows.erase_rows(memory_ids=(row.id,), actor=caller, now=now)
        changes.append(
            kind=ACT,
            object_id=memory_id,
            project_id=project_id,
            audience=audience,
            caller=caller,
            summary={},
        )
        numbers = _numbers(caller, done)
        writes.record(caller=caller, act=ACT, memory_id=memory_id, details=numbers)
    return ErasureReceipt(
        memory_id=memory_id, said_in=said_in, notes=notes, erased_at=now, **numbers
    )


def may_erase(*, caller: Caller, author_user: UUID | None) -> bool:
    """Say whether a caller may delete for good what this person added and the caller sees."""
    is_own = author_user is not None and author_user == caller.user_id
    return is_own or (
        is_person(caller=caller) and allows(role=caller.role, act=Act.MANAGE_SETTINGS)
    )


def _numbers(caller: Caller, done: rows.Erased) -> dict[str, int]:
    """Return what the receipt says in numbers; of other memories it counts what the caller sees."""
    others = {"links": done.linked, "archived": done.archived, "derived": done.derived}
    seen = views.visible(caller=caller)
    counts = {name: seen.filter(pk__in=ids).count() for name, ids in others.items()}
    return {"versions": done.versions, "copies": done.copies, **counts}


def _places(caller: Caller, row: Memory) -> tuple[tuple[UUID, ...], tuple[str, ...]]:
    """Return the sessions and the notes that have its words, as far as the caller sees them."""
    said = {one for one in (row.session_id, *row.provenance_sessions) if one is not None}
    seen = sessions.visible(caller=caller).filter(pk__in=said).order_by("opened_at", "id")
    of_place = visibility.as_q(sight=visibility.sight_of(caller=caller))
    kept = NoteVersion.objects.filter(of_place, path=row.source_uri)
    paths = (
        kept.filter(project_id__in=[row.project_id])
        .order_by("path")
        .values_list("path", flat=True)
        .distinct()
    )
    return tuple(seen.values_list("id", flat=True)[:MOST_PLACES]), tuple(paths[:MOST_PLACES])
