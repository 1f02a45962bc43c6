"""Hooks of a project over REST: what gives memory back, each switched by itself."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import TRUTH, record
from accounts.api.shapes import Field, Record, Truth
from accounts.caller import TokenScope
from teams.actions.project_settings import switch_hooks
from teams.queries import ASKED_FOR, Hook, Hooks, hooks_of

SAYS: Final[Mapping[Hook, str]] = {
    Hook.BRIEF: "The brief at the first prompt.",
    Hook.PREFETCH: "Files to have at hand and unfinished work, when a session begins.",
    Hook.WARNINGS: "Warnings of a file that was just read or edited.",
    Hook.STEP: "Anything between steps; off, the two below are off as well.",
    Hook.STEP_RECORDED: "Between steps, what is known of an entry that the agent just recorded.",
    Hook.STEP_SEARCHED: "Between steps, what answers the agent's last searches.",
    Hook.PLANNER: "What a plan should know, and its checklist.",
}
CHANGES: Final = Record(
    name="HookChanges",
    partial=True,
    fields=tuple(Field(name=hook.value, shape=Truth(), says=SAYS[hook]) for hook in Hook),
)
_HOOKS: Final = {hook.value: hook not in ASKED_FOR for hook in Hook}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Hooks": record(**{hook.value: TRUTH for hook in Hook})
}


def look(ask: Ask) -> Answer:
    """Say which hooks are on."""
    return Answer(body=_shown(hooks_of(caller=ask.caller, ref=ask.path["ref"])))


def change(ask: Ask) -> Answer:
    """Switch some hooks."""
    switched = {Hook(name): is_on for name, is_on in ask.body.items()}
    return Answer(
        body=_shown(switch_hooks(caller=ask.caller, ref=ask.path["ref"], switched=switched))
    )


def _shown(found: Hooks) -> dict[str, bool]:
    return {hook.value: is_on for hook, is_on in found.items()}


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="projects/{ref}/hooks",
        name="get_hooks",
        tag="projects",
        summary="Say what gives memory back",
        scope=TokenScope.READ,
        run=look,
        replies=(Reply(status=200, says="Which hooks are on.", schema="Hooks", example=_HOOKS),),
    ),
    Endpoint(
        method="PATCH",
        path="projects/{ref}/hooks",
        name="switch_hooks",
        tag="projects",
        summary="Switch what gives memory back",
        says="Each hook by itself; one that is off stays off, whatever the others say.",
        scope=TokenScope.WRITE,
        run=change,
        body=CHANGES,
        example={"warnings": False},
        idempotent=True,
        replies=(Reply(status=200, says="Which hooks are on.", schema="Hooks", example=_HOOKS),),
    ),
)
