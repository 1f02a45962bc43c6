"""Tenancy: the only place where code enters an organization.

Two steps, because they have different lifetimes. `enter` binds the organization to the running
task in a context variable: cache keys, locks, channel groups and paths take it from there and
raise when there is none. `unit` opens a database transaction and sets the schema with SET LOCAL,
so the choice ends with the transaction, whoever gets the connection next, and nothing can be
awaited in between. Measured on this stack: a schema set on the session and then awaited gave half
of the reads from the wrong tenant; through transaction pooling likewise; this gives none.

A unit holds two keys, set in one statement: the schema, from the organization's schema name, and
the organization's id, which row-level security compares with every row (accounts/tenancy/rls.sql).
A slip of either gives no rows. `walled` holds the second alone: for shared tables, which are in
`public`.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db import connection, transaction

from accounts.caller import Tenant as Tenant  # for those who enter one
from accounts.tenancy import rls

SCHEMA_NAME = re.compile(r"t_[0-9a-f]{32}\Z")
TEMPLATE_SCHEMA = "tenant_template"
PUBLIC = "public"
NOBODY = ""  # sees no row of a walled table
OPERATE = "SELECT set_config('cairn.operator', %s, true)"
ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
TURN_KEYS = "SELECT set_config('search_path', %s, true), set_config('cairn.tenant', %s, true)"


class NoTenant(RuntimeError):
    """Code that needs an organization ran outside of one."""


class OtherTenant(RuntimeError):
    """Code tried to enter a second organization while in one."""


_current: ContextVar[Tenant | None] = ContextVar("cairn_tenant", default=None)
_last: ContextVar[Tenant | None] = ContextVar("cairn_last_tenant", default=None)  # for logs alone


def current() -> Tenant:
    """Return the organization the running task is in. Raises NoTenant outside of one."""
    tenant = _current.get()
    if tenant is None:
        raise NoTenant("No organization has been entered; use accounts.tenancy.enter first.")
    return tenant


def last_entered() -> Tenant | None:
    """Return the organization the running task was in last, also after it has left; for logs."""
    return _last.get()


def forget_last() -> None:
    """Begin something new, which has been in no organization."""
    _last.set(None)


@contextmanager
def enter(tenant: Tenant) -> Iterator[Tenant]:
    """Bind an organization to the running task until the block ends.

    Raises OtherTenant when another one is already bound, ValueError for a name not of ours.
    """
    if not SCHEMA_NAME.match(tenant.schema_name):
        raise ValueError(f"{tenant.schema_name!r} is not the schema of an organization.")
    outer = _current.get()
    if outer is not None and outer != tenant:
        raise OtherTenant(f"Already in {outer.slug}; leave it before entering {tenant.slug}.")
    token = _current.set(tenant)
    _last.set(tenant)
    try:
        yield tenant
    finally:
        _current.reset(token)


@contextmanager
def unit() -> Iterator[None]:
    """Open one database unit in the entered organization: a transaction with its schema set.

    A unit inside a unit joins it. A unit inside some other transaction leaves `public` behind.
    """
    tenant = current()
    if connection.in_atomic_block and getattr(connection, "unit_of", None) == tenant.schema_name:
        yield
        return
    with _keys(path=f'"{tenant.schema_name}", public', organization_id=tenant.organization_id):
        connection.unit_of = tenant.schema_name  # type: ignore[attr-defined]
        endings: list[Callable[[], None]] = []
        connection.unit_endings = endings  # type: ignore[attr-defined]
        connection.unit_memo = {}  # type: ignore[attr-defined]
        try:
            yield
            for work in endings:
                work()
        finally:
            connection.unit_of = None  # type: ignore[attr-defined]


def let_go() -> None:
    """Give the connection back to the pool before something that takes long and needs none.

    The next unit takes another. In a surrounding transaction (tests) it stays, because it must.
    """
    if not connection.in_atomic_block:
        connection.close()


@contextmanager
def snapshot() -> Iterator[None]:
    """Open a unit in which everything read is of one moment, and nothing can be written.

    Inside another transaction it sees what that one sees: Postgres settles this at a beginning.
    """
    is_first = not connection.in_atomic_block
    with transaction.atomic():
        if is_first:
            with connection.cursor() as cursor:
                cursor.execute(ONE_MOMENT)
        with unit():
            yield


@contextmanager
def walled(*, organization_id: UUID) -> Iterator[None]:
    """Open a transaction that sees the shared rows of one organization; its schema stays out.

    Inside a unit of that organization it joins it. Raises OtherTenant inside one of another.
    """
    held = _held_keys()[1] if connection.in_atomic_block else NOBODY
    if held == str(organization_id):
        yield
        return
    if held != NOBODY:
        raise OtherTenant("A unit of another organization is open; end it first.")
    with _keys(path=PUBLIC, organization_id=organization_id):
        yield


@contextmanager
def operating() -> Iterator[None]:
    """Open a transaction that sees the shared rows of all organizations: for operators alone."""
    if connection.in_atomic_block and getattr(connection, "operates", False):
        yield
        return
    with transaction.atomic():
        _operate("on")
        connection.operates = True  # type: ignore[attr-defined]
        try:
            yield
        finally:
            connection.operates = False  # type: ignore[attr-defined]
        if len(connection.atomic_blocks) > 1:
            _operate("off")


def at_end_of_unit(work: Callable[[], None]) -> None:
    """Do this as the last thing of the open unit, before it commits.

    Locks that every writer takes belong here: taken last, they cannot stand in a circle with the
    locks of rows, and they are held for an instant. Raises NoTenant outside of a unit.
    """
    if getattr(connection, "unit_of", None) != current().schema_name:
        raise NoTenant("No unit is open; use accounts.tenancy.unit first.")
    connection.unit_endings.append(work)  # type: ignore[attr-defined]


def memo() -> dict[Any, Any]:
    """Return what the open unit has read and need not read again; it ends with the unit.

    Raises NoTenant outside of a unit.
    """
    if getattr(connection, "unit_of", None) != current().schema_name:
        raise NoTenant("No unit is open; use accounts.tenancy.unit first.")
    kept: dict[Any, Any] = connection.unit_memo  # type: ignore[attr-defined]
    return kept


def each_organization() -> Iterator[Tenant]:
    """Yield every organization that is ready, in a stable order, without entering it."""
    for row in rls.every_organization():
        if row.ready:
            yield Tenant(organization_id=row.id, slug=row.slug, schema_name=row.schema_name)


def key(*parts: str) -> str:
    """Return a cache or lock key inside the entered organization."""
    return ":".join(("t", current().organization_id.hex, *parts))


def holds(*, space: int) -> bool:
    """Take a lock of the entered organization until the transaction ends, unless another has it.

    In a unit. `space` names the lock. It is gone with the connection, also when its process dies.
    """
    lock = current().organization_id.int & 0x7FFF_FFFF
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [space, lock])
        return bool(cursor.fetchone()[0])


def group(*parts: str) -> str:
    """Return a channel group name inside the entered organization (ASCII, under 100 characters)."""
    return ".".join(("t", current().organization_id.hex, *parts))


def cached(*parts: str) -> Any:
    """Return a cached value of the entered organization, or None.

    The value carries its tenant, so a mixed-up reply of a shared connection is not believed.
    """
    entry = cache.get(key(*parts))
    if not isinstance(entry, tuple) or entry[0] != current().organization_id.hex:
        return None
    return entry[1]


def remember(*parts: str, value: Any, seconds: int) -> None:
    """Cache a value for the entered organization."""
    cache.set(key(*parts), (current().organization_id.hex, value), seconds)


def count(*parts: str, seconds: int) -> None:
    """Count one more for the entered organization; the count begins anew after so many seconds."""
    try:
        cache.incr(key(*parts))
    except ValueError:
        cache.add(key(*parts), 1, seconds)


def counted(*parts: str) -> int:
    """Return what was counted for the entered organization."""
    return int(cache.get(key(*parts)) or 0)


@contextmanager
def _keys(*, path: str, organization_id: UUID) -> Iterator[None]:
    """Hold both keys until the transaction ends; inside another one, until the block ends."""
    outer = _held_keys() if connection.in_atomic_block else (PUBLIC, NOBODY)
    keys = (path, str(organization_id))
    with transaction.atomic():
        _turn(keys)
        connection.held_keys = keys  # type: ignore[attr-defined]
        try:
            yield
        finally:
            connection.held_keys = outer  # type: ignore[attr-defined]
        if len(connection.atomic_blocks) > 1:
            _turn(outer)


def _held_keys() -> tuple[str, str]:
    keys: tuple[str, str] = getattr(connection, "held_keys", (PUBLIC, NOBODY))
    return keys


def _operate(state: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(OPERATE, [state])


def _turn(keys: tuple[str, str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(TURN_KEYS, keys)
