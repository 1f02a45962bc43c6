"""Evaluate searches on a judged set, in an organization that is never there.

Each query goes through `search()` with each profile in turns, so that no profile has the warmer
machine; `trial` fills the organization and leaves nothing of it.
"""

from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts.errors import wrong_field
from accounts.messages import message
from memory.customization import phases
from memory.customization.phases import Phase
from memory.evaluation.actions.sandbox import Tell, Trial, trial
from memory.evaluation.dataset import JudgedQuery, JudgedSet, Split
from memory.evaluation.outcomes import Asked, Evaluation, K, System
from memory.search import packing
from memory.search.actions import Hit, SearchAnswer, search
from memory.search.packing import Packable
from memory.search.refinement import Rerank
from memory.search.request import PROFILES, SearchRequest
from memory.taxonomy import MemoryType
from memory.text import tokens as packing_tokens

PACK: Final = phases.BUDGETS[Phase.IMPLEMENT]  # what an agent at work is given
SHOW_EVERY: Final = 100  # queries between two lines of progress


def evaluate(
    *,
    judged: JudgedSet,
    profiles: tuple[str, ...],
    reranks: tuple[str, ...] = (Rerank.USUAL.value,),
    split: Split | None,
    now: datetime,
    tell: Tell,
) -> Evaluation:
    """Ask the queries of a set, of one half or all, of each profile; leave nothing behind.

    Each profile is asked with each way of reranking; but for the usual, it is `profile+way`.

    `tell` hears how far it is. Raises InvalidInput for an unknown profile or a half without
    queries, EmbedderUnavailable when nothing can be embedded.
    """
    chosen = _chosen(judged, profiles, split)
    with trial(judged=chosen, now=now, tell=tell) as filled:
        systems, degraded = _ask(filled, _ways(profiles, reranks), now, tell)
    return Evaluation(
        judged=filled.judged,
        split=split,
        embedder=filled.embedder,
        embedded=filled.embedded,
        refused=filled.refused,
        degraded=degraded,
        systems=systems,
    )


def _chosen(judged: JudgedSet, profiles: tuple[str, ...], split: Split | None) -> JudgedSet:
    unknown = next((name for name in profiles if name not in PROFILES), None)
    if unknown is not None or not profiles:
        detail = message("Name profiles among: {names}.", names=tuple(PROFILES))
        raise wrong_field(pointer="/profiles", detail=detail, code="choice")
    queries = tuple(query for query in judged.queries if split in {None, query.split})
    if not queries:
        raise wrong_field(pointer="/split", detail="No query is in this half.", code="empty")
    return replace(judged, queries=queries)


def _ways(profiles: tuple[str, ...], reranks: tuple[str, ...]) -> dict[str, SearchRequest]:
    return {
        profile if way == Rerank.USUAL else f"{profile}+{way}": SearchRequest(
            query="", limit=K, profile=profile, rerank=way
        )
        for profile in profiles
        for way in reranks
    }


def _ask(
    filled: Trial, ways: dict[str, SearchRequest], now: datetime, tell: Tell
) -> tuple[tuple[System, ...], tuple[str, ...]]:
    caller, queries = filled.caller, filled.judged.queries
    found: dict[str, list[Asked]] = {name: [] for name in ways}
    degraded: dict[str, None] = {}
    for way in ways.values():
        search(caller=caller, request=_request(queries[0], way), now=now)  # loads, plans
    for number, query in enumerate(queries, start=1):
        for name, way in ways.items():
            usual = _request(query, way)
            ranking = search(caller=caller, request=replace(usual, threshold=0.0), now=now)
            answer = search(caller=caller, request=usual, now=now)
            degraded.update(dict.fromkeys(answer.degraded))
            found[name].append(_asked(query, ranking, answer, filled.names))
        if number % SHOW_EVERY == 0 or number == len(queries):
            tell(f"asked {number} of {len(queries)} queries")
    systems = tuple(System(profile=name, asked=tuple(asked)) for name, asked in found.items())
    return systems, tuple(degraded)


def _request(query: JudgedQuery, way: SearchRequest) -> SearchRequest:
    return replace(way, query=query.text, project=query.project, as_of=query.as_of)


def _asked(
    query: JudgedQuery, ranking: SearchAnswer, answer: SearchAnswer, names: dict[UUID, str]
) -> Asked:
    packed, _ = packing.pack(ranked=tuple(map(_packable, answer.hits)), budget=PACK)
    return Asked(
        query_id=query.id,
        ranked=tuple(names[hit.memory.id] for hit in ranking.hits),
        best_relevance=max((hit.relevance for hit in ranking.hits), default=0.0),
        silent=answer.nothing_relevant,
        pack=tuple(names[item.memory_id] for item in packed),
        pack_tokens=sum(item.tokens for item in packed),
        took_ms=answer.took_ms,
        stages=answer.stages,
    )


def _packable(hit: Hit) -> Packable:
    tokens = packing_tokens.count(text=hit.memory.content)
    return Packable(memory_id=hit.memory.id, type=MemoryType(hit.memory.type), tokens=tokens)
