"""Make the indexes of large organizations beside the work: `manage.py index_search`.

For organizations that grew past what a job may make while writers wait. Needs the address of the
owner of the tables, like `migrate`.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from accounts.tenancy import Tenant
from memory.index.actions import maintenance
from memory.management import targets


class Command(BaseCommand):
    """Make what is missing in all organizations, or in one."""

    help = "Make the indexes that searches of large organizations read, with nobody waiting."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the organization."""
        targets.add_organization(parser)
        parser.add_argument(
            "--memory",
            help="what Postgres may take for it, such as 2GB; as it is set when left out",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make them; say for each organization what was made."""
        with connection.as_owner():  # type: ignore[attr-defined]
            for tenant in targets.list_organizations(options):
                self._make(tenant, options["memory"])

    def _make(self, tenant: Tenant, memory: str | None) -> None:
        with targets.enter(tenant):
            made = maintenance.make_beside(
                say=lambda name: self.stderr.write(f"… {tenant.slug}: making {name}"),
                memory=memory,
            )
        self.stdout.write(f"{tenant.slug}: {', '.join(made) or 'nothing to make'}")
