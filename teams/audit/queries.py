"""The audit log as people read it, as operators export it, and whether it still holds.

Pages and REST show it to who manages the organization; commands ask as the installation itself,
inside the organization. Entries hold ids, never contents, so personal memories stay personal.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

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
    "organization", "member", "invitation", "token", "project", "team", "memory", "entity",
    "session", "import", "note", "model", "job",
)  # fmt: skip
COLUMNS: Final = tuple(column.name for column in dataclasses.fields(Entry))


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
    wanted: dict[str, Any] = {
        "actor_user": filters.actor,
        "object_id": filters.object_id,
        "request_id": filters.request_id,
    }
    if filters.area is not None:
        wanted["act__startswith"] = f"{filters.area}."
    if cursor is not None:
        if not cursor.isascii() or not cursor.isdecimal() or len(cursor) > len(str(2**63)) - 1:
            raise wrong_field(pointer="/cursor", detail="The cursor is not one of ours.")
        wanted["number__lt"] = int(cursor)
    with tenancy.unit():
        rows = AuditEntry.objects.filter(**{k: v for k, v in wanted.items() if v is not None})
        found = tuple(_entry(row) for row in rows.order_by("-number")[: limit + 1])
    items = found[:limit]
    return Page(items=items, next_cursor=str(items[-1].number) if len(found) > limit else None)


def every_entry() -> Iterator[Entry]:
    """Yield the whole log of the entered organization, oldest first."""
    last = 0
    while True:
        with tenancy.unit():
            chunk = _read(last)
        if not chunk:
            return
        yield from chunk
        last = chunk[-1].number


def verify(*, mark: Head | None = None) -> Verdict:
    """Check the chain of the entered organization from its beginning to its head.

    `mark` is a head that was noted elsewhere. Writers wait only while the last entries are read.
    """
    tenant_id = tenancy.current().organization_id

    def head() -> Head | None:
        root = AuditRoot.objects.filter(pk=tenant_id).first()
        return None if root is None else Head(count=root.count, hash=root.hash)

    with tenancy.unit():
        return chain.verify(tenant_id=tenant_id, entries=_every_row(), head=head, mark=mark)


def _every_row() -> Iterator[Entry]:
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


def _read(last: int | None) -> tuple[Entry, ...]:
    rows = AuditEntry.objects.order_by("number")
    if last is not None:
        rows = rows.filter(number__gt=last)
    return tuple(_entry(row) for row in rows[:CHUNK])


def _entry(row: AuditEntry) -> Entry:
    columns = {name: getattr(row, name) for name in COLUMNS}
    return Entry(**{**columns, "fields": tuple(row.fields)})
