"""The database backend: django-tenants' own, except that it never sets the schema by itself.

django-tenants sends a session-level `SET search_path` before cursors. Measured, that leaks through
transaction pooling (half of the reads came from the wrong tenant) and across coroutines. Here the
path of a connection is `public` and stays so; `accounts.tenancy.unit` opens a transaction and sets
the tenant's schema for just that transaction. Outside of one, tenant tables do not resolve at all.
Only the migration runner asks for the session-level behavior, on a connection it then closes.
"""

from typing import Any

from django_tenants.postgresql_backend import base


class DatabaseWrapper(base.DatabaseWrapper):  # type: ignore[misc]  # django-tenants has no types
    """A connection whose schema is chosen by a transaction, not by the session."""

    sets_session_schema = False

    def _handle_search_path(self, cursor: Any = None) -> None:
        if self.sets_session_schema:
            super()._handle_search_path(cursor)
