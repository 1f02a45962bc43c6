"""Try a backup: `manage.py verify FROM` restores it into a scratch database and compares."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from config.backup.archive import open_backup
from config.backup.keys import add_key_option, read_secret
from config.backup.places import BackupError
from config.backup.verification import try_backup


class Command(BaseCommand):
    """Report what is well and what is not; exit with 1 when something is not."""

    help = "Restore a backup into a scratch database and compare it with what it promises."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the backup and its key."""
        parser.add_argument("source", metavar="FROM", help="a backup, or a place: its newest")
        add_key_option(parser)

    def handle(self, *args: Any, source: str, **options: Any) -> None:
        """Print a line for each finding."""
        wrong = 0
        try:
            backup = open_backup(address=source, secret=read_secret(path=options["key_file"]))
            for is_well, text in try_backup(backup=backup, now=timezone.now()):
                style, sign = (self.style.SUCCESS, "✓") if is_well else (self.style.ERROR, "✗")
                self.stdout.write(f"{style(sign)} {text}.")
                wrong += not is_well
        except BackupError as error:
            raise CommandError(str(error)) from error
        if wrong:
            self.stdout.write(f"{wrong} findings are wrong; do not rely on this backup.")
            sys.exit(1)
        self.stdout.write("This backup can be restored.")
