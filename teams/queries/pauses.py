"""Whether a project, or one credential in it, is given nothing: off means off."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from teams.models import Project
from teams.queries.places import find_project

PAUSED: Final = "injection_paused"  # settings of a project
PAUSED_TOKENS: Final = "injection_paused_tokens"
PAUSED_PEOPLE: Final = "injection_paused_people"  # with every token of theirs, later ones too


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """Whether all of a project is paused, and which credentials and people are by themselves."""

    paused: bool
    tokens: tuple[UUID, ...]
    people: tuple[UUID, ...] = ()


def pauses_of(*, caller: Caller, ref: str) -> Pauses:
    """Return what is paused in a project. Raises NotFound for one the caller cannot see."""
    with tenancy.unit():
        return of_project(project=find_project(caller=caller, ref=ref))


def of_project(*, project: Project) -> Pauses:
    """Return what is paused in a project."""
    return Pauses(
        paused=bool(project.settings.get(PAUSED)),
        tokens=tuple(sorted(paused_tokens(project=project))),
        people=tuple(sorted(paused_people(project=project))),
    )


def is_paused(
    *, project: Project | None, token_id: UUID | None, user_id: UUID | None = None
) -> bool:
    """Say whether nothing is given to a credential in a project, or to the person it is of."""
    if project is None:
        return False
    return (
        bool(project.settings.get(PAUSED))
        or token_id in paused_tokens(project=project)
        or user_id in paused_people(project=project)
    )


def paused_tokens(*, project: Project) -> frozenset[UUID]:
    """Return the credentials that are given nothing in a project."""
    return _named(project, PAUSED_TOKENS)


def paused_people(*, project: Project) -> frozenset[UUID]:
    """Return the people whose agents are given nothing in a project."""
    return _named(project, PAUSED_PEOPLE)


def _named(project: Project, setting: str) -> frozenset[UUID]:
    named = project.settings.get(setting)
    return frozenset(UUID(one) for one in named) if isinstance(named, list) else frozenset()
