"""The database backend: django-tenants' own, except that it never sets the schema by itself.

django-tenants sends a session-level `SET search_path` before cursors. Measured, that leaks through
transaction pooling (half of the reads came from the wrong tenant) and across coroutines. Here the
path of a connection is `public` and stays so; `accounts.tenancy.unit` opens a transaction and sets
the tenant's schema for just that transaction. Outside of one, tenant tables do not resolve at all.
The migration runner does the same for the template schema.
"""

from typing import Any

from django_tenants.postgresql_backend import base


class DatabaseWrapper(base.DatabaseWrapper):  # type: ignore[misc]  # django-tenants has no types
    """A connection whose schema is chosen by a transaction, not by the session."""

    def _handle_search_path(self, cursor: Any = None) -> None:
        """Leave the path of the session alone."""
