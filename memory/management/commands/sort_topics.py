"""Sort memories into topics now, without waiting for the night: `manage.py sort_topics`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts import tenancy
from accounts.tenancy import Tenant
from memory.topics import actions as topics_actions


class Command(BaseCommand):
    """Sort the memories of all organizations, or of one."""

    help = "Sort memories into topics, as the nightly work does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the organization."""
        parser.add_argument("--tenant", "--organization", help="its short name; all when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        """Sort; say how far it is and, for each organization, what came of it."""
        slug = options["tenant"]
        tenants = tuple(one for one in tenancy.each_organization() if slug in {None, one.slug})
        if slug is not None and not tenants:
            raise CommandError(f"There is no organization {slug!r}.")
        for tenant in tenants:
            self._sort(tenant)

    def _sort(self, tenant: Tenant) -> None:
        with tenancy.enter(
            organization_id=tenant.organization_id,
            slug=tenant.slug,
            schema_name=tenant.schema_name,
        ):
            found = topics_actions.sort_topics(
                now=timezone.now(), tell=lambda done, total: self._tell(tenant, done, total)
            )
        self.stdout.write(
            f"{tenant.slug}: {found.topics} topics of {found.memories} memories"
            f" in {found.places} places"
        )

    def _tell(self, tenant: Tenant, done: int, total: int) -> None:
        self.stdout.write(f"{tenant.slug}: {done} of {total} memories")
