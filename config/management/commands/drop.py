"""Delete an organization for good: `manage.py drop ORGANIZATION`."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from config.backup.organizations import drop_organization
from config.backup.places import BackupError


class Command(BaseCommand):
    """Delete an organization with all that is its own, and keep a receipt."""

    help = "Delete an organization for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take its short name."""
        parser.add_argument("organization", help="its short name")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, organization: str, yes: bool, **options: Any) -> None:
        """Ask for the short name once more, then delete it."""
        if not yes:
            if not sys.stdin.isatty():
                raise CommandError("To delete without being asked, add --yes.")
            if (
                input(f"Everything of {organization} is lost. Type its short name: ")
                != organization
            ):
                raise CommandError("That is another name; nothing was deleted.")
        try:
            receipt, path = drop_organization(slug=organization, now=timezone.now())
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{organization} was deleted: {sum(receipt.rows.values())} rows, audit log "
            f"{receipt.audit_count}:{receipt.audit_hash}. Receipt: {path}. Backups still hold it "
            "until they are deleted."
        )
