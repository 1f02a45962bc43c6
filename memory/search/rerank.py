"""Rerank: when a second look at the best hits pays, and how its scores are blended (3.1, stage 6).

A reranker reads query and text together and is asked for the best 30 only. Its scores and those of
the first stage are each brought to 0..1 over those 30 and mixed; what stands below stays below.
Late interaction costs quality where names decide and on source text, so these are left alone; on
turns of conversations it pays whatever the margin.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from memory.records.factors import Factor, checked_share, total
from memory.search import ranking
from memory.search.candidates import Item
from memory.search.query import QueryKind
from memory.search.ranking import Moved, Standing

TOP: Final = 30  # hits that are put in order anew
SHARE: Final = 0.5  # a, the reranker's part of the blend
MARGIN: Final = 0.10  # lead of the first hit below which it is not certain, ours
FIRST: Final = 5  # hits among which close facts about one thing are looked for, ours
FACTS: Final = 3  # of them that name it and stand within the margin, ours
RERANK: Final = "rerank"  # the reranker's name among the parts
SCALE: Final = "scale"  # what bringing the first stage to 0..1 took away


def fits(*, kind: QueryKind, standings: tuple[Standing, ...], items: Mapping[UUID, Item]) -> bool:
    """Say whether a query may be reranked: not one for a name, nor where most hits are code."""
    return kind is not QueryKind.IDENTIFIER and not are_mostly(Item.CODE, standings, items)


def is_dialogue(
    *, kind: QueryKind, standings: tuple[Standing, ...], items: Mapping[UUID, Item]
) -> bool:
    """Say whether a query may be reranked and most of its best hits are turns of conversations."""
    fitting = fits(kind=kind, standings=standings, items=items)
    return fitting and are_mostly(Item.DIALOGUE, standings, items)


def worth_it(
    *,
    standings: tuple[Standing, ...],
    kind: QueryKind,
    items: Mapping[UUID, Item],
    things: Mapping[UUID, frozenset[str]],
) -> bool:
    """Say whether reranking pays: in dialogue, where the first hit hardly leads the second, or
    where several of the first are close facts about one thing.
    """
    if len(standings) < 2 or not fits(kind=kind, standings=standings, items=items):
        return False
    is_close = standings[0].score - standings[1].score < MARGIN * standings[0].score
    if is_close or are_mostly(Item.DIALOGUE, standings, items):
        return True
    return has_close_facts(standings=standings, things=things)


def has_close_facts(
    *, standings: Sequence[Standing], things: Mapping[UUID, frozenset[str]]
) -> bool:
    """Say whether 3 of the first 5 hits name one thing and stand within a tenth of each other."""
    scores: dict[str, list[float]] = {}
    for one in standings[:FIRST]:
        for thing in things.get(one.memory_id, frozenset()):
            scores.setdefault(thing, []).append(one.score)
    margin = MARGIN * standings[0].score if standings else 0.0
    return any(
        best - third < margin
        for falling in scores.values()
        for best, third in zip(falling, falling[FACTS - 1 :], strict=False)
    )


def are_mostly(item: Item, standings: tuple[Standing, ...], items: Mapping[UUID, Item]) -> bool:
    """Say whether more than half of the hits that would be reranked are of a kind."""
    best = standings[:TOP]
    return 2 * sum(items.get(one.memory_id) is item for one in best) > len(best)


def blend(
    *, standings: tuple[Standing, ...], scores: Mapping[UUID, float], share: float = SHARE
) -> tuple[Standing, ...]:
    """Compute (1 - a) · (s - lo) / (hi - lo) + a · (r - least) / (most - least), best first.

    s: the score so far, lo and hi those of the memories with a reranker's score r, a: `share`.
    Memories without one keep their order below. Raises ValueError unless 0 ≤ share ≤ 1.
    """
    checked_share(name="share", value=share)
    first = [one.score for one in standings if one.memory_id in scores]
    if not first:
        return standings
    low, span = min(first), max(first) - min(first)
    least, width = min(scores.values()), max(scores.values()) - min(scores.values())
    scale = (1.0 - share) / span if span else 0.0
    blended = []
    for rank, one in enumerate(standings):
        parts = [Factor(name=part.name, value=part.value * scale) for part in one.factors]
        parts.append(Factor(name=SCALE, value=-low * scale))
        given = scores.get(one.memory_id)
        if given is not None:
            value = share * (given - least) / width if width else 0.0
            parts.append(Factor(name=RERANK, value=value))
        moved = None if given is None else Moved(rank_before=rank, score=given)
        factors = tuple(parts)
        blended.append(replace(one, score=total(factors=factors), factors=factors, moved=moved))
    return ranking.in_order(standings=tuple(blended))
