"""What a search answered, and the measures of it, per query and per kind.

In the flow: `memory.evaluation.actions.evaluate` fills `Asked`, `measured` turns each into numbers,
`table` takes means with intervals over all queries and over each kind. Rank measures come from the
ranking without silence; silence, packs and times from the search as it is usually asked.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from memory.evaluation import bootstrap, metrics
from memory.evaluation.bootstrap import Interval
from memory.evaluation.dataset import JudgedQuery, JudgedSet, Split
from memory.evaluation.metrics import NOTHING, Share

K: Final = 10  # ranks looked at; also what a search returns by default
ALL: Final = "all"
RANK_MEASURES: Final = ("recall@10", "nDCG@10", "MRR", "precision@10")
SILENCE_MEASURES: Final = ("silence precision", "silence recall", "withheld")
PACK_MEASURES: Final = ("confusable in pack", "contradictions in pack", "pack tokens")
MEASURES: Final = (*RANK_MEASURES, *SILENCE_MEASURES, *PACK_MEASURES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One query asked of one profile: `ranked` without silence; the rest as usual.

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
class Refusal:
    """A memory of the set that the product did not let in."""

    memory_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One profile over all queries of the set that were asked, in the order of the set."""

    profile: str
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Everything a report needs; `judged` has the queries that were asked, and no others."""

    judged: JudgedSet
    split: Split | None
    embedder: str
    embedded: int
    refused: tuple[Refusal, ...]
    degraded: tuple[str, ...]
    systems: tuple[System, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The measures of one kind of query; a measure without queries to take it from is None."""

    kind: str
    queries: int
    measures: tuple[tuple[str, Interval | None], ...]


def kinds(*, judged: JudgedSet) -> tuple[str, ...]:
    """Return all queries' kinds by name, after the row of all."""
    return (ALL, *sorted({query.kind for query in judged.queries}))


def table(*, evaluation: Evaluation, system: System) -> tuple[Row, ...]:
    """Return a row for all queries and one for each kind."""
    return tuple(_row(kind, values) for kind, values in _by_kind(evaluation, system).items())


def differences(*, evaluation: Evaluation, first: System, second: System) -> tuple[Row, ...]:
    """Return second - first for each rank measure, paired by query, over all and each kind."""
    before, after = (_by_kind(evaluation, system) for system in (first, second))
    rows = []
    for kind, values in before.items():
        pairs = tuple(zip(values, after[kind], strict=True))
        measures = tuple((name, _difference(name, pairs)) for name in RANK_MEASURES)
        rows.append(Row(kind=kind, queries=len(values), measures=measures))
    return tuple(rows)


def measured(
    *, query: JudgedQuery, asked: Asked, pairs: Iterable[tuple[str, str]]
) -> dict[str, Share]:
    """Return each measure of one query; one that does not apply counts nowhere."""
    silence = metrics.abstention(answerable=query.answerable, silent=asked.silent)
    clash = metrics.contradictions(pack=asked.pack, pairs=pairs)
    confused = frozenset(query.confusable).intersection(asked.pack)
    return {
        **_rank_values(query, asked),
        "silence precision": silence.precision,
        "silence recall": silence.recall,
        "withheld": silence.withheld,
        "confusable in pack": Share(above=bool(confused)) if query.confusable else NOTHING,
        "contradictions in pack": NOTHING if asked.silent else Share(above=bool(clash)),
        "pack tokens": NOTHING if asked.silent else Share(above=asked.pack_tokens),
    }


def _rank_values(query: JudgedQuery, asked: Asked) -> dict[str, Share]:
    if not query.answerable:
        return dict.fromkeys(RANK_MEASURES, NOTHING)
    functions: tuple[Callable[..., float], ...] = (
        metrics.recall_at,
        metrics.ndcg_at,
        metrics.reciprocal_rank,
        metrics.precision_at,
    )
    return {
        name: Share(above=function(ranked=asked.ranked, grades=query.grades, k=K))
        for name, function in zip(RANK_MEASURES, functions, strict=True)
    }


def _by_kind(evaluation: Evaluation, system: System) -> dict[str, list[dict[str, Share]]]:
    found: dict[str, list[dict[str, Share]]] = {
        kind: [] for kind in kinds(judged=evaluation.judged)
    }
    pairs = evaluation.judged.pairs
    for query, asked in zip(evaluation.judged.queries, system.asked, strict=True):
        values = measured(query=query, asked=asked, pairs=pairs)
        found[ALL].append(values)
        found[query.kind].append(values)
    return found


def _row(kind: str, values: list[dict[str, Share]]) -> Row:
    measures = tuple(
        (
            name,
            bootstrap.quotient(
                numerators=tuple(value[name].above for value in values),
                denominators=tuple(value[name].below for value in values),
            ),
        )
        for name in MEASURES
    )
    return Row(kind=kind, queries=len(values), measures=measures)


def _difference(
    name: str, pairs: tuple[tuple[dict[str, Share], dict[str, Share]], ...]
) -> Interval | None:
    both = tuple((first[name], second[name]) for first, second in pairs if first[name].below)
    return bootstrap.paired(
        first=tuple(first.above for first, _ in both),
        second=tuple(second.above for _, second in both),
    )
