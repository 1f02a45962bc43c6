"""Search: the best-ranked memories with reasons, or silence.

Outside of a unit the query is embedded; inside of one, a single statement returns the candidates of
every path with visibility and filters applied inside each; fusion and relevance are pure; then the
chosen memories are read, and their ids go to the access log. An organization whose vectors are of
another model than the installation's is looked at twice: no model is asked inside of a unit.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from memory.index.actions import embedding
from memory.index.actions.embedding import Embedded
from memory.records.deadline import NEVER, Deadline
from memory.records.queries import relations
from memory.records.queries.relations import Contradiction
from memory.records.queries.views import GraphPart, MemoryView, give_out, views_of
from memory.search import explain, query, scoring
from memory.search import funnel as funnels
from memory.search.actions import gather_candidates, refinement
from memory.search.actions import request as search_request
from memory.search.actions.gather_candidates import OtherModel, Pool, gather, joined
from memory.search.actions.request import (
    LARGEST_LIMIT,
    LONGEST_QUERY,
    PROFILES,
    Mode,
    Rerank,
    SearchRequest,
)
from memory.search.funnel import Funnel
from memory.search.query import Query
from memory.search.ranking import Standing
from memory.secrets import secret_catalog, secrets
from memory.topics.queries import NearTopic
from teams import visibility
from teams.permissions import Act, require

__all__ = [
    "LARGEST_LIMIT",
    "LONGEST_QUERY",
    "PROFILES",
    "STAGES",
    "Hit",
    "SearchAnswer",
    "SearchRequest",
    "search",
    "search_each",
]

Looked = TypeVar("Looked")

NO_VECTORS: Final = "no_vectors"
SECRET_LEFT_OUT: Final = "secret_left_out"  # noqa: S105  a name, not a password
ASKED_MOST: Final = 2  # times that vectors are asked for, where the model changes in between
STAGES: Final = ("understand", "embed", "candidates", "fusion", "hyde", "rerank", "judge", "read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result: the memory, how relevant it is (0..1), and why it stands here.

    `contradictions` are the other sides of what it contradicts: no side is told alone.
    """

    memory: MemoryView
    relevance: float
    explain: Mapping[str, Any]
    contradictions: tuple[Contradiction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """The results, best first; `degraded` names what was missing, `stages` what took how long.

    A stage of STAGES that was not needed is not among `stages`; values are milliseconds. `made_up`
    is the memory that a model wrote for a second search, empty when there was none; `topic` the one
    that the question is nearest to; `graph` what the graph did to the ranking, if for one project.
    """

    hits: tuple[Hit, ...]
    nothing_relevant: bool
    degraded: tuple[str, ...]
    took_ms: float
    stages: Mapping[str, float]
    profile: str
    funnel: Funnel
    made_up: str = ""
    topic: NearTopic | None = None
    graph: GraphPart | None = None


class _Watch:
    """Milliseconds since the start, and of each stage as it ends."""

    def __init__(self, deadline: Deadline) -> None:
        self._started = self._last = time.perf_counter()
        self._deadline = deadline
        self.stages: dict[str, float] = {}

    def ends(self, stage: str) -> None:
        """Book the time since the last stage to this one. Raises TooLate."""
        now = time.perf_counter()
        before = self.stages.get(stage, 0.0)
        self.stages[stage] = round(before + (now - self._last) * 1_000, 3)
        self._last = now
        self._deadline.check()

    def total(self) -> float:
        """Return the milliseconds since the start."""
        return round((time.perf_counter() - self._started) * 1_000, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One search under way; `vectors`: those of its and other questions, where they are asked for.

    `is_whole`: that nothing was left out of its question.
    """

    caller: Caller
    request: SearchRequest
    asked: Query
    now: datetime
    watch: _Watch
    is_whole: bool
    vectors: Mapping[str, Embedded] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ordered:
    """Candidates in order, what was missing on the way, and the memory a model made up.

    `graph` is what the graph did to the order before a reranker.
    """

    pool: Pool
    standings: tuple[Standing, ...]
    degraded: tuple[str, ...] = ()
    made_up: str = ""
    graph: GraphPart | None = None


def search(
    *, caller: Caller, request: SearchRequest, now: datetime, deadline: Deadline = NEVER
) -> SearchAnswer:
    """Find what the caller may see and what fits the query.

    A secret in the question is left out of it, and told in `degraded`. Raises InvalidInput naming
    the field, NotFound for a project the caller cannot see, TooLate behind a stage that ended after
    the deadline.
    """
    require(caller=caller, act=Act.READ)
    return _answer(_begun(caller, request, now, deadline))


def search_each(
    *, caller: Caller, requests: tuple[SearchRequest, ...], now: datetime
) -> tuple[SearchAnswer, ...]:
    """Answer several requests as `search` does, in one unit; their vectors are asked for at once.

    No second model looks at what was found: none is asked inside of a unit.
    """
    require(caller=caller, act=Act.READ)
    once = (replace(request, hyde=False, rerank=Rerank.NONE.value) for request in requests)
    runs = tuple(_begun(caller, request, now, NEVER) for request in once)
    hybrid = (run.asked.normalized for run in runs if run.request.mode == Mode.HYBRID)
    texts = tuple(dict.fromkeys(hybrid))
    for _ in range(ASKED_MOST):
        try:
            return _answered_together(runs, embedding.embed_queries(texts=texts))
        except OtherModel:
            continue  # another model became active meanwhile
    return _answered_together(runs, {})


def _answered_together(
    runs: tuple[_Run, ...], vectors: Mapping[str, Embedded]
) -> tuple[SearchAnswer, ...]:
    with tenancy.unit():
        return tuple(_answer(replace(run, vectors=vectors)) for run in runs)


def _begun(caller: Caller, request: SearchRequest, now: datetime, deadline: Deadline) -> _Run:
    """Return a request as a search under way: checked, understood, without secrets."""
    watch = _Watch(deadline)
    search_request.check(request=request)
    words = _without_secrets(request.query)
    asked = query.understand(text=words)
    watch.ends("understand")
    return _Run(
        caller=caller,
        request=replace(request, query=words),
        asked=asked,
        now=now,
        watch=watch,
        is_whole=words == request.query,
    )


def _answer(run: _Run) -> SearchAnswer:
    hits, ordered = _answered(run)
    threshold = ordered.pool.threshold
    shown = sum(hit.explain["relevance"]["value"] >= threshold for hit in hits)
    return SearchAnswer(
        hits=hits,
        nothing_relevant=not shown,
        degraded=ordered.degraded if run.is_whole else (*ordered.degraded, SECRET_LEFT_OUT),
        took_ms=run.watch.total(),
        stages=run.watch.stages,
        profile=run.request.profile or scoring.DEFAULT.name,
        made_up=ordered.made_up,
        topic=ordered.pool.topic,
        graph=ordered.graph,
        funnel=funnels.of(
            standings=ordered.standings,
            limit=run.request.limit,
            shown=shown,
            threshold=threshold,
        ),
    )


def _without_secrets(text: str) -> str:
    """Return the question as it may be compared, kept and sent: without what looks like a secret.

    Raises InvalidInput where nothing else was asked.
    """
    findings = secret_catalog.find_secrets(text=text)
    if not findings:
        return text
    words = secrets.leave_out(text=text, findings=findings)
    if not words:
        detail = secret_catalog.fault_of(text=text)
        raise wrong_field(
            pointer="/query", detail=detail, hint="Ask in words of your own.", code="secret"
        )
    return words


def _answered(run: _Run) -> tuple[tuple[Hit, ...], _Ordered]:
    if run.request.hyde or run.request.rerank in {Rerank.AUTO, Rerank.ON}:
        ordered = _looked_twice(run, _ordered(run))
        return _given(run, ordered), ordered
    hits, ordered = _at_once(run)
    if hits is not None:
        return hits, ordered
    ordered = _looked_twice(run, ordered)
    return _given(run, ordered), ordered


def _at_once(run: _Run) -> tuple[tuple[Hit, ...] | None, _Ordered]:
    """Order and read in one unit: the usual search. No hits yet where a reranker is to look."""

    def look(embedded: Embedded | None) -> tuple[tuple[Hit, ...] | None, _Ordered]:
        with tenancy.unit():
            ordered = _order(run, embedded)
            return None if _is_due(run, ordered) else _given(run, ordered), ordered

    return _fitting(run, look)


def _is_due(run: _Run, ordered: _Ordered) -> bool:
    return refinement.is_due(
        pool=ordered.pool, standings=ordered.standings, wish=run.request.rerank
    )


def _ordered(run: _Run) -> _Ordered:
    return _fitting(run, lambda embedded: _order(run, embedded))


def _fitting(run: _Run, look: Callable[[Embedded | None], Looked]) -> Looked:
    """Look with a vector of the active model; with none when that changes again meanwhile."""
    if run.vectors is not None:
        return look(_embedded(run))
    try:
        return look(_embedded(run))
    except OtherModel as other:
        embedded = _embedded(run, key=other.key)
    try:
        return look(embedded)
    except OtherModel:
        return look(None)


def _embedded(run: _Run, key: str = "") -> Embedded | None:
    text = run.asked.normalized
    if run.request.mode != Mode.HYBRID:
        found = None
    elif run.vectors is not None:
        found = run.vectors.get(text)
    else:
        found = embedding.embed_query(text=text, key=key)
    run.watch.ends("embed")
    return found


def _order(run: _Run, embedded: Embedded | None) -> _Ordered:
    is_hybrid = run.request.mode == Mode.HYBRID
    with tenancy.unit():
        pool = gather(
            caller=run.caller,
            request=run.request,
            asked=run.asked,
            embedded=embedded,
            now=run.now,
        )
    run.watch.ends("candidates")
    missing = () if embedded or not is_hybrid else (NO_VECTORS,)
    ordered = _ranked(run, _Ordered(pool=pool, standings=(), degraded=missing))
    run.watch.ends("fusion")
    return ordered


def _ranked(run: _Run, ordered: _Ordered) -> _Ordered:
    """Put a pool in order, and see what the graph did to it."""
    pool, request = ordered.pool, run.request
    standings = gather_candidates.ranked(pool=pool, request=request)
    graph = gather_candidates.graph_part(pool=pool, request=request, standings=standings)
    return replace(ordered, standings=standings, graph=graph)


def _looked_twice(run: _Run, ordered: _Ordered) -> _Ordered:
    """Search again with a made-up memory if wished and little was found; rerank if wished."""
    if run.request.hyde:
        judged = gather_candidates.judged(pool=ordered.pool, standings=ordered.standings)
        if refinement.is_thin(relevances=tuple(value.value for _, value in judged)):
            ordered = _with_made_up(run, ordered)
            run.watch.ends("hyde")
    if run.request.rerank == Rerank.USUAL and _is_due(run, ordered):
        read = refinement.with_texts(
            caller=run.caller, pool=ordered.pool, standings=ordered.standings, now=run.now
        )
        ordered = replace(ordered, pool=read)
    standings, missing = refinement.reranked(
        pool=ordered.pool, standings=ordered.standings, wish=run.request.rerank
    )
    run.watch.ends("rerank")
    return replace(ordered, standings=standings, degraded=(*ordered.degraded, *missing))


def _with_made_up(run: _Run, ordered: _Ordered) -> _Ordered:
    text = refinement.made_up(question=run.asked.normalized)
    if text is None:
        return replace(ordered, degraded=(*ordered.degraded, refinement.NO_MODEL))
    asked = replace(run.asked, normalized=text)
    second = _ordered(replace(run, asked=asked))
    pool = joined(first=ordered.pool, second=second.pool)
    return _ranked(run, replace(ordered, pool=pool, made_up=text))


def _given(run: _Run, ordered: _Ordered) -> tuple[Hit, ...]:
    pool = ordered.pool
    best = ordered.standings[: run.request.limit]
    judged = gather_candidates.judged(pool=pool, standings=best, anyway=run.request.anyway)
    run.watch.ends("judge")
    with tenancy.unit():
        sight = visibility.sight_of(caller=run.caller)
        chosen = tuple(item.memory_id for item, _ in judged)
        sides = relations.contradicting(memory_ids=chosen, sight=sight)
        beside = (one.memory_id for others in sides.values() for one in others)
        told = tuple(dict.fromkeys((*chosen, *beside)))
        give = partial(give_out, graph=ordered.graph) if run.request.is_noted else views_of
        views = give(memory_ids=told, sight=sight, now=run.now) if told else {}
    run.watch.ends("read")
    return tuple(
        Hit(
            memory=views[item.memory_id],
            relevance=round(value.value, 4),
            explain=explain.of(
                standing=item,
                relevance=value,
                threshold=pool.threshold,
                calibration=pool.calibration,
            ),
            contradictions=sides.get(item.memory_id, ()),
        )
        for item, value in judged
        if item.memory_id in views
    )
