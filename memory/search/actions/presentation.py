"""Lay a search's results out: in their story's order, each with what it hangs together with.

Stage 8 of spec 3.1. The ranking itself stays as it is for everybody who does not ask for this.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.entities.sql import entities
from memory.records.queries import relations
from memory.records.queries.relations import Relation
from memory.records.queries.views import MemoryView
from memory.search import organize
from memory.search.actions.request import SearchRequest
from memory.search.actions.search import SearchAnswer, search
from memory.search.organize import MOST_NEIGHBORS, MOST_SEE_ALSO, Item, Link, Order
from memory.taxonomy import LinkKind, MemoryKind, MemoryType, type_row
from teams import visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a result is linked with: at most 10 neighbors and 5 to see also, the surest first."""

    neighbors: tuple[Relation, ...] = ()
    see_also: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The answer with its hits in order, what surrounds each, and how to read it in words."""

    answer: SearchAnswer
    order: Order
    surroundings: Mapping[UUID, Surroundings]
    hint: str


def lay_out(*, caller: Caller, request: SearchRequest, now: datetime) -> Layout:
    """Search and lay the results out. Raises as `search` does."""
    answer = search(caller=caller, request=request, now=now)
    ids = tuple(hit.memory.id for hit in answer.hits)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        related = relations.relations_of(memory_ids=ids, sight=sight)
        things = entities.things_of(memory_ids=ids, sight=sight)
    items = tuple(item_of(view=hit.memory, things=things) for hit in answer.hits)
    told = organize.organize(items=items, links=as_links(relations=related))
    by_id = {hit.memory.id: hit for hit in answer.hits}
    return Layout(
        answer=replace(answer, hits=tuple(by_id[memory_id] for memory_id in told.memory_ids)),
        order=told.order,
        surroundings={memory_id: _around(memory_id, related) for memory_id in ids},
        hint=_hint(told.order, answer, related),
    )


def item_of(*, view: MemoryView, things: Mapping[UUID, frozenset[str]]) -> Item:
    """Return a memory as stories are made of: an event or not, when, and about what."""
    kind = type_row(type=MemoryType(view.type)).kind
    return Item(
        memory_id=view.id,
        is_event=kind is MemoryKind.EPISODIC,
        at=view.event_at or view.created_at,
        things=things.get(view.id, frozenset()),
    )


def _around(memory_id: UUID, related: tuple[Relation, ...]) -> Surroundings:
    own = tuple(one for one in related if one.memory_id == memory_id)
    also = tuple(one for one in own if one.kind is LinkKind.SEE_ALSO)
    others = tuple(one for one in own if one.kind is not LinkKind.SEE_ALSO)
    return Surroundings(neighbors=others[:MOST_NEIGHBORS], see_also=also[:MOST_SEE_ALSO])


def _hint(order: Order, answer: SearchAnswer, related: tuple[Relation, ...]) -> str:
    told = {hit.memory.id for hit in answer.hits}
    disagreeing = told & relations.contradictions(relations=related).keys()
    kept_back = answer.funnel.judged - answer.funnel.shown
    if not told:
        return "Nothing relevant is known."
    return organize.hint(
        order=order, told=len(told), disagreeing=len(disagreeing), left_out=kept_back
    )


def as_links(*, relations: tuple[Relation, ...]) -> tuple[Link, ...]:
    """Return the relations as links with a source and a target."""
    return tuple(
        Link(source=one.memory_id, target=one.other_id, kind=one.kind)
        if one.outgoing
        else Link(source=one.other_id, target=one.memory_id, kind=one.kind)
        for one in relations
    )
