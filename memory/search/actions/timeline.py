"""Tell what happened, oldest first: when it happened, or else when it was learned."""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.records.queries import relations
from memory.records.queries.relations import Sides
from memory.records.queries.views import MemoryView, views_of
from memory.search.actions import filter_values as narrowings
from memory.search.actions.filter_values import Narrowing
from memory.search.sql import lookups
from teams import visibility
from teams.permissions import Act, require


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A place in time: after this memory, in the order oldest first."""

    at: datetime
    memory_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """A memory and when it happened."""

    memory: MemoryView
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What happened, oldest first, and where the next page begins.

    `sides`: what contradicts one of them, by its id.
    """

    items: tuple[Happened, ...]
    sides: Sides
    next_moment: Moment | None


def timeline(
    *, caller: Caller, narrowing: Narrowing, after: Moment | None, limit: int, now: datetime
) -> Timeline:
    """Tell what happened; `since` and `until` are about that, not about when it was learned.

    Raises InvalidInput, NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    narrowings.check(narrowing=narrowing)
    open_ended = replace(narrowing, since=None, until=None)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        found = lookups.timeline(
            question=narrowings.question(caller=caller, narrowing=open_ended),
            start=narrowing.since,
            end=narrowing.until,
            after=None if after is None else (after.at, after.memory_id),
            limit=limit + 1,
            sight=sight,
        )
        told = found[:limit]
        ids = tuple(one for one, _ in told)
        views = views_of(memory_ids=ids, sight=sight, now=now)
        sides = relations.sides_of(views=views.values(), sight=sight)
    items = tuple(Happened(memory=views[one], at=at) for one, at in told if one in views)
    has_more = len(found) > len(told)
    return Timeline(
        items=items,
        sides=sides,
        next_moment=Moment(at=told[-1][1], memory_id=told[-1][0]) if has_more else None,
    )
