"""The hooks of a project as pages show them: what each gives back, and whether it is on (4.6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext_lazy

from accounts.caller import Caller
from frontend.labels.memory_labels import Name
from teams.queries import Hook, hooks_of

WORDS: Final[Mapping[Hook, tuple[Name, Name]]] = {
    Hook.BRIEF: (
        gettext_lazy("A brief at the first prompt"),
        gettext_lazy("What is known about the task, once a session."),
    ),
    Hook.PREFETCH: (
        gettext_lazy("Files and unfinished work at the beginning"),
        gettext_lazy("Which files such sessions read, and where the last one stopped."),
    ),
    Hook.WARNINGS: (
        gettext_lazy("Warnings at a file"),
        gettext_lazy("Traps, errors and dead ends of a file that was just read or edited."),
    ),
    Hook.STEP: (
        gettext_lazy("Anything between steps"),
        gettext_lazy("From the fifth step on. Off, the two below are off as well."),
    ),
    Hook.STEP_RECORDED: (
        gettext_lazy("Between steps, about what was just recorded"),
        gettext_lazy("What is known of an entry that the agent itself put down. Usually off."),
    ),
    Hook.STEP_SEARCHED: (
        gettext_lazy("Between steps, about what is searched"),
        gettext_lazy("What answers the agent's last three searches. Usually off."),
    ),
    Hook.PLANNER: (
        gettext_lazy("Advice for a plan"),
        gettext_lazy("What a plan should know, how long it will take, and a checklist."),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """One hook: its field, what it is called and does, whether it is on."""

    field: str
    name: Name
    meaning: Name
    is_on: bool


def switches(*, caller: Caller, project: str) -> tuple[Switch, ...]:
    """Return the hooks of a project. Raises NotFound for one the caller cannot see."""
    found = hooks_of(caller=caller, ref=project)
    return tuple(
        Switch(field=hook.value, name=name, meaning=meaning, is_on=found[hook])
        for hook, (name, meaning) in WORDS.items()
    )
