"""What every connection starts with, kept in Postgres with the role that connects.

Not sent with each connection: a pooler in between refuses what it cannot keep apart, and between
transactions it would hand one client's settings to the next. `manage.py migrate` stores them.
"""

from typing import Any, Final

from django.db import connection

DEFAULTS: Final = (
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


def store() -> None:
    """Store the defaults for the connecting role in this database; connections begin anew."""
    with connection.cursor() as cursor:
        cursor.execute(KNOW_PGVECTOR)
        cursor.execute("SELECT quote_ident(current_database())")
        database = cursor.fetchone()[0]
        for name, value in DEFAULTS:
            cursor.execute(f"ALTER ROLE SESSION_USER IN DATABASE {database} SET {name} = {value}")
    postgres: Any = connection
    postgres.close()
    postgres.close_pool()


def missing() -> tuple[str, ...]:
    """Return the names of the defaults that are not stored."""
    with connection.cursor() as cursor:
        cursor.execute(STORED)
        stored = {row[0] for row in cursor.fetchall()}
    return tuple(name for name, value in DEFAULTS if f"{name}={value}" not in stored)
