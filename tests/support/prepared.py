"""Organizations whose schemas are made once for many tests.

To make a tenant's schema costs Postgres 0.14 s, more than most tests, and makes its catalog larger
each time. A test that is rolled back leaves no row behind, so the next may have the same schema:
each test makes the organization's rows in the shared tables anew, under the same id. Rows that were
rolled back still take room in tables and indexes, so these are vacuumed once in so many tests. What
else knows of an organization, the cache and which model it was last seen to have, is emptied
between tests.
A test that commits gets a schema of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

from django.core.cache import cache
from django.db import connection

from accounts.models import AuditRoot, Organization
from accounts.tenancy import provisioning
from memory.index.actions import embedding

MOST = 3  # two that must not see each other, and one to spare
TAKEN_BETWEEN_VACUUMS = 40
TABLES = "SELECT format('%%I.%%I', schemaname, tablename) FROM pg_tables WHERE schemaname = %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An organization that is not there, whose schema is."""

    id: UUID
    schema_name: str
    schema_version: int


_prepared: list[Prepared] = []
_handed_out: list[str] = []  # since the last vacuum
_since_tidied: list[str] = []


def prepare() -> None:
    """Make the schemas. Call it once, where what is done is committed."""
    _prepared.extend(_made() for _ in range(MOST))


def take(*, slug: str) -> Organization | None:
    """Make an organization over a prepared schema; none where a test commits or has them all."""
    if not _is_rolled_back():
        return None
    taken = set(Organization.objects.values_list("id", flat=True))
    free = next((each for each in _prepared if each.id not in taken), None)
    if free is None:
        return None
    _handed_out.append(slug)
    _since_tidied.append(slug)
    made: Organization = Organization.objects.create(
        id=free.id,
        slug=slug,
        name=slug.title(),
        schema_name=free.schema_name,
        schema_version=free.schema_version,
        ready=True,
    )
    AuditRoot.objects.create(organization_id=free.id)
    return made


def tidy() -> None:
    """Forget what a test left: its cache, and once in so many tests the room of its rows.

    Call it between tests.
    """
    if _since_tidied:
        _since_tidied.clear()
        cache.clear()
        embedding._last_seen.clear()
    if len(_handed_out) < TAKEN_BETWEEN_VACUUMS:
        return
    _handed_out.clear()
    with connection.as_owner(), connection.cursor() as cursor:  # type: ignore[attr-defined]
        for each in _prepared:
            cursor.execute(TABLES, [each.schema_name])
            names = [name for (name,) in cursor.fetchall()]
            cursor.execute(f"VACUUM {', '.join(names)}")  # names quoted by the catalog


@contextmanager
def none() -> Iterator[None]:
    """Hand out none until the block ends: what is asked of tables that nobody has used."""
    kept = tuple(_prepared)
    _prepared.clear()
    try:
        yield
    finally:
        _prepared.extend(kept)


def _made() -> Prepared:
    row = Organization.objects.create(
        slug=f"prepared-{uuid4().hex[:8]}", name="Prepared", schema_name=f"t_{uuid4().hex}"
    )
    provisioning.replay(organization=row)
    row.refresh_from_db()
    made = Prepared(id=row.id, schema_name=row.schema_name, schema_version=row.schema_version)
    Organization.objects.filter(id=row.id).delete()
    return made


def _is_rolled_back() -> bool:
    blocks = connection.atomic_blocks
    return bool(blocks) and blocks[0]._from_testcase  # type: ignore[attr-defined]
