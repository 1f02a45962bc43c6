"""The audit log: who did what, when and from where, as a chain of hashes.

An action appends one entry for the whole of what it did: a call that changes a thousand memories is
one act, and its details hold the ids. The entry is written at the end of the unit of the act, so
both commit or neither, and under the one lock that the change feed takes too (`changes.take_turn`):
numbers have no gaps, writers wait for each other only there. The head of the chain stands in the
public schema and moves in the same transaction, so a log whose end is cut off is found. How hashes
are made is `teams.audit_chain`; `manage.py audit verify` checks them.

Pages and REST show the log to who manages the organization; commands ask as the installation
itself, inside the organization. Entries hold ids, never contents, so personal memories stay so.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.utils import timezone
from psycopg.types.json import Json

from accounts import audit as acts
from accounts import tenancy
from accounts.audit import Actor
from accounts.caller import Caller, check_manages
from accounts.errors import wrong_field
from accounts.models import AuditRoot
from accounts.pages import Page, page_of
from teams import audit_chain, changes
from teams.audit_chain import Entry, Head, Verdict
from teams.models import AuditEntry

HEAD: Final = "SELECT count, hash FROM accounts_auditroot WHERE organization_id = %(tenant)s"
COLUMNS: Final = tuple(column.name for column in dataclasses.fields(Entry))
# Store an entry and move the head of the chain to it, by its key: one row each.
APPEND: Final = f"""
    WITH entry AS (
        INSERT INTO teams_auditentry ({", ".join(COLUMNS)})
        VALUES ({", ".join(f"%({name})s" for name in COLUMNS)}))
    UPDATE accounts_auditroot SET count = %(number)s, hash = %(hash)s
    WHERE organization_id = %(tenant)s
"""  # noqa: S608 - of constants
CHUNK: Final = 2_000  # entries read at once
AREAS: Final = (
    "organization", "member", "invitation", "token", "project", "team", "memory", "entity",
    "session", "import", "note", "model", "job",
)  # fmt: skip


class HeadLost(RuntimeError):
    """The head of an organization's log is gone; nothing is written behind a chain without end."""


def append(
    act: str,
    object_type: str,
    object_id: str,
    *,
    caller: Actor,
    details: Mapping[str, Any] | None = None,
    fields: tuple[str, ...] = (),
) -> None:
    """Append one entry at the end of the unit. `details` holds ids and names, never content.

    Raises NoTenant outside of a unit, TypeError for details that JSON does not hold exactly.
    """
    came = acts.origin()
    entry = Entry(
        number=0,
        act=act,
        object_type=object_type,
        object_id=object_id,
        actor_user=caller.user_id,
        token_id=caller.token_id,
        agent=caller.agent,
        source_interface=caller.source_interface,
        surface=came.surface.value,
        request_id=came.request_id,
        address=came.ip,
        details=dict(details or {}),
        fields=fields,
        created_at=timezone.now(),
    )
    tenancy.at_end_of_unit(lambda: _write(entry))


def has_acted(*, caller: Caller, acts: tuple[str, ...], object_id: str, within: timedelta) -> bool:
    """Say whether a caller did one of these to an object within this time. In a unit.

    By the index teams_audit_object; the same person with another token is another caller.
    """
    own = {"actor_user": caller.user_id, "token_id": caller.token_id, "agent": caller.agent}
    entries = AuditEntry.objects.filter(object_id=object_id, act__in=acts, **own)
    return entries.filter(created_at__gte=timezone.now() - within).exists()


def _write(entry: Entry) -> None:
    changes.take_turn()
    tenant_id = tenancy.current().organization_id
    stamped = replace(entry, created_at=timezone.now())
    linked = audit_chain.linked(entry=stamped, after=_head(tenant_id))
    columns = {**asdict(linked), "details": Json(linked.details), "fields": list(linked.fields)}
    with connection.cursor() as cursor:
        cursor.execute(APPEND, {**columns, "tenant": tenant_id})


def _head(tenant_id: UUID) -> Head:
    with connection.cursor() as cursor:
        cursor.execute(HEAD, {"tenant": tenant_id})
        found = cursor.fetchone()
    if found is None:
        raise HeadLost("The audit log has lost its head: run `manage.py audit verify`.")
    head = Head(count=found[0], hash=found[1])
    return head if head.count else audit_chain.genesis(tenant_id=tenant_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which entries are asked for; an area is the first part of acts, as `memory`."""

    area: str | None = None
    actor: UUID | None = None
    object_id: str | None = None
    request_id: str | None = None


def page(*, caller: Caller, filters: Filters, cursor: str | None, limit: int) -> Page[Entry, str]:
    """Return a page of the log. Raises RoleNotSufficient but for managers, InvalidInput."""
    check_manages(caller=caller)
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
    return page_of(found=found, limit=limit, place=lambda last: str(last.number))


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
        return audit_chain.verify(tenant_id=tenant_id, entries=_every_row(), head=head, mark=mark)


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
