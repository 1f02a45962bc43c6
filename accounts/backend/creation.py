"""Test databases: made and dropped by the owner of the tables, used by the application's role."""

from typing import Any

from django.db.backends.postgresql import creation

from accounts.backend import defaults


class DatabaseCreation(creation.DatabaseCreation):
    """Makes test databases as the owner."""

    connection: Any

    def create_test_db(self, *args: Any, **options: Any) -> str:
        """Make the database with its tables, and store what connections to it start with."""
        with self.connection.as_owner():
            name = super().create_test_db(*args, **options)
        if defaults.missing():
            defaults.store()
        return name

    def destroy_test_db(self, *args: Any, **options: Any) -> None:
        """Drop the database."""
        self.connection.close()
        self.connection.close_pool()
        with self.connection.as_owner():
            super().destroy_test_db(*args, **options)
