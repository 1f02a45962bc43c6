"""Put what was found into an order that can be read, with what it hangs together with.

Events are told in the order in which they happened, chains of causes from their roots on, results
about several things thing by thing, and everything else from the best down. Which of these it is
depends on what most of the results are.
Pure: the results, what they name and the links between them come in, an order of ids goes out.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.taxonomy import LinkKind

DOMINANT_SHARE: Final = 0.5  # of the results must be of one structure, at least; ours
MOST_NEIGHBORS: Final = 10  # a hit
MOST_SEE_ALSO: Final = 5  # a hit
SAYS: Final = {
    "timeline": "Told in the order in which it happened.",
    "causes": "Told from causes to effects.",
    "things": "Told thing by thing, what fits best first.",
    "score": "Best first.",
}
CAUSE_COMES_FIRST: Final = {  # whether the link's target is told before its source
    LinkKind.CAUSED_BY: True,
    LinkKind.DEPENDS_ON: True,
    LinkKind.RESOLVED_BY: False,
}


class Order(StrEnum):
    """How results are put in order."""

    TIMELINE = "timeline"
    CAUSES = "causes"
    THINGS = "things"
    SCORE = "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A result: what it is, when it happened or was learned, and the keys of what it names."""

    memory_id: UUID
    is_event: bool
    at: datetime
    things: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A relation from one memory to another."""

    source: UUID
    target: UUID
    kind: LinkKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Organized:
    """The ids of the results in the order to tell them."""

    order: Order
    memory_ids: tuple[UUID, ...]


def organize(*, items: tuple[Item, ...], links: tuple[Link, ...]) -> Organized:
    """Order results, given best first; nothing is added and nothing gets lost."""
    ids = tuple(item.memory_id for item in items)
    causes = _causes(frozenset(ids), links)
    if items and sum(item.is_event for item in items) >= DOMINANT_SHARE * len(items):
        told = tuple(sorted(items, key=lambda item: (item.at, item.memory_id)))
        return Organized(order=Order.TIMELINE, memory_ids=tuple(one.memory_id for one in told))
    bound = causes.keys() | {cause for found in causes.values() for cause in found}
    if items and len(bound) >= DOMINANT_SHARE * len(items):
        return Organized(order=Order.CAUSES, memory_ids=_roots_first(ids, causes))
    about = _about(items)
    if len(set(about.values())) > 1 and len(about) >= DOMINANT_SHARE * len(items):
        return Organized(order=Order.THINGS, memory_ids=_together(ids, about))
    return Organized(order=Order.SCORE, memory_ids=ids)


def hint(*, order: Order, told: int, disagreeing: int, left_out: int) -> str:
    """Say in plain words how to read the results, given how many are told and how many are not."""
    if not told:
        return "Nothing fits into the budget." if left_out else "Nothing relevant is known."
    parts = [SAYS[order]]
    if disagreeing:
        parts.append(f"{disagreeing} of {told} contradict each other: find out which one holds.")
    if left_out:
        parts.append(f"{left_out} more were found and are not told.")
    return " ".join(parts)


def _about(items: tuple[Item, ...]) -> dict[UUID, str]:
    """Return which thing a result is about, of those that are about one that others are about too.

    That is what most of the others name as well, of equals what the best of them does; what all of
    them name parts none from the others.
    """
    named = Counter(thing for item in items for thing in sorted(item.things))
    parting = {thing: count for thing, count in named.items() if 1 < count < len(items)}
    about = {
        item.memory_id: max(shared, key=lambda thing: parting[thing])
        for item in items
        if (shared := [thing for thing in parting if thing in item.things])
    }
    members = Counter(about.values())
    return {memory_id: thing for memory_id, thing in about.items() if members[thing] > 1}


def _together(ids: tuple[UUID, ...], about: Mapping[UUID, str]) -> tuple[UUID, ...]:
    """Tell each result, best first, and right after it what else is about its thing."""
    places: dict[str, int] = {}
    for place, memory_id in enumerate(ids):
        places.setdefault(about.get(memory_id, memory_id.hex), place)
    return tuple(sorted(ids, key=lambda memory_id: places[about.get(memory_id, memory_id.hex)]))


def _causes(among: frozenset[UUID], links: tuple[Link, ...]) -> dict[UUID, set[UUID]]:
    """Return for each result the results that must be told before it."""
    before: dict[UUID, set[UUID]] = {}
    for link in links:
        if link.kind not in CAUSE_COMES_FIRST or not {link.source, link.target} <= among:
            continue
        is_target_first = CAUSE_COMES_FIRST[link.kind]
        first, then = (link.target, link.source) if is_target_first else (link.source, link.target)
        before.setdefault(then, set()).add(first)
    return before


def _roots_first(ids: tuple[UUID, ...], causes: Mapping[UUID, set[UUID]]) -> tuple[UUID, ...]:
    """Tell each result, best first, right after what caused it; a circle is entered at its best."""
    told: dict[UUID, None] = {}
    rank = {memory_id: position for position, memory_id in enumerate(ids)}
    for memory_id in ids:
        waiting, entered = [memory_id], {memory_id}
        while waiting:
            untold = (causes.get(waiting[-1], set()) - told.keys()) - entered
            if untold:
                cause = min(untold, key=rank.__getitem__)
                waiting.append(cause)
                entered.add(cause)
            else:
                told.setdefault(waiting.pop())
    return tuple(told)
