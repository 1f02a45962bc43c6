"""Delete a person's account for good: `manage.py erase_person EMAIL`."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.errors import CairnError
from memory.erasure.actions.erase_person import erase_person


class Command(BaseCommand):
    """Delete an account, and what its person alone can see in each organization."""

    help = "Delete a person's account, and what they alone can see, for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the address."""
        parser.add_argument("email", help="the address that they sign in with")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, email: str, yes: bool, **options: Any) -> None:
        """Ask for the address once more, then delete; say what went. Raises CommandError."""
        if not yes:
            if not sys.stdin.isatty():
                raise CommandError("To delete without being asked, add --yes.")
            if input(f"All that is {email}'s alone is lost. Type the address: ") != email:
                raise CommandError("That is another address; nothing was deleted.")
        try:
            erased = erase_person(email=email, by=None, now=timezone.now())
        except CairnError as error:
            raise CommandError(f"{error.detail} {error.hint}") from error
        for one in erased:
            self.stdout.write(
                f"{one.slug}: {one.memories} memories, {one.sessions} sessions and {one.others} "
                "other rows deleted"
            )
        self.stdout.write("The account is deleted. Backups still hold it until they are deleted.")
