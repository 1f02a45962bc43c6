"""Django's flush as the owner of the tables: the application's role may not empty them."""

from typing import Any

from django.core.management.commands import flush
from django.db import connection


class Command(flush.Command):
    """Empty the shared tables."""

    def handle(self, **options: Any) -> None:
        """Run Django's own command."""
        with connection.as_owner():  # type: ignore[attr-defined]
            super().handle(**options)
