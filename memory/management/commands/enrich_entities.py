"""Read names now, or take back what was read: `manage.py enrich_entities`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts import tenancy
from accounts.jobs import PermanentFailure
from accounts.tenancy import Tenant
from memory.entities.actions.enrich_entities import A_NIGHT, enrich_part
from memory.entities.actions.forget_enriched import forget_enriched


class Command(BaseCommand):
    """Read the names in the memories of all organizations, or of one."""

    help = "Read names of people, organizations and places in memories, as the nightly work does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the organization, and which way to go."""
        parser.add_argument("--tenant", "--organization", help="its short name; all when left out")
        parser.add_argument(
            "--take-back", action="store_true", help="forget what was read, and read it no more"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Read or forget; say for each organization what came of it."""
        slug = options["tenant"]
        tenants = tuple(one for one in tenancy.each_organization() if slug in {None, one.slug})
        if slug is not None and not tenants:
            raise CommandError(f"There is no organization {slug!r}.")
        for tenant in tenants:
            with tenancy.enter(
                organization_id=tenant.organization_id,
                slug=tenant.slug,
                schema_name=tenant.schema_name,
            ):
                said = self._forget() if options["take_back"] else self._read(tenant)
            self.stdout.write(f"{tenant.slug}: {said}")

    def _read(self, tenant: Tenant) -> str:
        """Read a part; what is left of a night, a worker does."""
        try:
            found = enrich_part(left=A_NIGHT, tell=lambda *so_far: self._tell(tenant, *so_far))
        except PermanentFailure as error:
            raise CommandError(str(error)) from error
        if "not_installed" in found:
            raise CommandError(found["not_installed"])
        return f"{found['named']} names in {found['read']} memories"

    def _forget(self) -> str:
        return f"{forget_enriched()} names forgotten"

    def _tell(self, tenant: Tenant, done: int, total: int) -> None:
        self.stdout.write(f"{tenant.slug}: {done} of {total} memories")
