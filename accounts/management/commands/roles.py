"""Make the application's database role on a server of one's own, and say what to put where.

Web, worker and clock connect as a role that owns no table, for row-level security to hold. Where
the settings know the owner, the application's role is the one of DATABASE_URL, with its password.
Where they do not, the one role there is becomes the owner, and a new one is made for the
application. May be run again: a role that is there keeps its password and gets what it lacks.
"""

import secrets
from argparse import ArgumentParser
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import ProgrammingError, connection

from accounts.tenancy import rls

NAME = "cairn_app"
PASSWORD_BYTES = 24  # 192 bits, 32 characters


class Command(BaseCommand):
    """Make the role and print its address."""

    help = "Make the database role of web, worker and clock, which owns nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the name of the role."""
        parser.add_argument(
            "--name", default=NAME, help="where DATABASE_OWNER_URL is not set: the role to make"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it; refuse in a sentence."""
        knows_owner = settings.DATABASE_OWNER is not None
        given = settings.DATABASES["default"]
        name = str(given["USER"]) if knows_owner else options["name"]
        password = str(given["PASSWORD"]) if knows_owner else ""
        with connection.as_owner():  # type: ignore[attr-defined]
            if rls.powers().role == name:
                raise CommandError(
                    f"{name} owns the tables, so it cannot be the application's role too. "
                    "Give the two addresses two roles, or choose another name."
                )
            if not knows_owner and not rls.has_role(name=name):
                password = secrets.token_urlsafe(PASSWORD_BYTES)
            is_admitted = self._admit(name, password)
        self.stdout.write(f"{name} may read and write rows and owns nothing.")
        if not knows_owner:
            self._print_addresses(name, password)
        if not is_admitted or not knows_owner:
            self.stdout.write("Then run: manage.py migrate")

    def _admit(self, name: str, password: str) -> bool:
        """Make the role or give it the password, and let it in; False: `migrate` lets it in."""
        try:
            if password or not rls.has_role(name=name):
                rls.make_role(name=name, password=password)
            is_installed = rls.is_installed()
            if is_installed:
                rls.admit(role=name)
        except ProgrammingError as error:
            raise CommandError(
                f"The owner's role may not make it: {str(error).strip().splitlines()[0]}. "
                f"Let a superuser give it CREATEROLE, or make the role."
            ) from error
        return is_installed

    def _print_addresses(self, name: str, password: str) -> None:
        given = settings.DATABASES["default"]
        shown = quote(password, safe="") or "ITS-PASSWORD"
        server = f"{quote(str(given['HOST']), safe='')}:{given['PORT'] or 5432}/{given['NAME']}"
        self.stdout.write("Set DATABASE_OWNER_URL to what DATABASE_URL is now, for migrate alone,")
        self.stdout.write(f"and DATABASE_URL=postgresql://{name}:{shown}@{server}")
