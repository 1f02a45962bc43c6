"""Bring every organization's schema up to date; resumes where it stopped."""

from typing import Any

from django.core.management.base import BaseCommand

from accounts import schema


class Command(BaseCommand):
    """Capture new migrations of the tenant schema, then replay them where they are missing."""

    help = "Bring every organization's schema up to date."

    def handle(self, *args: Any, **options: Any) -> None:
        """Run both steps with a line for each organization that was behind."""
        position = schema.capture()
        late = list(schema.behind())
        for number, organization in enumerate(late, start=1):
            steps = schema.replay(organization=organization)
            self.stdout.write(f"[{number}/{len(late)}] {organization.slug}: {steps} steps")
        self.stdout.write(f"Tenant schema is at step {position}; {len(late)} brought up to date.")
