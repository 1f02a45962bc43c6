"""See, switch, take back or drop embedding models: `manage.py embed status|switch|…`.

Without `--organization` it goes through all of them; one that is refused stops no other and ends
the command with an error. The work itself is a job: a worker does it, `status` shows how far it is.
"""

from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import CommandError

from accounts.audit import Person
from accounts.tenancy import Tenant
from memory.index import queries as index_queries
from memory.index.actions import model_switch
from memory.management.targets import OrganizationCommand

OPERATOR: Final = Person(user_id=None, source_interface="command")
VERBS: Final = ("status", "switch", "cancel", "rollback", "drop")
WITH_KEY: Final = {"switch": "--to", "drop": "--model"}


class Command(OrganizationCommand):
    """Do one thing to the models of all organizations, or of one."""

    help = "Show or change the embedding models that searches compare by."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take what to do, to which model, and the organization."""
        parser.add_argument("what", choices=VERBS)
        parser.add_argument("--to", dest="key", help="of switch: key of the other model")
        parser.add_argument("--model", dest="key", help="of drop: key of the model")
        super().add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Refuse a verb without its model, else do it in each organization."""
        if options["what"] in WITH_KEY and not options["key"]:
            what = options["what"]
            raise CommandError(f"Name the model: embed {what} {WITH_KEY[what]} KEY.")
        super().handle(*args, **options)

    def work(self, tenant: Tenant, options: dict[str, Any]) -> str:
        """Do one thing to the models of the entered organization."""
        return _act(options["what"], options["key"] or "")


def _act(what: str, key: str) -> str:
    """Do one thing in an organization; return what came of it, in lines."""
    if what == "status":
        found = index_queries.models(caller=None)
        return "\n".join(
            f"{model.key} ({model.part}): {model.embedded} of {found.needed} memories"
            + ("" if model.overlap is None else f", overlap@10 {model.overlap:.2f}")
            for model in found.models
        )
    if what == "switch":
        model_switch.switch(caller=OPERATOR, key=key)
        return f"memories are being embedded with {key}; `embed status` shows how far it is"
    if what == "cancel":
        model_switch.cancel(caller=OPERATOR)
        return "the switch is cancelled"
    if what == "rollback":
        return f"searches compare by {model_switch.roll_back(caller=OPERATOR)} again"
    model_switch.drop(caller=OPERATOR, key=key)
    return f"the vectors of {key} are being deleted"
