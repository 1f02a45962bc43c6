"""Row-level security: put it up, let the application's role in, and ask what a role could do.

All of it is the owner's work, done by `manage.py migrate`; the SQL is in rls.sql. What every
connection starts with is stored with the role that connects and not sent with each connection: a
pooler in between refuses what it cannot keep apart, and between transactions it would hand one
client's settings to the next.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.db import connection
from psycopg import sql

SCRIPT: Final = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")

# What the connected role could do past the wall; one row.
POWERS: Final = """
SELECT r.rolname, r.rolsuper, r.rolbypassrls, (
    SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relowner = r.oid AND c.relkind IN ('r', 'p')
      AND (n.nspname = 'public' OR n.nspname ~ '^t_[0-9a-f]{32}$'))
FROM pg_roles AS r WHERE r.rolname = current_user
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Powers:
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
    with connection.cursor() as cursor:
        cursor.execute("SELECT cairn.admit(%s)", [role])


def is_installed() -> bool:
    """Say whether the tables and their walls have been made."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regprocedure('cairn.admit(name)') IS NOT NULL")
        return bool(cursor.fetchone()[0])


def has_role(*, name: str) -> bool:
    """Say whether the server knows the role."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name])
        return cursor.fetchone() is not None


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
    with connection.cursor() as cursor:
        cursor.execute(POWERS)
        role, is_superuser, bypasses, owned = cursor.fetchone()
    return Powers(role=role, is_superuser=is_superuser, bypasses=bypasses, owned_tables=owned)


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
    with connection.cursor() as cursor:
        cursor.execute(STORED)
        stored = {row[0] for row in cursor.fetchall()}
    return tuple(name for name, value in CONNECTION_DEFAULTS if f"{name}={value}" not in stored)
