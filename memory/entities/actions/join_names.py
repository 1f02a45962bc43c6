"""Say in the night that names are one thing which surely are.

Place by place: the organization's memories, and those of each project that everybody in it shares.
Names that stand in one of them are compared with each other alone, and what is said holds for those
who see that place; what a team or a person keeps is left to them. Only what is certain is said, a
few pairs of a place a night; of the others people are asked where they look at a name
(`suggest_names`). Whoever takes one apart is not contradicted in the next night.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import audit as origins
from accounts import jobs, tenancy
from memory.entities import close_names, same_names
from memory.entities.close_names import Close, Known
from memory.entities.same_names import Name
from memory.entities.sql import entities
from memory.index.actions.model_switch import INSTALLATION
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import SAME
from teams import audit

JOB: Final = "memory.join_names"
MOST_JOINED: Final = 20  # pairs of a place in a night, ours
NOBODY: Final = UUID(int=0)  # decided it
NIGHT: Final = "night"  # in place of an agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What came of it: places and names looked at, and pairs that are one thing now."""

    places: int
    names: int
    joined: int


def queue() -> None:
    """Queue the joining of the organization's names, once however often it is asked for."""
    with tenancy.unit():
        jobs.enqueue(JOB, payload={}, key="names")


def join_names(*, now: datetime) -> Joined:
    """Join the names of each place that surely are one thing."""
    with tenancy.unit():
        places = entities.shared_names(most=close_names.MOST_NAMES)
    joined = 0
    for audience, names in places.items():
        found = close_names.pairs(names=names)
        sure = tuple(one for one in found if one.is_sure)
        joined += _join(audience, sure, now) if sure else 0
    return Joined(places=len(places), names=_count(places.values()), joined=joined)


def _count(places: Iterable[tuple[Known, ...]]) -> int:
    return sum(len(names) for names in places)


def _join(audience: UUID, pairs: tuple[Close, ...], now: datetime) -> int:
    """Say that pairs are one thing, but those of which somebody said that or took it back."""
    with tenancy.unit():
        places = {audience, tenancy.current().organization_id}
        said = tuple(ReviewVerdict.objects.filter(verdict=SAME, audience__in=places))
        held = [_pair(row) for row in said if row.undone_at is None]
        undone = {frozenset(_pair(row)) for row in said if row.undone_at is not None}
        new = _chosen(pairs, held, undone - set(map(frozenset, held)))
        for one in new:
            _say(audience, one, now)
    return len(new)


def _chosen(
    pairs: tuple[Close, ...], held: list[tuple[Name, Name]], undone: set[frozenset[Name]]
) -> tuple[Close, ...]:
    """Choose the pairs to say: none that follows from others, none that joins what was taken apart.

    Whatever a pair connects becomes one thing, so both are asked of the whole groups.
    """
    chosen: list[Close] = []
    numbers = same_names.groups(pairs=held)
    for one in pairs:
        group = numbers.get(one.first)
        if group is not None and group == numbers.get(one.second):
            continue
        whole = same_names.together(names=(one.first, one.second), numbers=numbers)
        if any(pair <= whole for pair in undone):
            continue
        chosen.append(one)
        if len(chosen) == MOST_JOINED:
            break
        told = ((new.first, new.second) for new in chosen)
        numbers = same_names.groups(pairs=(*held, *told))
    return tuple(chosen)


def _pair(row: ReviewVerdict) -> tuple[Name, Name]:
    first, second = row.before["first"], row.before["second"]
    return (first[0], first[1]), (second[0], second[1])


def _say(audience: UUID, one: Close, now: datetime) -> None:
    made = ReviewVerdict.objects.create(
        verdict=SAME,
        audience=audience,
        decided_by=NOBODY,
        decided_agent=NIGHT,
        decided_at=now,
        before={"first": list(one.first), "second": list(one.second)},
    )
    audit.append(
        act="entity.merged",
        object_type="entity",
        object_id=str(made.id),
        caller=origins.Person(user_id=None, source_interface=INSTALLATION),
    )
