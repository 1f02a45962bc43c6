"""Whom a command is for: every organization or one, or a person in whose name it acts."""

from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from accounts import tenancy
from accounts.authentication import caller_from_session, entered
from accounts.caller import Caller
from accounts.errors import CairnError, NotFound
from accounts.tenancy import Tenant


class PersonCommand(BaseCommand, ABC):
    """A command that does its work in the name of a person of an organization."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the organization, the person and the project."""
        parser.add_argument("--tenant", "--organization", required=True, help="its short name")
        parser.add_argument("--as", dest="person", required=True, help="a person's address")
        parser.add_argument("--project", help="a project's short name; none when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the work in the person's name. Raises CommandError."""
        user = get_user_model().objects.filter(email__iexact=options["person"]).first()
        if user is None:
            raise CommandError(f"There is no person {options['person']!r}.")
        try:
            caller = caller_from_session(user_id=user.pk, organization_slug=options["tenant"])
        except NotFound as error:
            raise CommandError(f"They are in no organization {options['tenant']!r}.") from error
        try:
            with entered(caller):
                self.work(caller, options)
        except CairnError as error:
            raise CommandError(f"{error.detail} {error.hint}") from error

    @abstractmethod
    def work(self, caller: Caller, options: dict[str, Any]) -> None:
        """Do it in the entered organization, and say what came of it."""


class OrganizationCommand(BaseCommand, ABC):
    """A command that does its work in every organization, or in the one that is named."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the organization, all of them when it is left out."""
        parser.add_argument("--tenant", "--organization", help="its short name; all when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the work; say for each organization what came of it. One refused stops no other."""
        slug = options["tenant"]
        tenants = [one for one in tenancy.each_organization() if slug in {None, one.slug}]
        if slug is not None and not tenants:
            raise CommandError(f"There is no organization {slug!r}.")
        refused = 0
        for tenant in tenants:
            with tenancy.enter(tenant):
                try:
                    for line in self.work(tenant, options).splitlines():
                        self.stdout.write(f"{tenant.slug}: {line}")
                except CairnError as error:
                    self.stderr.write(f"{tenant.slug}: {error.detail} {error.hint}".rstrip())
                    refused += 1
        if refused:
            raise CommandError(f"Refused for {refused} of {len(tenants)} organizations.")

    @abstractmethod
    def work(self, tenant: Tenant, options: dict[str, Any]) -> str:
        """Do it in the entered organization, and return what came of it, in lines."""

    def tell_progress(self, tenant: Tenant) -> Callable[[int, int], None]:
        """Return what says how many memories are done."""
        return lambda done, total: self.stdout.write(f"{tenant.slug}: {done} of {total} memories")
