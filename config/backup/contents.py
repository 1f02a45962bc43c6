"""What a database holds, to compare a copy with: tables, organizations, heads of audit logs.

The digest of a table is the sum of a hash of every row's text (twice 64 bits, modulo 2^64), so it
does not depend on the order of rows and needs no sort. It finds what was lost or changed by
accident; against intent stand the SHA-256 of the files and their encryption.
"""

from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg import sql
from pydantic import BaseModel, ConfigDict

# What the text of values depends on is the same everywhere.
STEADY: Final = (
    "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'iso_8601'; "
    "SET extra_float_digits = 1; SET bytea_output = 'hex'; SET search_path = 'public'"
)
SCHEMAS: Final = "(n.nspname IN ('public', 'tenant_template') OR n.nspname ~ '^t_[0-9a-f]{32}$')"
TABLES: Final = f"""
SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND {SCHEMAS} ORDER BY n.nspname, c.relname
"""  # noqa: S608 - of constants
COUNT: Final = """
SELECT count(*), concat_ws(' ',
    mod(coalesce(sum(hashtextextended(whole_row::text, 1)::numeric), 0), 2^64::numeric),
    mod(coalesce(sum(hashtextextended(whole_row::text, 2)::numeric), 0), 2^64::numeric))
FROM {} AS whole_row
"""
ORGANIZATIONS: Final = """
SELECT o.id, o.slug, o.schema_name, o.ready, coalesce(a.count, 0), coalesce(a.hash, '')
FROM public.accounts_organization AS o
LEFT JOIN public.accounts_auditroot AS a ON a.organization_id = o.id ORDER BY o.slug, o.id
"""
MODELS: Final = "SELECT key FROM {}.memory_embeddingmodel ORDER BY active DESC, id"
APPLIED: Final = """
SELECT app || '.' || name FROM public.django_migrations
UNION SELECT name FROM public.accounts_schemastep WHERE name !~ '@' ORDER BY 1
"""


class Table(BaseModel):
    """How many rows a table has, and their digest."""

    model_config = ConfigDict(frozen=True)
    rows: int
    digest: str


class OrganizationContents(BaseModel):
    """An organization, the head of its audit log, its embedding models, the active one first."""

    model_config = ConfigDict(frozen=True)
    id: UUID
    slug: str
    schema_name: str
    ready: bool
    audit_count: int
    audit_hash: str
    models: tuple[str, ...]


class Contents(BaseModel):
    """What a database holds; tables by `schema.name`."""

    model_config = ConfigDict(frozen=True)
    organizations: tuple[OrganizationContents, ...]
    tables: dict[str, Table]

    def organization(self, slug: str) -> OrganizationContents | None:
        """Return the organization with this short name."""
        return next((each for each in self.organizations if each.slug == slug), None)


def count_contents(
    *, connection: psycopg.Connection[Any], schemas: frozenset[str] | None = None
) -> Contents:
    """Count and digest all tables, or those of some schemas. Reads every row once."""
    connection.execute(STEADY)
    tables = {
        f"{schema}.{name}": Table(rows=rows, digest=digest)
        for schema, name in connection.execute(TABLES).fetchall()
        if schemas is None or schema in schemas
        for rows, digest in connection.execute(
            sql.SQL(COUNT).format(sql.Identifier(schema, name))
        ).fetchall()
    }
    organizations = tuple(
        OrganizationContents(
            id=id,
            slug=slug,
            schema_name=schema,
            ready=ready,
            audit_count=count,
            audit_hash=head,
            models=_models(connection, schema) if ready and schemas is None else (),
        )
        for id, slug, schema, ready, count, head in connection.execute(ORGANIZATIONS).fetchall()
    )
    return Contents(organizations=organizations, tables=tables)


def applied_migrations(*, connection: psycopg.Connection[Any]) -> tuple[str, ...]:
    """Return the names of the migrations that the database has, shared and of organizations."""
    return tuple(name for (name,) in connection.execute(APPLIED).fetchall())


def differences(*, was: Contents, now: Contents) -> tuple[str, ...]:
    """Say in a line each which tables of `was` are not the same in `now`."""
    found = []
    for name, table in was.tables.items():
        other = now.tables.get(name)
        if other is None:
            found.append(f"{name} is missing; it had {table.rows} rows")
        elif other.rows != table.rows:
            found.append(f"{name} has {other.rows} rows instead of {table.rows}")
        elif other.digest != table.digest:
            found.append(f"{name} has other contents in its {table.rows} rows")
    return tuple(found)


def _models(connection: psycopg.Connection[Any], schema: str) -> tuple[str, ...]:
    rows = connection.execute(sql.SQL(MODELS).format(sql.Identifier(schema))).fetchall()
    return tuple(key for (key,) in rows)
