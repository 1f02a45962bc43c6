"""What a project compares: who is given nothing or less, and whether memories are withheld (10.4).

Off as long as nobody who answers for the project has switched it on, because it takes something
from people: what they would have been told.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from teams.models import Project
from teams.queries.places import find_project, is_within

KEPT: Final = "experiments"  # settings of a project
PERCENTS: Final[Mapping[str, tuple[float, float]]] = {  # least and most, ours
    "control_percent": (0, 50),
    "passive_percent": (0, 50),
    "withheld_percent": (0, 50),
}
MOST_TOGETHER: Final = 90.0  # percent of the sessions in both smaller groups, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiments:
    """Whether sessions are compared, and in which shares.

    `withheld_percent`: of the sessions that would be given a memory, in how many it is withheld.
    """

    enabled: bool = False
    control_percent: float = 5.0
    passive_percent: float = 10.0
    withheld_percent: float = 0.0


USUAL: Final = Experiments()


def experiments_of(*, caller: Caller, ref: str) -> Experiments:
    """Return what a project compares. Raises NotFound for one the caller cannot see."""
    with tenancy.unit():
        return of_project(project=find_project(caller=caller, ref=ref))


def of_project(*, project: Project | None) -> Experiments:
    """Return what a project compares; outside of projects nothing is compared."""
    kept = None if project is None else project.settings.get(KEPT)
    if not isinstance(kept, dict):
        return USUAL
    percents = {
        name: float(kept[name])
        for name, bounds in PERCENTS.items()
        if is_within(value=kept.get(name), bounds=bounds)
    }
    return Experiments(enabled=kept.get("enabled") is True, **percents)


def other_than_usual(*, found: Experiments) -> dict[str, bool | float]:
    """Return what is other than usual, as it is kept."""
    pairs = ((one.name, getattr(found, one.name)) for one in fields(found))
    return {name: value for name, value in pairs if value != getattr(USUAL, name)}
