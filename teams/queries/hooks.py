"""Which hooks of a project give memory back: each can be switched off by itself.

What is not switched is as usual: one brief, warnings at files, what is asked for at the beginning.
What is said between steps beyond the files just touched is for projects that ask for it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from teams.models import Project
from teams.queries.places import find_project

SWITCHED: Final = "injection_hooks"  # settings of a project


class Hook(StrEnum):
    """What gives memory back by itself, or at a point that an agent names."""

    BRIEF = "brief"
    PREFETCH = "prefetch"
    WARNINGS = "warnings"
    STEP = "step"
    STEP_RECORDED = "step_recorded"
    STEP_SEARCHED = "step_searched"
    PLANNER = "planner"


ASKED_FOR: Final = frozenset({Hook.STEP_RECORDED, Hook.STEP_SEARCHED})  # off as usual

Hooks = Mapping[Hook, bool]


def hooks_of(*, caller: Caller, ref: str) -> Hooks:
    """Return each hook and whether it is on. Raises NotFound for a project not to be seen."""
    with tenancy.unit():
        return of_project(project=find_project(caller=caller, ref=ref))


def of_project(*, project: Project | None) -> Hooks:
    """Return each hook and whether it is on; outside of projects all are as usual."""
    kept = {} if project is None else project.settings.get(SWITCHED)
    said = kept if isinstance(kept, dict) else {}
    return {hook: bool(said.get(hook.value, hook not in ASKED_FOR)) for hook in Hook}
