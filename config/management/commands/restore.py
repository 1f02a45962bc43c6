"""Restore a backup: `manage.py restore FROM`, into an empty database."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.backup import actions
from config.backup.archive import HOME, open_backup
from config.backup.keys import add_key_option, read_secret
from config.backup.places import BackupError
from config.embedded.home import write_private


class Command(BaseCommand):
    """Restore everything, or write down the secrets of a backup."""

    help = "Restore a backup into an empty database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the backup and its key."""
        parser.add_argument("source", metavar="FROM", help="a backup, or a place: its newest")
        parser.add_argument("--secrets", type=Path, help="only write its secrets to this file")
        add_key_option(parser)

    def handle(self, *args: Any, source: str, secrets: Path | None, **options: Any) -> None:
        """Do it; refuse in a sentence."""
        try:
            backup = open_backup(address=source, secret=read_secret(path=options["key_file"]))
            if secrets is not None:
                self._write_secrets(json.loads(b"".join(backup.read(HOME))), secrets)
                return
            actions.restore(backup=backup, database=actions.own_database())
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{backup.name} was restored; start Cairn now.")

    def _write_secrets(self, files: dict[str, str], target: Path) -> None:
        if "secrets.json" not in files:
            raise BackupError("That backup is not encrypted, so it holds no secrets.")
        write_private(path=target, text=files["secrets.json"])
        self.stdout.write(f"Its secrets are in {target}.")
