"""How results are shown: their order, why each stands where it does, what each step kept.

Events are told in the order in which they happened, chains of causes from their roots on, results
about several things thing by thing, and everything else from the best down. Which of these it is
depends on what most of the results are. The ranking itself stays as it is for everybody who does
not ask for this. Pure: results, what they name and the links between them come in, ids go out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.records.formulas import Factor
from memory.search.ranking import Standing
from memory.search.relevance import Calibration, Relevance
from memory.taxonomy import LinkKind

DOMINANT_SHARE: Final = 0.5  # of the results must be of one structure; a default, not measured
DESCRIPTIONS: Final = {
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


Link = tuple[UUID, UUID, LinkKind]  # from one memory to another, and what it says


class Order(StrEnum):
    """How results are put in order."""

    TIMELINE = "timeline"
    CAUSES = "causes"
    THINGS = "things"
    SCORE = "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A result: what it is, when it happened or was learned, and the keys of what it names."""

    memory_id: UUID
    is_event: bool
    at: datetime
    things: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """Found by each path, in all, judged (the best of them), and relevant enough to be shown."""

    paths: Mapping[str, int]
    found: int
    judged: int
    shown: int
    threshold: float


def organize(
    *, items: tuple[Result, ...], links: tuple[Link, ...]
) -> tuple[Order, tuple[UUID, ...]]:
    """Order results, given best first; nothing is added and nothing gets lost."""
    ids = tuple(item.memory_id for item in items)
    if items and sum(item.is_event for item in items) >= DOMINANT_SHARE * len(items):
        by_time = sorted(items, key=lambda item: (item.at, item.memory_id))
        return Order.TIMELINE, tuple(one.memory_id for one in by_time)
    causes = _causes(frozenset(ids), links)
    bound = causes.keys() | {cause for found in causes.values() for cause in found}
    if items and len(bound) >= DOMINANT_SHARE * len(items):
        return Order.CAUSES, _roots_first(ids, causes)
    about = _about(items)
    if len(set(about.values())) > 1 and len(about) >= DOMINANT_SHARE * len(items):
        first: dict[str, int] = {}  # each result, best first, then what else is about its thing
        for position, memory_id in enumerate(ids):
            first.setdefault(about.get(memory_id, memory_id.hex), position)
        return Order.THINGS, tuple(sorted(ids, key=lambda id: first[about.get(id, id.hex)]))
    return Order.SCORE, ids


def hint(*, order: Order, told: int, disagreeing: int, left_out: int) -> str:
    """Say in plain words how to read the results, given how many are told and how many are not."""
    if not told:
        return "Nothing fits into the budget." if left_out else "Nothing relevant is known."
    parts = [DESCRIPTIONS[order]]
    if disagreeing:
        parts.append(f"{disagreeing} of {told} contradict each other: find out which one holds.")
    if left_out:
        parts.append(f"{left_out} more were found and are not told.")
    return " ".join(parts)


def explain(
    *, standing: Standing, relevance: Relevance, threshold: float, calibration: Calibration
) -> Mapping[str, object]:
    """Return why a hit stands where it does: its score as named parts, as the interfaces send it.

    `parts` sum to the score; `multipliers` are in every part already; `fusion` is the score before
    the profile, and the values of `paths` sum to it, each with its own score, rank from 1 and
    weight; `boost` are the files shared with the best hits, `rerank` the rank before and the
    reranker's score, null when there was none; `relevance` has the parts of its log-odds.
    """
    boost, moved = standing.boost, standing.moved
    return {
        "score": standing.score,
        "parts": _by_name(standing.factors),
        "multipliers": _by_name(standing.multipliers),
        "fusion": standing.fused.score,
        "paths": {
            part.path: {
                "score": part.score,
                "rank": part.rank + 1,
                "weight": part.weight,
                "value": part.value,
            }
            for part in standing.fused.contributions
        },
        "boost": None if boost is None else {"shared_files": boost.shared, "value": boost.value},
        "rerank": None
        if moved is None
        else {"rank_before": moved.rank_before + 1, "score": moved.score},
        "relevance": {
            "value": relevance.value,
            "threshold": threshold,
            "calibration": calibration.key,
            "signs": {sign.value: value for sign, value in relevance.signs.items()},
            "parts": _by_name(relevance.parts),
        },
    }


def funnel_of(
    *, standings: tuple[Standing, ...], limit: int, shown: int, threshold: float
) -> Funnel:
    """Count the steps of a search that judged the first `limit` standings and showed some."""
    paths = Counter(part.path for one in standings for part in one.fused.contributions)
    return Funnel(
        paths=dict(sorted(paths.items())),
        found=len(standings),
        judged=min(limit, len(standings)),
        shown=shown,
        threshold=threshold,
    )


def _by_name(factors: Iterable[Factor]) -> dict[str, float]:
    return {factor.name: factor.value for factor in factors}


def _about(items: tuple[Result, ...]) -> dict[UUID, str]:
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


def _causes(among: frozenset[UUID], links: tuple[Link, ...]) -> dict[UUID, set[UUID]]:
    """Return for each result the results that must be told before it."""
    before: dict[UUID, set[UUID]] = {}
    for source, target, kind in links:
        if kind not in CAUSE_COMES_FIRST or not {source, target} <= among:
            continue
        first, then = (target, source) if CAUSE_COMES_FIRST[kind] else (source, target)
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
