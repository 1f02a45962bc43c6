"""Django's migrate for the public schema, then what connections start with, then the tenants.

Stands in for the command of the same name of django-tenants, which walks every tenant with
session-level schema switches even when nothing is to do.
"""

from typing import Any

from django.core.management import call_command
from django.core.management.commands import migrate
from django.db import connection

from accounts.tenancy import provisioning, rls


class Command(migrate.Command):
    """Migrate everything; with an app named, only the public schema."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run Django's own command, then `migrate_tenants`."""
        with connection.as_owner():  # type: ignore[attr-defined]
            super().handle(*args, **options)
            if options["app_label"]:
                return
            provisioning.install_rls()
        if rls.missing_connection_defaults():
            rls.store_connection_defaults()
        call_command("migrate_tenants", stdout=self.stdout, verbosity=options["verbosity"])
