"""Row-level security: put it up, let the application's role in, and ask what a role could do.

All of it is the owner's work, done by `manage.py migrate`; the SQL is in rls.sql. What every
connection starts with is stored with the role that connects and not sent with each connection: a
pooler in between refuses what it cannot keep apart, and between transactions it would hand one
client's settings to the next.

The doors through the wall, for what must be asked before an organization is known, are functions of
the owner's, each with one narrow purpose. Everything else that touches a shared table runs inside a
unit or a `tenancy.walled` block of its organization.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection
from psycopg import sql

from accounts.caller import Role, Tenant

SCRIPT: Final = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")

# What the connected role could do past the wall; one row.
POWERS: Final = """
SELECT r.rolname, r.rolsuper, r.rolbypassrls, (
    SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relowner = r.oid AND c.relkind IN ('r', 'p')
      AND (n.nspname = 'public' OR n.nspname ~ '^t_[0-9a-f]{32}$'))
FROM pg_roles AS r WHERE r.rolname = current_user
"""


class Powers(NamedTuple):
    """What the connected role could do past the wall."""

    role: str
    is_superuser: bool
    bypasses: bool
    owned_tables: int


def install() -> None:
    """Make the functions, and the wall around the shared tables that lack it."""
    with connection.cursor() as cursor:
        cursor.execute(SCRIPT)


def admit(*, role: str) -> None:
    """Let the application's role do what it needs. Call as the owner."""
    _rows("SELECT cairn.admit(%s)", role)


def is_installed() -> bool:
    """Say whether the tables and their walls have been made."""
    return bool(_rows("SELECT to_regprocedure('cairn.admit(name)') IS NOT NULL")[0][0])


def has_role(*, name: str) -> bool:
    """Say whether the server knows the role."""
    return bool(_rows("SELECT 1 FROM pg_roles WHERE rolname = %s", name))


def make_role(*, name: str, password: str) -> None:
    """Make a role that may connect and nothing else, or give it this password."""
    verb = "ALTER" if has_role(name=name) else "CREATE"
    words = sql.SQL("{} ROLE {} LOGIN PASSWORD {}").format(
        sql.SQL(verb), sql.Identifier(name), sql.Literal(password)
    )
    with connection.cursor() as cursor:
        cursor.execute(words)


def powers() -> Powers:
    """Return what the connected role could do past the wall."""
    return Powers(*_rows(POWERS)[0])


CONNECTION_DEFAULTS: Final = (
    ("search_path", "public"),  # tenant tables resolve inside a unit only
    ("jit", "off"),  # compiling costs more than our statements run
    ("hnsw.iterative_scan", "relaxed_order"),  # a filtered scan goes on until it has enough
)
KNOW_PGVECTOR: Final = "SELECT '[1]'::vector"  # only the superuser may set what is not loaded
STORED: Final = """
SELECT unnest(kept.setconfig) FROM pg_db_role_setting AS kept
JOIN pg_database AS here ON here.oid = kept.setdatabase AND here.datname = current_database()
JOIN pg_roles AS own ON own.oid = kept.setrole AND own.rolname = session_user
"""


def store_connection_defaults() -> None:
    """Store the defaults for the connecting role in this database; connections begin anew."""
    with connection.cursor() as cursor:
        cursor.execute(KNOW_PGVECTOR)
        cursor.execute("SELECT quote_ident(current_database())")
        database = cursor.fetchone()[0]
        for name, value in CONNECTION_DEFAULTS:
            cursor.execute(f"ALTER ROLE SESSION_USER IN DATABASE {database} SET {name} = {value}")
    postgres: Any = connection
    postgres.close()
    postgres.close_pool()


def missing_connection_defaults() -> tuple[str, ...]:
    """Return the names of the defaults that are not stored."""
    stored = {row[0] for row in _rows(STORED)}
    return tuple(name for name, value in CONNECTION_DEFAULTS if f"{name}={value}" not in stored)


# Rows of memories by schema, as counted for the autovacuum; no table is read. One a tenant.
MEMORY_ROWS: Final = """
SELECT n.nspname, pg_stat_get_live_tuples(c.oid)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relname = 'memory_memory' AND n.nspname ~ '^t_[0-9a-f]{32}$'
"""

PLACES: Final = """
SELECT id, slug, name, personal, ready, language, schema_name, created_at, role
FROM cairn.places_of(%s) ORDER BY joined_at, membership_id
"""


class Presented(NamedTuple):
    """A token as it is stored, with its organization, its owner and the owner's role now."""

    id: UUID
    digest: str
    name: str
    kind: str
    user_id: UUID
    scopes: list[str]
    projects: list[UUID] | None
    source_interface: str
    revoked_at: datetime | None
    expires_at: datetime
    last_used_at: datetime | None
    organization_id: UUID
    organization_slug: str
    schema_name: str
    is_ready: bool
    is_active: bool
    role: str | None

    @property
    def tenant(self) -> Tenant:
        """Its organization, to be entered."""
        id, slug = self.organization_id, self.organization_slug
        return Tenant(organization_id=id, slug=slug, schema_name=self.schema_name)


class JoinedOrganization(NamedTuple):
    """An organization a person belongs to, and their role there."""

    id: UUID
    slug: str
    name: str
    personal: bool
    ready: bool
    language: str
    schema_name: str
    created_at: datetime
    role: Role


class Entrance(NamedTuple):
    """What is needed to enter an organization, and how far its schema is."""

    id: UUID
    slug: str
    schema_name: str
    schema_version: int
    ready: bool


class JobFigures(NamedTuple):
    """How many jobs of a name are in a state, and for how long the oldest waiting one is due."""

    name: str
    queue: str
    state: str
    jobs: int
    oldest_due_seconds: float


class HeldUp(NamedTuple):
    """What stands in the way of background work, over all organizations."""

    waiting: int
    reason: str
    late_seconds: int
    put_aside: int


def present_token(*, lookup: str) -> Presented | None:
    """Return the token with this public part."""
    rows = _rows("SELECT * FROM cairn.present_token(%s)", lookup)
    return Presented(*rows[0]) if rows else None


def places_of(*, user_id: UUID) -> tuple[JoinedOrganization, ...]:
    """Return the organizations of an active person, the first joined first."""
    rows = _rows(PLACES, user_id)
    return tuple(JoinedOrganization._make((*columns, Role(role))) for *columns, role in rows)


def invited_to(*, digests: tuple[str, ...]) -> UUID | None:
    """Return the organization of the invitation that is stored under one of these digests."""
    organization_id: UUID | None = _rows("SELECT cairn.invited_to(%s)", list(digests))[0][0]
    return organization_id


def every_organization() -> tuple[Entrance, ...]:
    """Return every organization, by id."""
    return tuple(Entrance(*row) for row in _rows("SELECT * FROM cairn.every_organization()"))


def claim_job(
    *, queue: str, worker: str, lease: timedelta
) -> tuple[UUID, str, str, int, UUID, str, str] | None:
    """Take the next due job of a queue, if there is one.

    Returns its id, name, payload as JSON and attempts, counting this one; then the id, slug and
    schema of its organization.
    """
    rows = _rows("SELECT * FROM cairn.claim_job(%s, %s, %s)", queue, worker, lease)
    return rows[0] if rows else None


def lost_jobs() -> tuple[tuple[UUID, UUID], ...]:
    """Return the running jobs whose lease has ended, each with its organization."""
    return tuple(_rows("SELECT id, organization_id FROM cairn.lost_jobs()"))


def due_queues() -> tuple[str, ...]:
    """Return the queues that have due work."""
    return tuple(row[0] for row in _rows("SELECT cairn.due_queues()"))


def held_up() -> HeldUp:
    """Return what stands in the way of work: jobs that wait and why, lateness, jobs put aside."""
    return HeldUp(*_rows("SELECT * FROM cairn.held_up()")[0])


def job_figures() -> tuple[JobFigures, ...]:
    """Return how many jobs there are, but for those that ended well."""
    return tuple(JobFigures(*row) for row in _rows("SELECT * FROM cairn.job_figures()"))


def memory_rows() -> dict[str, int]:
    """Return how many memories each schema holds, by the statistics of Postgres."""
    return dict(_rows(MEMORY_ROWS))


def forget_jobs(*, age: timedelta) -> None:
    """Delete jobs that ended well longer ago."""
    _rows("SELECT cairn.forget_jobs(%s)", age)


def replay(*, organization_id: UUID) -> tuple[int, int]:
    """Bring the schema of the walled organization up to date; return steps applied and reached."""
    applied, reached = _rows("SELECT * FROM cairn.replay(%s)", organization_id)[0]
    return int(applied), int(reached)


def _rows(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
