"""Read names now, or take back what was read: `manage.py enrich_entities`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.jobs import PermanentFailure
from accounts.tenancy import Tenant
from memory.entities.actions import A_NIGHT, enrich_entities, forget_enriched
from memory.management.targets import OrganizationCommand


class Command(OrganizationCommand):
    """Read the names in the memories of all organizations, or of one."""

    help = "Read names of people, organizations and places in memories, as the nightly work does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the organization, and which way to go."""
        super().add_arguments(parser)
        parser.add_argument(
            "--take-back", action="store_true", help="forget what was read, and read it no more"
        )

    def work(self, tenant: Tenant, options: dict[str, Any]) -> str:
        """Read a part, or forget what was read; what is left of a night, a worker does."""
        if options["take_back"]:
            return f"{forget_enriched()} names forgotten"
        try:
            found = enrich_entities(left=A_NIGHT, tell=self.tell_progress(tenant))
        except PermanentFailure as error:
            raise CommandError(str(error)) from error
        if "not_installed" in found:
            raise CommandError(found["not_installed"])
        return f"{found['named']} names in {found['read']} memories"
