"""The database backend: that of django-tenants, except that it never sets the schema by itself.

django-tenants sends a session-level `SET search_path` before cursors. Measured, that leaks through
transaction pooling (half of the reads came from the wrong tenant) and across coroutines. Here the
path of a connection is `public` and stays so; `accounts.tenancy.unit` opens a transaction and sets
the tenant's schema for just that transaction. Outside of one, tenant tables do not resolve at all.
The migration runner does the same for the template schema. Connections that ended while they lay in
the pool are left out, so a restarted server is met by new ones at once and not by refusals.

A connection is the application's role, which owns nothing; migrations and maintenance become the
owner of the tables with `as_owner`, where the settings know one.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import creation
from django.db.backends.postgresql.introspection import DatabaseIntrospection
from django_tenants.postgresql_backend import base

from accounts import timeouts
from accounts.tenancy import rls

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


class DatabaseCreation(creation.DatabaseCreation):
    """Makes test databases as the owner."""

    connection: Any

    def create_test_db(self, *args: Any, **options: Any) -> str:
        """Make the database with its tables, and store what connections to it start with."""
        with self.connection.as_owner():
            name = super().create_test_db(*args, **options)
        if rls.missing_connection_defaults():
            rls.store_connection_defaults()
        return name

    def destroy_test_db(self, *args: Any, **options: Any) -> None:
        """Drop the database."""
        self.connection.close()
        self.connection.close_pool()
        with self.connection.as_owner():
            super().destroy_test_db(*args, **options)


class DatabaseWrapper(base.DatabaseWrapper):  # type: ignore[misc]  # django-tenants has no types
    """A connection whose schema is chosen by a transaction, not by the session."""

    creation_class = DatabaseCreation
    is_owner = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.introspection = Introspection(self)

    @contextmanager
    def as_owner(self) -> Iterator[None]:
        """Be the owner of the tables on this connection until the block ends, outside of the pool.

        Does nothing where one role is both. Raises TransactionManagementError in a transaction.
        """
        owner: Mapping[str, Any] | None = settings.DATABASE_OWNER
        if owner is None or self.is_owner:
            yield
            return
        self.validate_no_atomic_block()
        application = self.settings_dict
        options = {**application["OPTIONS"], "pool": False}
        self._become({**application, **owner, "OPTIONS": options}, is_owner=True)
        try:
            yield
        finally:
            self._become(application, is_owner=False)

    @contextmanager
    def as_owner_of(self, *, database: str) -> Iterator[None]:
        """Be the owner of the tables in another database of the server until the block ends.

        Raises TransactionManagementError in a transaction.
        """
        self.validate_no_atomic_block()
        before, was_owner = self.settings_dict, self.is_owner
        options = {**before["OPTIONS"], "pool": False}
        owner = {**before, **(settings.DATABASE_OWNER or {}), "NAME": database}
        self._become({**owner, "OPTIONS": options}, is_owner=True)
        try:
            yield
        finally:
            self._become(before, is_owner=was_owner)

    def _become(self, settings_dict: dict[str, Any], *, is_owner: bool) -> None:
        self.close()
        self.settings_dict = settings_dict
        self.is_owner = is_owner

    def get_new_connection(self, conn_params: Any) -> Any:
        """Return a connection that still leads to the server."""
        connection = super().get_new_connection(conn_params)
        while self.pool and timeouts.is_lost(kept=connection):
            connection.close()
            self.pool.putconn(connection)
            connection = super().get_new_connection(conn_params)
        return connection

    def _handle_search_path(self, cursor: Any = None) -> None:
        """Leave the path of the session alone."""
