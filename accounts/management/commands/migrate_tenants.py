"""Bring every organization's schema up to date; resumes where it stopped."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from accounts.tenancy import provisioning


class Command(BaseCommand):
    """Capture new migrations of the tenant schema, then replay them where they are missing."""

    help = "Bring every organization's schema up to date."

    def handle(self, *args: Any, **options: Any) -> None:
        """Run both steps as the owner, with a line for each organization that was behind."""
        with connection.as_owner():  # type: ignore[attr-defined]
            position = provisioning.capture()
            late = provisioning.behind()
            for number, organization in enumerate(late, start=1):
                steps = provisioning.replay(organization=organization)
                self.stdout.write(f"[{number}/{len(late)}] {organization.slug}: {steps} steps")
            provisioning.open_to_application()
            self.stdout.write(
                f"Tenant schema is at step {position}; {len(late)} brought up to date."
            )
