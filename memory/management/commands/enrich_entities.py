"""Read names now, or take back what was read: `manage.py enrich_entities`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.jobs import PermanentFailure
from accounts.tenancy import Tenant
from memory.entities.actions import A_NIGHT, enrich_entities, forget_enriched
from memory.management import targets


class Command(BaseCommand):
    """Read the names in the memories of all organizations, or of one."""

    help = "Read names of people, organizations and places in memories, as the nightly work does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the organization, and which way to go."""
        targets.add_organization(parser)
        parser.add_argument(
            "--take-back", action="store_true", help="forget what was read, and read it no more"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Read or forget; say for each organization what came of it."""
        for tenant in targets.list_organizations(options):
            with targets.enter(tenant):
                if options["take_back"]:
                    said = f"{forget_enriched()} names forgotten"
                else:
                    said = self._read(tenant)
            self.stdout.write(f"{tenant.slug}: {said}")

    def _read(self, tenant: Tenant) -> str:
        """Read a part; what is left of a night, a worker does."""

        def tell(done: int, total: int) -> None:
            self.stdout.write(f"{tenant.slug}: {done} of {total} memories")

        try:
            found = enrich_entities(left=A_NIGHT, tell=tell)
        except PermanentFailure as error:
            raise CommandError(str(error)) from error
        if "not_installed" in found:
            raise CommandError(found["not_installed"])
        return f"{found['named']} names in {found['read']} memories"
