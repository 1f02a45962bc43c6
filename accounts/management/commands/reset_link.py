"""Give an operator a link by which a person sets a new password, where no mail can bring it.

The link is shown on the terminal alone. It works once, for as long as one in a mail does.
"""

from argparse import ArgumentParser
from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from accounts.models import User


class Command(BaseCommand):
    """Print the link."""

    help = "Print a link by which a person sets a new password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the address of the account."""
        parser.add_argument("email", help="the address of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print it; refuse an address without an account."""
        person = User.objects.filter(email__iexact=options["email"], is_active=True).first()
        if person is None:
            raise CommandError(f"No active account has the address {options['email']}.")
        key = default_token_generator.make_token(person)
        named = {"uidb36": user_pk_to_url_str(person), "key": key}
        path = reverse("account_reset_password_from_key", kwargs=named)
        self.stdout.write(f"{settings.BASE_URL}{path}")
