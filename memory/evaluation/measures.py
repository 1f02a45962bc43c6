"""What a search answered, and the measures of it, per query and per kind, with intervals.

A ranking is ids, best first, each once; grades say how useful an id is: 1 touches the answer, 2
answers in part, 3 is the answer; an id without a grade is worth nothing. Queries that nothing
answers have no grades; they belong to silence, not to rankings. Rank measures come from the ranking
without silence; silence, packs and times from the search as it is usually asked.

Intervals are bootstrapped (Efron 1979), seeded: the queries of a set are drawn anew with
replacement, as many as there are, and the measure is taken of each draw; the middle 95 % of those
are the interval. Two systems asked the same queries are compared by the differences query by query,
which is far sharper than two intervals side by side. A share such as the precision of silence is a
quotient of two sums: both are drawn together.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from memory.evaluation.dataset import JudgedQuery, JudgedSet, Split

RESAMPLES: Final = 2_000  # draws; the ends of an interval are steady to the second decimal
LEVEL: Final = 0.95  # share of the draws inside of an interval
SEED: Final = 20_791_979  # any; fixed, so that the same outcomes give the same report
K: Final = 10  # ranks looked at; also what a search returns by default
ALL: Final = "all"
RANK_MEASURES: Final = ("recall@10", "nDCG@10", "MRR", "precision@10")
SILENCE_MEASURES: Final = ("silence precision", "silence recall", "withheld")
PACK_MEASURES: Final = ("confusable in pack", "contradictions in pack", "pack tokens")
MEASURES: Final = (*RANK_MEASURES, *SILENCE_MEASURES, *PACK_MEASURES)

Grades = Mapping[str, int]
Values = Mapping[str, tuple[str, Mapping[str, float]]]  # by query: its kind, and what applies


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean, the ends of its interval, and over how many queries it was taken."""

    mean: float
    low: float
    high: float
    count: int

    @property
    def excludes_zero(self) -> bool:
        """Whether a difference of this size is no accident of the queries chosen."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One query asked of one profile: `ranked` without silence; of the pack each hit that fits.

    `stages`: milliseconds of each stage of the usual search, by its name.
    """

    query_id: str
    ranked: tuple[str, ...]
    best_relevance: float
    silent: bool
    pack: tuple[str, ...]
    pack_tokens: int
    took_ms: float
    stages: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Everything a report needs."""

    judged: JudgedSet  # with the queries that were asked, and no others
    split: Split | None
    embedder: str
    embedded: int
    refused: Mapping[str, str]  # by id: why memories were not let in
    degraded: tuple[str, ...]
    systems: Mapping[str, tuple[Asked, ...]]  # by profile, in order of the queries


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The measures of one kind of query; a measure without queries to take it from is None."""

    kind: str
    queries: int
    measures: Mapping[str, Interval | None]


def paired(*, first: Sequence[float], second: Sequence[float]) -> Interval | None:
    """Return the mean of second - first, query by query; None without values.

    Raises ValueError when the two do not have as many values.
    """
    differences = tuple(b - a for a, b in zip(first, second, strict=True))
    return quotient(numerators=differences, denominators=(1.0,) * len(differences))


def quotient(*, numerators: Sequence[float], denominators: Sequence[float]) -> Interval | None:
    """Return Σ numerators / Σ denominators with its interval; None when the latter is 0.

    Draws whose denominators sum to 0 say nothing and are left out. Raises ValueError when the two
    do not have as many values.
    """
    above, below = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    if above.shape != below.shape:
        raise ValueError(f"{above.size} numerators for {below.size} denominators")
    if not below.sum():
        return None
    count = above.size
    drawn = np.random.default_rng(SEED).integers(0, count, size=(RESAMPLES, count))
    sums = below[drawn].sum(axis=1)
    kept = above[drawn].sum(axis=1)[sums != 0] / sums[sums != 0]
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(kept, (tail, 100 - tail))
    return Interval(
        mean=float(above.sum() / below.sum()), low=float(low), high=float(high), count=count
    )


def recall_at(*, ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Compute |relevant in the first k| / |relevant|, 0..1, of an answerable query."""
    return len(grades.keys() & set(ranked[:k])) / len(grades)


def precision_at(*, ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Compute |relevant in the first k| / k, 0..1; what a ranking lacks counts as noise."""
    return len(grades.keys() & set(ranked[:k])) / k


def reciprocal_rank(*, ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Compute 1 / rank of the first relevant id among the first k, ranks from 1; else 0."""
    ranks = (rank for rank, item in enumerate(ranked[:k], start=1) if item in grades)
    return 1.0 / next(ranks, math.inf)


def ndcg_at(*, ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Compute DCG(ranked) / DCG(grades from the best down), both over k ranks, 0..1.

    DCG is Σ gain / log2(rank + 1) over ranks from 1, as in trec_eval and BEIR; the query is an
    answerable one. Source: Järvelin and Kekäläinen (2002).
    """
    gains = [grades.get(item, 0) for item in ranked[:k]]
    ideal = sorted(grades.values(), reverse=True)[:k]
    found, best = (
        sum(gain / math.log2(rank + 1) for rank, gain in enumerate(some, start=1))
        for some in (gains, ideal)
    )
    return found / best


def measure(
    *, query: JudgedQuery, asked: Asked, pairs: Iterable[tuple[str, str]]
) -> dict[str, float]:
    """Return the measures of one query; one that does not apply is not among them.

    Precision of silence: of the silences, those where nothing answers; its recall: of the queries
    that nothing answers, those met with silence; withheld: of the others, those met with silence.
    """
    values: dict[str, float] = {}
    if query.answerable:
        for name, function in zip(
            RANK_MEASURES, (recall_at, ndcg_at, reciprocal_rank, precision_at), strict=True
        ):
            values[name] = function(ranked=asked.ranked, grades=query.relevant, k=K)
    values["withheld" if query.answerable else "silence recall"] = asked.silent
    if query.confusable:
        values["confusable in pack"] = not frozenset(query.confusable).isdisjoint(asked.pack)
    if asked.silent:
        values["silence precision"] = not query.answerable
    else:
        held = frozenset(asked.pack)
        values["contradictions in pack"] = any(held.issuperset(pair) for pair in pairs)
        values["pack tokens"] = asked.pack_tokens
    return values


def values_of(*, evaluation: Evaluation, profile: str) -> Values:
    """Return the measures of each query asked of a profile."""
    judged = evaluation.judged
    asked = zip(judged.queries, evaluation.systems[profile], strict=True)
    return {
        query.id: (query.kind, measure(query=query, asked=one, pairs=judged.pairs))
        for query, one in asked
    }


def table(*, values: Values) -> tuple[Row, ...]:
    """Return a row for all queries and one for each kind."""
    rows = []
    for kind, ids in _by_kind(values):
        some = [values[id][1] for id in ids]
        found = {
            name: quotient(
                numerators=[one.get(name, 0.0) for one in some],
                denominators=[float(name in one) for one in some],
            )
            for name in MEASURES
        }
        rows.append(Row(kind=kind, queries=len(ids), measures=found))
    return tuple(rows)


def differences(*, first: Values, second: Values, names: Sequence[str]) -> tuple[Row, ...]:
    """Return second - first for each measure, paired by query, over all and each kind."""
    rows = []
    for kind, ids in _by_kind(first):
        found = {}
        for name in names:
            own = [id for id in ids if name in first[id][1]]
            before, after = ([each[id][1][name] for id in own] for each in (first, second))
            found[name] = paired(first=before, second=after)
        rows.append(Row(kind=kind, queries=len(ids), measures=found))
    return tuple(rows)


def _by_kind(values: Values) -> Iterator[tuple[str, list[str]]]:
    """Yield the ids of all queries, and those of each kind."""
    for kind in (ALL, *sorted({kind for kind, _ in values.values()})):
        yield kind, [id for id, (own, _) in values.items() if kind in {ALL, own}]
