"""Sort memories into topics now, without waiting for the night: `manage.py sort_topics`."""

from typing import Any

from django.utils import timezone

from accounts.tenancy import Tenant
from memory.management.targets import OrganizationCommand
from memory.topics import actions as topics_actions


class Command(OrganizationCommand):
    """Sort the memories of all organizations, or of one."""

    help = "Sort memories into topics, as the nightly work does."

    def work(self, tenant: Tenant, options: dict[str, Any]) -> str:
        """Sort, and say how far it is."""
        found = topics_actions.sort_topics(now=timezone.now(), tell=self.tell_progress(tenant))
        return f"{found.topics} topics of {found.memories} memories in {found.places} places"
