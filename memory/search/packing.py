"""Pack memories into a token budget, sharing it among types.

Two passes over the ranking. First each type may fill its own share; then what is left over goes to
whoever comes next in the ranking, whatever its type. The budget is never exceeded, and a memory is
packed whole or not at all.
"""

from dataclasses import dataclass
from uuid import UUID

from memory.customization.phases import Budget
from memory.taxonomy import MemoryType


@dataclass(frozen=True, slots=True, kw_only=True)
class Packable:
    """A memory ready to be packed: its type and the tokens that it costs as written out (≥ 1)."""

    memory_id: UUID
    type: MemoryType
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What fits, in the order of the ranking, what it costs together, and what had to stay out."""

    chosen: tuple[Packable, ...]
    left_out: tuple[Packable, ...]
    tokens: int


def pack(*, ranked: tuple[Packable, ...], budget: Budget) -> Packed:
    """Choose from a ranking, best first, what fits into the budget.

    Raises ValueError for a memory that costs less than one token.
    """
    for item in ranked:
        if item.tokens < 1:
            raise ValueError(f"{item.memory_id} cannot cost {item.tokens} tokens")
    within_shares = _fill_shares(ranked, budget)
    chosen = _fill_rest(ranked, within_shares, budget.tokens)
    return Packed(
        chosen=tuple(item for position, item in enumerate(ranked) if position in chosen),
        left_out=tuple(item for position, item in enumerate(ranked) if position not in chosen),
        tokens=sum(ranked[position].tokens for position in chosen),
    )


def _fill_shares(ranked: tuple[Packable, ...], budget: Budget) -> frozenset[int]:
    room: dict[MemoryType | None, int] = {
        type: int(budget.tokens * share) for type, share in budget.shares.items()
    }
    room[None] = int(budget.tokens * budget.other)
    chosen = set()
    for position, item in enumerate(ranked):
        pot = item.type if item.type in budget.shares else None
        if item.tokens <= room[pot]:
            room[pot] -= item.tokens
            chosen.add(position)
    return frozenset(chosen)


def _fill_rest(ranked: tuple[Packable, ...], chosen: frozenset[int], tokens: int) -> frozenset[int]:
    left = tokens - sum(ranked[position].tokens for position in chosen)
    added = set()
    for position, item in enumerate(ranked):
        if position not in chosen and item.tokens <= left:
            left -= item.tokens
            added.add(position)
    return chosen | added
