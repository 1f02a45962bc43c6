"""Restore a backup into an empty database, or one organization of it into this installation."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.backup import actions
from config.backup.archive import HOME, Backup, open_backup
from config.backup.keys import add_key_option, read_secret
from config.backup.organizations import restore_organization
from config.backup.places import BackupError
from config.embedded.home import write_private


class Command(BaseCommand):
    """Restore everything or one organization, or write down the secrets of a backup."""

    help = "Restore a backup into an empty database, or one organization of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the backup, its key, and what to restore."""
        parser.add_argument("source", metavar="FROM", help="a backup, or a place: its newest")
        parser.add_argument("--secrets", type=Path, help="only write its secrets to this file")
        parser.add_argument("--organization", help="only this one, by its short name")
        parser.add_argument("--replace", action="store_true", help="even if that one exists")
        parser.add_argument(
            "--even-erased", action="store_true", help="also what was dropped since"
        )
        add_key_option(parser)

    def handle(self, *args: Any, source: str, secrets: Path | None, **options: Any) -> None:
        """Do it; refuse with a message."""
        try:
            backup = open_backup(address=source, secret=read_secret(path=options["key_file"]))
            if secrets is not None:
                self._write_secrets(json.loads(b"".join(backup.read(HOME))), secrets)
                return
            if options["organization"]:
                self._restore_organization(backup, options)
                return
            dropped = actions.restore(
                backup=backup, database=actions.own_database(), even_erased=options["even_erased"]
            )
        except BackupError as error:
            raise CommandError(str(error)) from error
        for receipt in dropped:
            self.stdout.write(
                f"{receipt.slug} was dropped on {receipt.dropped_at:%Y-%m-%d} and stays out; "
                f"--organization {receipt.slug} --even-erased restores it."
            )
        self.stdout.write(f"{backup.name} was restored; start Cairn now.")

    def _restore_organization(self, backup: Backup, options: dict[str, Any]) -> None:
        returned = restore_organization(
            backup=backup,
            slug=options["organization"],
            is_replaced=options["replace"],
            even_erased=options["even_erased"],
        )
        self.stdout.write(f"{returned.slug} is as it was in {backup.name}: {returned.rows} rows.")
        if returned.members_left_out or returned.tokens_left_out:
            self.stdout.write(
                f"{returned.members_left_out} members and {returned.tokens_left_out} tokens were "
                "left out: they had lost their rights since, or their address is another "
                "person's now."
            )

    def _write_secrets(self, files: dict[str, str], target: Path) -> None:
        if "secrets.json" not in files:
            raise BackupError("That backup is not encrypted, so it holds no secrets.")
        write_private(path=target, text=files["secrets.json"])
        self.stdout.write(f"Its secrets are in {target}.")
