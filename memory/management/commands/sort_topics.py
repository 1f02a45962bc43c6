"""Sort memories into topics now, without waiting for the night: `manage.py sort_topics`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from accounts.tenancy import Tenant
from memory.management import targets
from memory.topics import actions as topics_actions


class Command(BaseCommand):
    """Sort the memories of all organizations, or of one."""

    help = "Sort memories into topics, as the nightly work does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the organization."""
        targets.add_organization(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Sort; say how far it is and, for each organization, what came of it."""
        for tenant in targets.list_organizations(options):
            self._sort(tenant)

    def _sort(self, tenant: Tenant) -> None:
        def tell(done: int, total: int) -> None:
            self.stdout.write(f"{tenant.slug}: {done} of {total} memories")

        with targets.enter(tenant):
            found = topics_actions.sort_topics(now=timezone.now(), tell=tell)
        self.stdout.write(
            f"{tenant.slug}: {found.topics} topics of {found.memories} memories"
            f" in {found.places} places"
        )
