"""The database backend: django-tenants' own, except that it never sets the schema by itself.

django-tenants sends a session-level `SET search_path` before cursors. Measured, that leaks through
transaction pooling (half of the reads came from the wrong tenant) and across coroutines. Here the
path of a connection is `public` and stays so; `accounts.tenancy.unit` opens a transaction and sets
the tenant's schema for just that transaction. Outside of one, tenant tables do not resolve at all.
The migration runner does the same for the template schema.
"""

from typing import Any

from django.db.backends.postgresql.introspection import DatabaseIntrospection
from django_tenants.postgresql_backend import base

OWN_TABLES = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"


class Introspection(DatabaseIntrospection):
    """Django's own, which lists the tables of the first schema of the path alone.

    That of django-tenants sets the path of the session and leaves it so.
    """

    def get_table_list(self, cursor: Any) -> Any:
        """Return the tables; the shared ones are not the template's."""
        cursor.execute(OWN_TABLES)
        own = {row[0] for row in cursor.fetchall()}
        return [table for table in super().get_table_list(cursor) if table.name in own]


class DatabaseWrapper(base.DatabaseWrapper):  # type: ignore[misc]  # django-tenants has no types
    """A connection whose schema is chosen by a transaction, not by the session."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.introspection = Introspection(self)

    def _handle_search_path(self, cursor: Any = None) -> None:
        """Leave the path of the session alone."""
