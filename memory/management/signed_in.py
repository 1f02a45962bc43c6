"""In whose name a command acts: a person of an organization, named at the machine."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from accounts.authentication import caller_from_session
from accounts.caller import Caller
from accounts.errors import NotFound


def add_person(parser: ArgumentParser) -> None:
    """Take the organization, the person and the project."""
    parser.add_argument("--tenant", "--organization", required=True, help="its short name")
    parser.add_argument("--as", dest="person", required=True, help="a person's address")
    parser.add_argument("--project", help="a project's short name; none when left out")


def caller_of(options: Mapping[str, Any]) -> Caller:
    """Return the person as they are in the organization. Raises CommandError."""
    user = get_user_model().objects.filter(email__iexact=options["person"]).first()
    if user is None:
        raise CommandError(f"There is no person {options['person']!r}.")
    try:
        return caller_from_session(user_id=user.pk, organization_slug=options["tenant"])
    except NotFound as error:
        raise CommandError(f"They are in no organization {options['tenant']!r}.") from error
