"""Measures of one ranking, of silence, and of a pack; no judge, no model.

In the flow: `memory.evaluation.actions.evaluate` asks every query of a judged set, and `report`
puts what came back through these. A ranking is ids, best first, each once; grades say how useful an
id is: 1 touches the answer, 2 answers in part, 3 is the answer; an id without a grade is worth
nothing. Queries that nothing answers have no grades; they belong to silence, not to rankings.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

Grades = Mapping[str, int]


class Discount(StrEnum):
    """How a gain counts less the further down it stands."""

    EVERY_RANK = "every_rank"  # 1 / log2(rank + 1): trec_eval, BEIR; the second rank already loses
    FROM_THIRD = "from_third"  # 1 / max(1, log2(rank)): Järvelin and Kekäläinen (2002), base 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one query adds above and below the line of a share; a mean has 1 below for each."""

    above: float
    below: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """What one query adds to the measures of silence.

    precision: of the silences, those where nothing answers. recall: of the queries that nothing
    answers, those met with silence. withheld: of the answerable queries, those met with silence.
    """

    precision: Share
    recall: Share
    withheld: Share


NOTHING: Final = Share(above=0.0, below=0.0)  # the measure does not look at this query


def recall_at(*, ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Compute |relevant in the first k| / |relevant|, 0..1. Raises ValueError without relevant."""
    relevant = _relevant(ranked, grades, k)
    return len(relevant.intersection(ranked[:k])) / len(relevant)


def precision_at(*, ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Compute |relevant in the first k| / k, 0..1; a shorter ranking counts as filled with noise.

    Raises ValueError without relevant ids.
    """
    return len(_relevant(ranked, grades, k).intersection(ranked[:k])) / k


def reciprocal_rank(*, ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Compute 1 / rank of the first relevant id among the first k, ranks from 1; else 0.

    Raises ValueError without relevant ids.
    """
    relevant = _relevant(ranked, grades, k)
    ranks = (rank for rank, item in enumerate(ranked[:k], start=1) if item in relevant)
    return 1.0 / next(ranks, math.inf)


def ndcg_at(
    *, ranked: Sequence[str], grades: Grades, k: int, discount: Discount = Discount.EVERY_RANK
) -> float:
    """Compute DCG(ranked) / DCG(grades from the best down), both over k ranks, 0..1.

    Raises ValueError without relevant ids. Source: Järvelin and Kekäläinen (2002).
    """
    _relevant(ranked, grades, k)
    gains = tuple(grades.get(item, 0) for item in ranked[:k])
    ideal = sorted(grades.values(), reverse=True)[:k]
    return dcg(gains=gains, discount=discount) / dcg(gains=ideal, discount=discount)


def dcg(*, gains: Sequence[int], discount: Discount) -> float:
    """Compute Σ gain / discount over ranks from 1. Source: Järvelin and Kekäläinen (2002)."""
    return sum(gain / _divisor(rank, discount) for rank, gain in enumerate(gains, start=1))


def abstention(*, answerable: bool, silent: bool) -> Abstention:
    """Measure one silence or answer; the shares are the sums over queries, above by below."""
    return Abstention(
        precision=Share(above=not answerable) if silent else NOTHING,
        recall=NOTHING if answerable else Share(above=silent),
        withheld=Share(above=silent) if answerable else NOTHING,
    )


def contradictions(
    *, pack: Sequence[str], pairs: Iterable[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Return the contradicting pairs that a pack gives to an agent together."""
    held = frozenset(pack)
    return tuple(pair for pair in pairs if held.issuperset(pair))


def _relevant(ranked: Sequence[str], grades: Grades, k: int) -> frozenset[str]:
    """Return the ids worth finding, after a look at what was given."""
    relevant = frozenset(item for item, grade in grades.items() if grade > 0)
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    if not relevant:
        raise ValueError("a query that nothing answers has no rank measures; see abstention")
    if len(set(ranked)) < len(ranked):
        raise ValueError("a ranking names each id once")
    return relevant


def _divisor(rank: int, discount: Discount) -> float:
    if discount is Discount.EVERY_RANK:
        return math.log2(rank + 1)
    return max(1.0, math.log2(rank))
