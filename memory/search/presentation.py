"""How results are shown: their order, why each stands where it does, what each step kept.

Events are told in the order in which they happened, chains of causes from their roots on, results
about several things thing by thing, and everything else from the best down. Which of these it is
depends on what most of the results are. The ranking itself stays as it is for everybody who does
not ask for this. Pure: results, what they name and the links between them come in, ids go out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.records.formulas import Factor
from memory.records.queries.views import MemoryView, Relation
from memory.search.ranking import Standing
from memory.search.relevance import Calibration, Relevance
from memory.taxonomy import LinkKind, MemoryKind, MemoryType, Structure, type_row

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


class Order(StrEnum):
    """How results are put in order."""

    TIMELINE = "timeline"
    CAUSES = "causes"
    THINGS = "things"
    SCORE = "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """Found by each path, in all, judged (the best of them), and relevant enough to be shown."""

    paths: Mapping[str, int]
    found: int
    judged: int
    shown: int
    threshold: float


def organize(
    *,
    views: tuple[MemoryView, ...],
    things: Mapping[UUID, frozenset[str]],
    relations: tuple[Relation, ...],
) -> tuple[Order, tuple[UUID, ...]]:
    """Order results, given best first; nothing is added and nothing gets lost.

    Events and texts about a day vote for the order of time. `things` are the keys of what each
    names.
    """
    if not views:
        return Order.SCORE, ()
    ids = tuple(view.id for view in views)
    least = DOMINANT_SHARE * len(ids)
    if sum(map(_is_dated, views)) >= least:
        by_time = sorted(views, key=lambda view: (view.event_at or view.created_at, view.id))
        return Order.TIMELINE, tuple(view.id for view in by_time)
    causes = _causes(frozenset(ids), relations)
    if len(causes.keys() | set().union(*causes.values())) >= least:
        return Order.CAUSES, _roots_first(ids, causes)
    about = _about(ids, things)
    if len(set(about.values())) > 1 and len(about) >= least:
        return Order.THINGS, _by_thing(ids, about)
    return Order.SCORE, ids


def _is_dated(view: MemoryView) -> bool:
    """Say whether a memory tells what happened, by its type or by how it is built."""
    is_event = type_row(type=MemoryType(view.type)).kind is MemoryKind.EPISODIC
    return is_event or view.structure == Structure.TIMELINE


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
    return {str(factor.name): factor.value for factor in factors}


def _about(ids: tuple[UUID, ...], things: Mapping[UUID, frozenset[str]]) -> dict[UUID, str]:
    """Return which thing a result is about, of those that are about one that others are about too.

    That is what most of the others name as well, of equals what the best of them does; what all of
    them name parts none from the others.
    """
    named = Counter[str]()
    for id in ids:
        named.update(sorted(things.get(id, ())))
    parting = {thing: count for thing, count in named.items() if 1 < count < len(ids)}
    about = {
        id: max(shared, key=lambda thing: parting[thing])
        for id in ids
        if (shared := [thing for thing in parting if thing in things.get(id, ())])
    }
    members = Counter(about.values())
    return {memory_id: thing for memory_id, thing in about.items() if members[thing] > 1}


def _by_thing(ids: tuple[UUID, ...], about: Mapping[UUID, str]) -> tuple[UUID, ...]:
    """Order results best first; behind each comes what else is about its thing."""
    first: dict[str, int] = {}
    for position, id in enumerate(ids):
        first.setdefault(about.get(id, id.hex), position)
    return tuple(sorted(ids, key=lambda id: first[about.get(id, id.hex)]))


def _causes(among: frozenset[UUID], relations: tuple[Relation, ...]) -> dict[UUID, set[UUID]]:
    """Return for each result the results that must be told before it."""
    before: dict[UUID, set[UUID]] = {}
    for one in relations:
        if one.kind not in CAUSE_COMES_FIRST or not {one.memory_id, one.other_id} <= among:
            continue
        is_cause_first = CAUSE_COMES_FIRST[one.kind] is one.outgoing
        ends = (one.other_id, one.memory_id) if is_cause_first else (one.memory_id, one.other_id)
        before.setdefault(ends[1], set()).add(ends[0])
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
