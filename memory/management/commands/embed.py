"""See, switch, take back or drop embedding models: `manage.py embed status|switch|…`.

Without `--organization` it goes through all of them; one that is refused stops no other and ends
the command with an error. The work itself is a job: a worker does it, `status` shows how far it is.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from accounts import tenancy
from accounts.audit import Person
from accounts.errors import CairnError
from accounts.tenancy import Tenant
from memory.index import queries as index_queries
from memory.index.actions import model_switch

OPERATOR: Final = Person(user_id=None, source_interface="command")
VERBS: Final = ("status", "switch", "cancel", "rollback", "drop")
WITH_KEY: Final = {"switch": "--to", "drop": "--model"}


class Command(BaseCommand):
    """Do one thing to the models of all organizations, or of one."""

    help = "Show or change the embedding models that searches compare by."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take what to do, to which model, and the organization."""
        parser.add_argument("what", choices=VERBS)
        parser.add_argument("--to", dest="key", help="of switch: key of the other model")
        parser.add_argument("--model", dest="key", help="of drop: key of the model")
        parser.add_argument("--organization", help="its short name; all when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it; say for each organization what came of it."""
        what, key = options["what"], options["key"]
        if what in WITH_KEY and not key:
            raise CommandError(f"Name the model: embed {what} {WITH_KEY[what]} KEY.")
        tenants = _chosen(options["organization"])
        refused = sum(not self._does(tenant, what, key or "") for tenant in tenants)
        if refused:
            raise CommandError(f"Refused for {refused} of {len(tenants)} organizations.")

    def _does(self, tenant: Tenant, what: str, key: str) -> bool:
        with tenancy.enter(
            organization_id=tenant.organization_id,
            slug=tenant.slug,
            schema_name=tenant.schema_name,
        ):
            try:
                said = ACTS[what](key)
            except CairnError as error:
                self.stderr.write(f"{tenant.slug}: {error.detail} {error.hint}".rstrip())
                return False
        for line in said:
            self.stdout.write(f"{tenant.slug}: {line}")
        return True


def _status(_key: str) -> tuple[str, ...]:
    found = index_queries.every()
    return tuple(
        f"{model.key} ({model.part}): {model.embedded} of {found.needed} memories"
        + ("" if model.overlap is None else f", overlap@10 {model.overlap:.2f}")
        for model in found.models
    )


def _switch(key: str) -> tuple[str, ...]:
    model_switch.begin(actor=OPERATOR, key=key)
    return (f"memories are being embedded with {key}; `embed status` shows how far it is",)


def _cancel(_key: str) -> tuple[str, ...]:
    model_switch.stop(actor=OPERATOR)
    return ("the switch is cancelled",)


def _roll_back(_key: str) -> tuple[str, ...]:
    back = model_switch.go_back(actor=OPERATOR)
    return (f"searches compare by {back} again",)


def _drop(key: str) -> tuple[str, ...]:
    model_switch.forget(actor=OPERATOR, key=key)
    return (f"the vectors of {key} are being deleted",)


def _chosen(slug: str | None) -> tuple[Tenant, ...]:
    found = tuple(
        tenant for tenant in tenancy.each_organization() if slug is None or tenant.slug == slug
    )
    if slug is not None and not found:
        raise CommandError(f"There is no organization {slug!r}.")
    return found


ACTS: Final[Mapping[str, Callable[[str], tuple[str, ...]]]] = {
    "status": _status,
    "switch": _switch,
    "cancel": _cancel,
    "rollback": _roll_back,
    "drop": _drop,
}
