"""Copy everything to a folder or a bucket: `manage.py backup TO`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from config.backup.actions import back_up
from config.backup.keys import add_key_option, read_secret
from config.backup.places import BackupError


class Command(BaseCommand):
    """Make a backup and say what it holds, and what it needs to be used."""

    help = "Copy the database and what belongs to it to a folder or a bucket."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the place, the key, and how many backups to keep there."""
        parser.add_argument("to", help="a folder, or s3://bucket/path")
        parser.add_argument("--keep", type=int, help="delete all but the newest so many there")
        add_key_option(parser)

    def handle(self, *args: Any, to: str, keep: int | None, **options: Any) -> None:
        """Make it; refuse with a message."""
        if keep is not None and keep < 1:
            raise CommandError("--keep is how many backups stay, at least 1.")
        try:
            secret = read_secret(path=options["key_file"])
            made = back_up(address=to, secret=secret, keep=keep, now=timezone.now())
        except BackupError as error:
            raise CommandError(str(error)) from error
        size = sum(part.size for part in made.manifest.parts.values())
        rows = sum(table.rows for table in made.contents.tables.values())
        count = len(made.contents.organizations)
        self.stdout.write(
            f"{made.name}: {count} organizations, {len(made.contents.tables)} tables, "
            f"{rows} rows, {size / 1_000_000:.1f} MB, "
            f"{'encrypted' if secret else 'not encrypted'}."
        )
        if made.manifest.needs:
            self.stdout.write(
                f"It holds no secrets. Keep {' and '.join(made.manifest.needs)} (secrets.json in "
                "the data folder) elsewhere: without them all tokens and second factors end."
            )
        for name in made.pruned:
            self.stdout.write(f"{name}: deleted.")
