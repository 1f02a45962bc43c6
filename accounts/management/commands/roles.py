"""Make the application's database role on a server of one's own, and say what to put where.

May be run again: a role that is there keeps its password and gets what it lacks.
"""

from argparse import ArgumentParser
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import ProgrammingError

from accounts.actions.roles import MadeRole, make_application_role
from accounts.errors import Conflict

NAME = "cairn_app"


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
        try:
            made = make_application_role(name=options["name"])
        except Conflict as error:
            raise CommandError(f"{error.detail} {error.hint}") from error
        except ProgrammingError as error:
            raise CommandError(
                f"The owner's role may not make it: {str(error).strip().splitlines()[0]}. "
                f"Let a superuser give it CREATEROLE, or make the role."
            ) from error
        self.stdout.write(f"{made.name} may read and write rows and owns nothing.")
        if settings.DATABASE_OWNER is None:
            self._say_addresses(made)
        if not made.is_admitted or settings.DATABASE_OWNER is None:
            self.stdout.write("Then run: manage.py migrate")

    def _say_addresses(self, made: MadeRole) -> None:
        given = settings.DATABASES["default"]
        password = quote(made.password, safe="") or "ITS-PASSWORD"
        place = f"{quote(str(given['HOST']), safe='')}:{given['PORT'] or 5432}/{given['NAME']}"
        self.stdout.write("Set DATABASE_OWNER_URL to what DATABASE_URL is now, for migrate alone,")
        self.stdout.write(f"and DATABASE_URL=postgresql://{made.name}:{password}@{place}")
