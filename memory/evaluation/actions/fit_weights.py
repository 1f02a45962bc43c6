"""Fit the weights of fusion by kind of query, on the train half of a judged set.

Candidates are gathered once a query; ranking them anew under each point of the grid is pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from memory.evaluation import metrics, weights
from memory.evaluation.actions.sandbox import Tell, Trial, trial
from memory.evaluation.dataset import JudgedQuery, JudgedSet, Split
from memory.evaluation.outcomes import K
from memory.evaluation.weights import Choice
from memory.index.actions import embedding
from memory.search import fusion, query, ranking
from memory.search import pool as pools
from memory.search.pool import Pool
from memory.search.query import QueryKind
from memory.search.request import SearchRequest

REQUEST: Final = SearchRequest(query="", limit=K, threshold=0.0)


def fit_weights(
    *, judged: JudgedSet, now: datetime, tell: Tell
) -> Mapping[QueryKind, tuple[int, Choice]]:
    """Return by kind how many answerable train queries it has, and what fits them best.

    Raises EmbedderUnavailable when nothing can be embedded.
    """
    train = tuple(one for one in judged.queries if one.split is Split.TRAIN and one.answerable)
    with trial(judged=replace(judged, queries=train), now=now, tell=tell) as filled:
        pools = tuple(_pools(filled, now))
        names = filled.names
    kinds = {kind: [one for one in pools if _kind(one[1]) is kind] for kind in QueryKind}
    return {kind: (len(some), _chosen(some, names)) for kind, some in kinds.items() if some}


def _chosen(pools: Sequence[tuple[JudgedQuery, Pool]], names: Mapping[UUID, str]) -> Choice:
    kind = _kind(pools[0][1])
    measured = {
        point: _measured(pools, names, weights.weights_of(point=point)) for point in weights.grid()
    }
    return weights.chosen(measured=measured, usual=_measured(pools, names, fusion.WEIGHTS[kind]))


def _measured(
    pools: Sequence[tuple[JudgedQuery, Pool]], names: Mapping[UUID, str], given: Mapping[str, float]
) -> tuple[float, ...]:
    return tuple(
        metrics.ndcg_at(ranked=_ranked(pool, names, given), grades=asked.grades, k=K)
        for asked, pool in pools
    )


def _ranked(pool: Pool, names: Mapping[UUID, str], given: Mapping[str, float]) -> tuple[str, ...]:
    task = pools.task_of(pool=pool, request=REQUEST)
    kept = fusion.WEIGHTS[task.kind]  # of paths that are not fitted
    weights = {**fusion.WEIGHTS, task.kind: {**kept, **given}}
    task = replace(task, weights=weights, shares={})
    standings = ranking.rank(
        candidates=pools.candidates_of(pool=pool), evidence=pool.known, task=task
    )
    return tuple(names[one.memory_id] for one in standings[:K])


def _kind(pool: Pool) -> QueryKind:
    return pool.kind


def _pools(filled: Trial, now: datetime) -> Iterator[tuple[JudgedQuery, Pool]]:
    for one in filled.judged.queries:
        asked = query.understand(text=one.text)
        request = replace(REQUEST, query=one.text, project=one.project, as_of=one.as_of)
        embedded = embedding.embed_query(text=asked.normalized, key=filled.embedder)
        with tenancy.unit():
            yield (
                one,
                pools.gather(
                    caller=filled.caller,
                    request=request,
                    asked=asked,
                    embedded=embedded,
                    now=now,
                ),
            )
