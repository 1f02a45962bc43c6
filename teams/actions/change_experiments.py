"""Say whether a project compares sessions, and in which shares."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, wrong_field
from accounts.sentences import sentence
from teams.actions.projects import hold_project, tell
from teams.models import Project
from teams.permissions import require
from teams.queries import experiments
from teams.queries.experiments import KEPT, MOST_TOGETHER, PERCENTS, Experiments
from teams.queries.people import check_unbound
from teams.queries.places import is_within
from teams.roles import Act


def change_experiments(*, caller: Caller, ref: str, changed: Mapping[str, Any]) -> Experiments:
    """Change some of what a project compares; the rest stays as it is.

    Sessions keep the group they have. Raises InvalidInput naming the field, NotFound,
    RoleNotSufficient, NotBoundToProject.
    """
    require(caller=caller, act=Act.MANAGE_PROJECTS)
    _check(changed)
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        check_unbound(caller=caller)
        found = replace(experiments.of_project(project=row), **changed)
        _check_together(found)
        _put(row, found)
        row.save(update_fields=["settings"])
        tell(caller=caller, row=row, kind="project.changed", fields=(KEPT,))
        return experiments.of_project(project=row)


def _check(changed: Mapping[str, Any]) -> None:
    if not changed:
        raise InvalidInput(
            detail="There is nothing to change.",
            hint=sentence("Send one of: {names}.", names=("enabled", *PERCENTS)),
        )
    for name, (least, most) in PERCENTS.items():
        if name in changed and not is_within(value=changed[name], bounds=(least, most)):
            raise wrong_field(
                pointer=f"/{name}",
                detail=sentence("Use a number from {least:g} to {most:g}.", least=least, most=most),
                hint="It is a share of the sessions, in percent.",
                code="range",
            )


def _check_together(found: Experiments) -> None:
    if found.control_percent + found.passive_percent <= MOST_TOGETHER:
        return
    raise wrong_field(
        pointer="/passive_percent",
        detail=sentence(
            "Both smaller groups together take at most {most:g} percent.", most=MOST_TOGETHER
        ),
        hint="The others are given everything, and there must be some of them.",
        code="range",
    )


def _put(row: Project, found: Experiments) -> None:
    other = experiments.other_than_usual(found=found)
    kept = {name: value for name, value in row.settings.items() if name != KEPT}
    row.settings = {**kept, KEPT: other} if other else kept
