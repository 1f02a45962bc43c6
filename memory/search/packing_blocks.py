"""Make blocks of a ranking: without overlaps, contradictions together.

A memory that says what a better-ranked one says already would only cost tokens, so it is left out
and named with the one that stands for it. Memories that contradict each other are one block, so
that an agent is never told one side alone: the others stand with the best-ranked of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from memory.records import duplicates
from memory.search.packing_text import Block, Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """A memory left out because another says the same."""

    entry: Entry
    stands_for_it: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The blocks in the order of the ranking, and what overlaps with them."""

    blocks: tuple[Block, ...]
    overlaps: tuple[Overlap, ...]


def blocks_of(
    *,
    ranked: tuple[Entry, ...],
    contradictions: Mapping[UUID, frozenset[UUID]],
    others: Mapping[UUID, Entry],
) -> Blocks:
    """Make blocks of a ranking, best first.

    `contradictions` are the ids that each memory contradicts, in both directions; `others` the
    memories among them that were not found by the search. A contradiction of a memory that is in
    neither is not told.
    """
    kept, overlaps = _without_overlaps(ranked, contradictions)
    entries = {**others, **{entry.memory_id: entry for entry in kept}}
    placed: set[UUID] = set()
    blocks = []
    for entry in kept:
        if entry.memory_id in placed:
            continue
        together = _sides(entry.memory_id, contradictions, entries.keys() - placed)
        placed.update(together)
        blocks.append(Block(entries=tuple(entries[memory_id] for memory_id in together)))
    return Blocks(blocks=tuple(blocks), overlaps=overlaps)


def _without_overlaps(
    ranked: tuple[Entry, ...], contradictions: Mapping[UUID, frozenset[UUID]]
) -> tuple[tuple[Entry, ...], tuple[Overlap, ...]]:
    """Leave out what says the same as a better one; a side of a contradiction always stays."""
    firsts = duplicates.first_of_same(contents=tuple(entry.content for entry in ranked))
    kept, overlaps = [], []
    for position, entry in enumerate(ranked):
        first = ranked[firsts[position]]
        if first is entry or contradictions.get(entry.memory_id):
            kept.append(entry)
        else:
            overlaps.append(Overlap(entry=entry, stands_for_it=first.memory_id))
    return tuple(kept), tuple(overlaps)


def _sides(
    start: UUID, contradictions: Mapping[UUID, frozenset[UUID]], free: set[UUID]
) -> tuple[UUID, ...]:
    """Return a memory and all that contradict it or one of those, the memory first."""
    found = {start: None}
    waiting = [start]
    while waiting:
        sides = contradictions.get(waiting.pop(), frozenset()) & free
        fresh = sorted(sides - found.keys())
        found.update(dict.fromkeys(fresh))
        waiting.extend(fresh)
    return tuple(found)
