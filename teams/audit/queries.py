"""The audit log as people read it, as operators export it, and whether it still holds.

Pages and REST show it to who manages the organization; commands ask as the installation itself,
inside the organization. Entries hold ids, never contents, so personal memories stay personal.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from accounts import rights, tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.models import AuditRoot
from teams import changes
from teams.audit import chain
from teams.audit.chain import Entry, Head, Verdict
from teams.models import AuditEntry

CHUNK: Final = 2_000  # entries read at once
AREAS: Final = (
    "organization",
    "member",
    "invitation",
    "token",
    "project",
    "team",
    "memory",
    "entity",
    "session",
    "import",
    "note",
    "model",
    "job",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which entries are asked for; an area is the first part of acts, as `memory`."""

    area: str | None = None
    actor: UUID | None = None
    object_id: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Entries, newest first, and where the next page begins (None: this is the last)."""

    items: tuple[Entry, ...]
    next_cursor: str | None


def page(*, caller: Caller, filters: Filters, cursor: str | None, limit: int) -> Page:
    """Return a page of the log. Raises RoleNotSufficient but for managers, InvalidInput."""
    rights.check_manages(caller=caller)
    with tenancy.unit():
        rows = _chosen(filters)
        if cursor is not None:
            rows = rows.filter(number__lt=_number(cursor))
        found = tuple(_entry(row) for row in rows.order_by("-number")[: limit + 1])
    items = found[:limit]
    return Page(items=items, next_cursor=str(items[-1].number) if len(found) > limit else None)


def every_entry() -> Iterator[Entry]:
    """Yield the whole log of the entered organization, oldest first."""
    last = 0
    while chunk := _after(last):
        yield from chunk
        last = chunk[-1].number


def verify(*, mark: Head | None = None) -> Verdict:
    """Check the chain of the entered organization from its beginning to its head.

    `mark` is a head that was noted elsewhere. Writers wait only while the last entries are read.
    """
    with tenancy.unit():
        return chain.verify(
            tenant_id=tenancy.current().organization_id,
            entries=_until_the_end(),
            head=_head,
            mark=mark,
        )


def _until_the_end() -> Iterator[Entry]:
    """Yield every row by number; the last ones, and then the head, stand still while asked."""
    last: int | None = None
    is_held = False
    while True:
        chunk = _read(last)
        yield from chunk
        last = chunk[-1].number if chunk else last
        if len(chunk) == CHUNK:
            continue
        if is_held:
            return
        changes.take_turn()
        is_held = True


def _after(last: int) -> tuple[Entry, ...]:
    with tenancy.unit():
        return _read(last)


def _read(last: int | None) -> tuple[Entry, ...]:
    rows = AuditEntry.objects.order_by("number")
    if last is not None:
        rows = rows.filter(number__gt=last)
    return tuple(_entry(row) for row in rows[:CHUNK])


def _head() -> Head | None:
    tenant_id = tenancy.current().organization_id
    root = AuditRoot.objects.filter(pk=tenant_id).first()
    return None if root is None else Head(count=root.count, hash=root.hash)


def _chosen(filters: Filters) -> QuerySet[AuditEntry]:
    rows = AuditEntry.objects.all()
    if filters.area is not None:
        rows = rows.filter(act__startswith=f"{filters.area}.")
    if filters.actor is not None:
        rows = rows.filter(actor_user=filters.actor)
    if filters.object_id is not None:
        rows = rows.filter(object_id=filters.object_id)
    if filters.request_id is not None:
        rows = rows.filter(request_id=filters.request_id)
    return rows


def _number(cursor: str) -> int:
    if not cursor.isascii() or not cursor.isdecimal() or len(cursor) > len(str(2**63)) - 1:
        raise wrong_field(pointer="/cursor", detail="The cursor is not one of ours.")
    return int(cursor)


def _entry(row: AuditEntry) -> Entry:
    return Entry(
        number=row.number,
        act=row.act,
        object_type=row.object_type,
        object_id=row.object_id,
        actor_user=row.actor_user,
        token_id=row.token_id,
        agent=row.agent,
        source_interface=row.source_interface,
        surface=row.surface,
        request_id=row.request_id,
        address=row.address,
        details=row.details,
        fields=tuple(row.fields),
        created_at=row.created_at,
        previous_hash=row.previous_hash,
        hash=row.hash,
    )
