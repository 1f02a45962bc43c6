"""Try a backup: restore it into a scratch database, and look whether the product works there.

Compared with what the backup recorded: the rows and digest of every table, so all vectors too. Then
the tables are brought to this version, every audit log has to hold up to its head, and a search in
every organization has to find one of its memories by its own words.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import psycopg
from django.core.cache import caches
from django.core.cache.backends.locmem import LocMemCache
from django.db import connection
from psycopg import sql

from accounts import tenancy
from accounts.authentication import caller_from_session, entered
from accounts.caller import Role
from accounts.tenancy import Tenant
from config.backup import contents, programs
from config.backup.actions import (
    check_version,
    connected,
    migrate_in,
    own_database,
    read_contents,
)
from config.backup.archive import DATABASE, Backup
from config.backup.contents import OrganizationContents
from config.backup.programs import Database
from memory.search.actions import search
from memory.search.request import SearchRequest
from teams.audit import verify

QUESTION_LETTERS: Final = 200  # of a memory's text
MOST_HITS: Final = 50
OWNER: Final = """
SELECT m.user_id
FROM public.accounts_membership AS m JOIN public.accounts_user AS u ON u.id = m.user_id
WHERE m.organization_id = %s AND m.role = %s AND u.is_active ORDER BY m.created_at, m.id LIMIT 1
"""
OF_A_PROJECT: Final = """
SELECT m.id, m.content
FROM {schema}.memory_memory AS m JOIN {schema}.teams_project AS p ON p.id = m.project_id
WHERE m.status = 'active' AND m.scope = 'project' AND m.reach = 'global' AND m.type <> 'episode'
  AND m.valid_until IS NULL AND m.stale_at IS NULL AND p.archived_at IS NULL
ORDER BY m.id DESC LIMIT 1
"""


def try_backup(*, backup: Backup, now: datetime) -> Iterator[tuple[bool, str]]:
    """Yield what was found, each with whether it is well. Raises BackupError for no backup."""
    check_version(manifest=backup.manifest)
    backup.check()
    yield True, f"{backup.name}: all files are as they were written"
    recorded = read_contents(backup=backup)
    database = own_database()
    with connected(database) as line:
        binaries = programs.folder(version=line.info.server_version)
    with programs.scratch(database=database) as scratch:
        programs.load(database=scratch, binaries=binaries, archive=lambda: backup.read(DATABASE))
        with scratch.connect() as line:
            found = contents.count_contents(connection=line)
        different = contents.differences(was=recorded, now=found)
        yield from ((False, line) for line in different)
        rows = sum(table.rows for table in found.tables.values())
        if not different:
            yield True, f"{len(found.tables)} tables with {rows} rows are as they were"
        migrate_in(database=scratch)
        with _inside(scratch):
            for organization in recorded.organizations:
                if organization.ready:
                    yield _check_audit_log(organization)
                    yield _check_search(scratch, organization, now)


@contextmanager
def _inside(scratch: Database) -> Iterator[None]:
    """Let the product work in the scratch database; the cache of the real one learns nothing."""
    original = caches["default"]
    caches["default"] = LocMemCache(scratch.name, {})
    try:
        with connection.as_owner_of(database=scratch.name):  # type: ignore[attr-defined]
            yield
    finally:
        caches["default"] = original


def _check_audit_log(organization: OrganizationContents) -> tuple[bool, str]:
    with tenancy.enter(_tenant(organization)):
        verdict = verify()
    if verdict.fault is not None:
        return False, f"{organization.slug}: entry {verdict.fault.number} of its audit log is wrong"
    if (verdict.head.count, verdict.head.hash) != (
        organization.audit_count,
        organization.audit_hash,
    ):
        return False, f"{organization.slug}: its audit log ends at entry {verdict.head.count}"
    return True, f"{organization.slug}: {verdict.checked} audit entries hold"


def _check_search(
    scratch: Database, organization: OrganizationContents, now: datetime
) -> tuple[bool, str]:
    with scratch.connect() as line:
        owner = _first(line, OWNER, organization.id, Role.OWNER.value)
        schema = sql.Identifier(organization.schema_name)
        memory = _first(line, sql.SQL(OF_A_PROJECT).format(schema=schema))
    if owner is None or memory is None:
        return True, f"{organization.slug}: has nothing to search for"
    caller = caller_from_session(user_id=owner[0], organization_slug=organization.slug)
    request = SearchRequest(
        query=memory[1][:QUESTION_LETTERS], threshold=0.0, limit=MOST_HITS, is_noted=False
    )
    with entered(caller):
        hits = search(caller=caller, request=request, now=now).hits
    if memory[0] not in {hit.memory.id for hit in hits}:
        return False, f"{organization.slug}: a search does not find the memory {memory[0]}"
    return True, f"{organization.slug}: a search finds what it should"


def _first(
    line: psycopg.Connection[Any], statement: str | sql.Composed, *values: object
) -> tuple[Any, ...] | None:
    text = sql.SQL(statement) if isinstance(statement, str) else statement
    rows = line.execute(text, values).fetchall()
    return rows[0] if rows else None


def _tenant(organization: OrganizationContents) -> Tenant:
    return Tenant(
        organization_id=organization.id,
        slug=organization.slug,
        schema_name=organization.schema_name,
    )
