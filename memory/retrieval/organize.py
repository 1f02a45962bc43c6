"""Put what was found into an order that can be read, with what it hangs together with (spec 3.1).

Events are told in the order in which they happened, chains of causes from their roots on, and
everything else from the best down. Which of these it is depends on what most of the results are.
Pure: the results and the links between memories come in, an order of ids goes out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.taxonomy import LinkKind

DOMINANT_SHARE: Final = 0.5  # of the results must be of one structure, at least; ours
MOST_NEIGHBORS: Final = 10  # a hit, spec 3.1
MOST_SEE_ALSO: Final = 5  # a hit, spec 3.1
SAYS: Final = {
    "timeline": "Told in the order in which it happened.",
    "causes": "Told from causes to effects.",
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
    SCORE = "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A result: what it is, and when it happened or was learned."""

    memory_id: UUID
    is_event: bool
    at: datetime


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
