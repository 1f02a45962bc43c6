"""Make the indexes of large organizations beside the work: `manage.py index_search`.

For organizations that grew past what a job may make while writers wait. Needs the address of the
owner of the tables, like `migrate`.
"""

from argparse import ArgumentParser
from typing import Any

from django.db import connection

from accounts.tenancy import Tenant
from memory.index.actions import maintenance
from memory.management.targets import OrganizationCommand


class Command(OrganizationCommand):
    """Make what is missing in all organizations, or in one."""

    help = "Make the indexes that searches of large organizations read, with nobody waiting."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the organization."""
        super().add_arguments(parser)
        parser.add_argument(
            "--memory",
            help="what Postgres may take for it, such as 2GB; as it is set when left out",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make them as the owner of the tables."""
        with connection.as_owner():  # type: ignore[attr-defined]
            super().handle(*args, **options)

    def work(self, tenant: Tenant, options: dict[str, Any]) -> str:
        """Make them in an organization; return their names."""
        made = maintenance.make_beside(
            say=lambda name: self.stderr.write(f"… {tenant.slug}: making {name}"),
            memory=options["memory"],
        )
        return ", ".join(made) or "nothing to make"
