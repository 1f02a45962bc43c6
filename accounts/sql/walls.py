"""Putting the second wall up, letting the application's role in, and what doctor asks about both.

All of it is the owner's work, done by `manage.py migrate`; the SQL stands in walls.sql.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

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


def put_up() -> None:
    """Make the functions, and the wall around the shared tables that lack it."""
    with connection.cursor() as cursor:
        cursor.execute(SCRIPT)


def admit(*, role: str) -> None:
    """Let the application's role do what it needs. Call as the owner."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT cairn.admit(%s)", [role])


def are_up() -> bool:
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
