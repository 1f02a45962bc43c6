"""One organization: restored from a backup into a running installation, or dropped.

To restore it, the shared tables and its schema are loaded into a scratch database, compared with
what the backup recorded, and migrated. From there the schema is copied under a name of its own, and
one short transaction puts it in place: until then the organization that it replaces is in use.

What comes back of the shared tables is `shared_rows.py`. Jobs stay out: what is missing (a vector,
say) is found by upkeep.
"""

import getpass
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import psycopg
import redis
from django.conf import settings
from psycopg import sql

from config.backup import contents, programs, shared_rows
from config.backup.access import apply_access, lock_access, read_access
from config.backup.actions import (
    check_secrets,
    check_version,
    connected,
    migrate_in,
    own_database,
    read_contents,
)
from config.backup.archive import DATABASE, Backup
from config.backup.contents import Contents, OrganizationContents
from config.backup.places import BackupError
from config.backup.programs import Database
from config.backup.receipts import Receipt, delete_receipts, later_receipts, write_receipt

log = logging.getLogger(__name__)

STEPS: Final = "SELECT name FROM public.accounts_schemastep ORDER BY name"
KNOWN: Final = (
    "SELECT id, slug, schema_name FROM public.accounts_organization WHERE slug = %s OR id = %s"
)
LOCK_WAIT: Final = "SET LOCAL lock_timeout = '30s'"
MEMBERS: Final = "SELECT user_id, role FROM public.accounts_membership WHERE organization_id = %s"
TOKENS: Final = """
SELECT id FROM public.accounts_token
WHERE organization_id = %s AND revoked_at IS NULL AND expires_at > now() ORDER BY id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """An organization that was restored, and how many of its people and tokens were not."""

    slug: str
    rows: int
    members_left_out: int
    tokens_left_out: int


def restore_organization(
    *, backup: Backup, slug: str, is_replaced: bool, even_erased: bool
) -> Returned:
    """Restore one organization as it was. Raises BackupError; nothing has changed then."""
    check_version(manifest=backup.manifest)
    check_secrets(backup=backup)
    recorded = read_contents(backup=backup)
    wanted = recorded.organization(slug)
    if wanted is None:
        known = ", ".join(each.slug for each in recorded.organizations)
        raise BackupError(f"{backup.name} has no organization {slug}; it has {known}.")
    database = own_database()
    with connected(database) as line:
        binaries = programs.folder(version=line.info.server_version)
        current = _current(line, wanted, is_replaced)
    dropped = later_receipts(home=Path(settings.CAIRN_HOME), than=backup.manifest.made_at)
    receipt = dropped.get(wanted.id) if current is None else None
    if receipt is not None and not even_erased:
        raise BackupError(
            f"{slug} was dropped on {receipt.dropped_at:%Y-%m-%d} by {receipt.dropped_by}. "
            "To restore it all the same, add --even-erased."
        )
    backup.check()
    others = frozenset(each.schema_name for each in recorded.organizations) - {wanted.schema_name}
    with programs.scratch(database=database) as scratch:
        programs.load(
            database=scratch,
            binaries=binaries,
            archive=lambda: backup.read(DATABASE),
            but=others,
        )
        _compare(scratch, recorded, wanted)
        migrate_in(database=scratch)
        fresh = f"t_{uuid4().hex}"
        options = ("--format=plain", f"--schema={fresh}")
        script = programs.dump(database=scratch, binaries=binaries, options=options)
        with scratch.connect() as source, connected(database) as line, _removed(line, fresh):
            if source.execute(STEPS).fetchall() != line.execute(STEPS).fetchall():
                raise BackupError("The tables here are behind; run: manage.py migrate")
            source.execute(_renaming(wanted.schema_name, fresh))
            programs.run_script(database=database, binaries=binaries, script=script)
            returned = _put_in_place(source, line, wanted, fresh, current, receipt)
    delete_receipts(home=Path(settings.CAIRN_HOME), organization_id=wanted.id)
    _forget_cached(wanted.id)
    log.warning("Organization %s was restored from %s", slug, backup.name)
    rows = sum(
        table.rows
        for name, table in recorded.tables.items()
        if name.startswith(f"{wanted.schema_name}.")
    )
    return Returned(slug=slug, rows=rows, members_left_out=returned[0], tokens_left_out=returned[1])


def drop_organization(*, slug: str, now: datetime) -> tuple[Receipt, Path]:
    """Delete an organization for good; return the receipt, and where it is kept.

    The receipt is written first: without one, a restore would return what was erased. Raises
    BackupError; nothing has changed then.
    """
    with connected(own_database()) as line:
        found = contents.count_contents(connection=line, schemas=frozenset())
        organization = found.organization(slug)
        if organization is None:
            raise BackupError(f"There is no organization {slug}.")
        id = organization.id
        schema = frozenset({organization.schema_name})
        counted = contents.count_contents(connection=line, schemas=schema).tables
        shared = shared_rows.count(line=line, organization_id=id)
        receipt = Receipt(
            organization_id=id,
            slug=slug,
            dropped_at=now,
            dropped_by=getpass.getuser(),
            rows={**{name: table.rows for name, table in counted.items()}, **shared},
            audit_count=organization.audit_count,
            audit_hash=organization.audit_hash,
            members=dict(line.execute(MEMBERS, [id]).fetchall()),
            tokens=tuple(token for (token,) in line.execute(TOKENS, [id]).fetchall()),
            access=read_access(line=line, schema=organization.schema_name),
        )
        path = write_receipt(home=Path(settings.CAIRN_HOME), receipt=receipt)
        with _deleted_if_refused(line, path), _refusals(), line.transaction():
            line.execute(LOCK_WAIT)
            _drop_schema(line, organization.schema_name)
            for statement in shared_rows.deletions(organization_id=id):
                line.execute(statement)
    _forget_cached(id)
    log.warning("Organization %s was dropped; receipt %s", slug, receipt.model_dump_json())
    return receipt, path


def _current(
    line: psycopg.Connection[Any], wanted: OrganizationContents, is_replaced: bool
) -> str | None:
    """Return the schema of the organization that is there now. Raises BackupError if in the way."""
    for id, slug, schema in line.execute(KNOWN, [wanted.slug, wanted.id]).fetchall():
        if id != wanted.id:
            raise BackupError(f"Another organization has the address {slug} now.")
        if not is_replaced:
            raise BackupError(
                f"{slug} exists. To give it the memories of the backup, add --replace; what was "
                "written since the backup is lost then."
            )
        return str(schema)
    return None


def _compare(scratch: Database, recorded: Contents, wanted: OrganizationContents) -> None:
    """Check that what was loaded is what the backup recorded. Raises BackupError."""
    schemas = frozenset({"public", wanted.schema_name})
    with scratch.connect() as line:
        now = contents.count_contents(connection=line, schemas=schemas)
    tables = {
        name: table for name, table in recorded.tables.items() if name.partition(".")[0] in schemas
    }
    found = contents.differences(was=recorded.model_copy(update={"tables": tables}), now=now)
    if found:
        raise BackupError(f"Nothing was restored; the copy is not as it was: {found[0]}.")


def _put_in_place(
    source: psycopg.Connection[Any],
    line: psycopg.Connection[Any],
    wanted: OrganizationContents,
    fresh: str,
    current: str | None,
    receipt: Receipt | None,
) -> tuple[int, int]:
    """Swap the schemas and settle the shared rows, in one transaction.

    Returns how many memberships and tokens of the backup were left out.
    """
    schema = current or wanted.schema_name
    with _refusals(), line.transaction():
        line.execute(LOCK_WAIT)
        if current is not None:
            lock_access(line=line, schema=current)
            apply_access(line=line, schema=fresh, access=read_access(line=line, schema=current))
            _drop_schema(line, current)
        elif receipt is not None:
            apply_access(line=line, schema=fresh, access=receipt.access)
        line.execute(_renaming(fresh, schema))
        copied = shared_rows.copy(source=source, line=line, organization_id=wanted.id)
        if current is not None:
            shared_rows.follow(line=line, organization_id=wanted.id)
            return 0, 0
        return shared_rows.insert_rows(
            line=line, columns=copied, schema_name=schema, receipt=receipt
        )


def _renaming(before: str, after: str) -> sql.Composed:
    names = map(sql.Identifier, (before, after))
    return sql.SQL("ALTER SCHEMA {} RENAME TO {}").format(*names)


def _drop_schema(line: psycopg.Connection[Any], name: str) -> None:
    line.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))


@contextmanager
def _refusals() -> Iterator[None]:
    """Say in a message what the database refused; its transaction has changed nothing."""
    try:
        yield
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise BackupError(f"Nothing was changed; the database refused: {reason}") from error


@contextmanager
def _deleted_if_refused(line: psycopg.Connection[Any], receipt: Path) -> Iterator[None]:
    """Delete a receipt of what was not dropped; without an answer it may have been, so it stays."""
    try:
        yield
    except BackupError:
        if not line.broken:
            receipt.unlink()
        raise


@contextmanager
def _removed(line: psycopg.Connection[Any], schema: str) -> Iterator[None]:
    """Take a schema away afterwards that was not put in place."""
    try:
        yield
    finally:
        line.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema)))


def _forget_cached(organization_id: UUID) -> None:
    """Delete what the cache keeps of an organization; it would end by itself."""
    with redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_TIMEOUTS) as store:
        try:
            for key in store.scan_iter(match=f"*t:{organization_id.hex}:*", count=1_000):
                store.delete(key)
        except redis.RedisError as error:
            log.warning("The cache of %s was not emptied: %s", organization_id, error)
