"""Give a new installation its owner, organization, project and token.

Run at the start of the one-command installation. While the credentials file is there the owner
stays as they are; when the file is lost, a new password and token are made and the lost token ends.
The file is written last, so a crash before it only means that the next run starts over.

Each agent's program gets a token of its own besides, which reads and writes and decides nothing,
in a file that is called like it; so it is with a file that is lost.
"""

import json
import secrets
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from accounts import audit
from accounts.actions.organizations import create_organization, install_owner
from accounts.actions.tokens import NewToken, create_token, revoke_token
from accounts.audit import Origin, Surface
from accounts.authentication import caller_from_session, entered
from accounts.caller import Caller, TokenScope
from accounts.errors import CairnError
from accounts.models import User
from accounts.queries import list_tokens, longest_token_days, organizations_of
from config.embedded.home import write_private
from memory.client.install import HARNESSES
from teams import queries as places
from teams.actions import create_project
from teams.models import AuditEntry

EMAIL: Final = "owner@cairn.localhost"
ORGANIZATION: Final = ("home", "Home")
PROJECT: Final = ("cairn", "Cairn")
PROGRAM_SCOPES: Final = frozenset({TokenScope.READ, TokenScope.WRITE})
TOKEN_NAME: Final = "First token"  # noqa: S105 - a name, shown in lists
SCOPES: Final = frozenset(TokenScope) - {
    TokenScope.REVIEW
}  # the file also holds the password of the same owner
PASSWORD_BYTES: Final = 15  # 120 bits, 20 characters


class Command(BaseCommand):
    """Create the owner and write the credentials, once."""

    help = "Create the owner, an organization, a project and a token; write them to a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the path of the file."""
        parser.add_argument("--credentials", type=Path, required=True, help="file to write")
        parser.add_argument("--tokens", type=Path, help="folder for the tokens of programs")

    def handle(self, *args: Any, credentials: Path, **options: Any) -> None:
        """Write and print the credentials unless the file is there; write what tokens miss."""
        folder, now = options.get("tokens") or credentials.with_name("tokens"), timezone.now()
        missing = [name for name in HARNESSES if not (folder / name).exists()]
        is_new = not credentials.exists()
        if not (is_new or missing):
            return
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with audit.coming_from(origin=Origin(surface=Surface.COMMAND, request_id=uuid4().hex)):
            fields = _install(now=now) if is_new else json.loads(credentials.read_text())
            try:
                owner = _find_owner(fields)
                for name in missing:
                    token = _replace_token(owner, NewToken(name=name, scopes=PROGRAM_SCOPES), now)
                    write_private(path=folder / name, text=f"{token}\n")
            except CairnError as error:  # an owner who has left: people can still sign in
                self.stderr.write(f"The programs got no tokens: {error}")
        if is_new:
            text = json.dumps(fields, indent=2)
            write_private(path=credentials, text=text + "\n")
            self.stdout.write(text)


def _find_owner(fields: Mapping[str, str]) -> Caller:
    """Return the owner whom the credentials name. Raises NotFound for one who has left."""
    user_id = User.objects.filter(email__iexact=fields["email"]).values_list("id", flat=True)
    return caller_from_session(
        user_id=user_id.first() or uuid4(), organization_slug=fields["organization"]
    )


def _replace_token(caller: Caller, new: NewToken, now: datetime) -> str:
    """Make a token, end those of its name that this command made, and return its text.

    The audit log says which those are; a person may have named one of their own the same.
    """
    days = longest_token_days(caller=caller)
    made = create_token(caller=caller, new=replace(new, expires_in_days=days), now=now)
    mine = {
        str(token.id): token.id
        for token in list_tokens(caller=caller)
        if token.name == new.name and token.user_id == caller.user_id and token.id != made.token.id
    }
    with audit.unit_of(caller):
        entries = AuditEntry.objects.filter(
            object_id__in=list(mine), act="token.created", surface=Surface.COMMAND.value
        )
        before = list(entries.order_by("number").values_list("object_id", flat=True))
    for token_id in before:
        revoke_token(caller=caller, token_id=mine[token_id], now=now)
    return made.text


def _install(*, now: datetime) -> dict[str, str]:
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    user_id = install_owner(email=EMAIL, password=password)
    joined = organizations_of(user_id=user_id)
    slug, name = ORGANIZATION
    organization = (
        joined[0]
        if joined
        else create_organization(user_id=user_id, name=name, slug=slug, personal=True, now=now)
    )
    caller = caller_from_session(user_id=user_id, organization_slug=organization.slug)
    project, project_name = PROJECT
    with entered(caller):
        if project not in {known.slug for known in places.projects(caller=caller)}:
            create_project(caller=caller, slug=project, name=project_name, now=now)
    return {
        "url": settings.BASE_URL,
        "email": EMAIL,
        "password": password,
        "token": _replace_token(caller, NewToken(name=TOKEN_NAME, scopes=SCOPES), now),
        "organization": organization.slug,
        "project": project,
    }
