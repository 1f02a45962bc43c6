"""Search: the best-ranked memories with reasons, or silence.

`search` reads as its stages: understand, embed, candidates, fusion, then second looks by a model
where they are due, judge, read. Outside of a unit the query is embedded; inside of one, a single
statement returns the candidates of every path; fusion and relevance are pure; then the chosen
memories are read, and their ids go to the access log. The usual search is one unit. An organization
whose vectors are of another model than the installation's is looked at twice: no model is asked
inside of a unit.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import metrics, tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from memory.entities import queries as entities
from memory.index.actions import embedding
from memory.records.queries import views as memory_views
from memory.search import pool as pools
from memory.search import presentation, queries, query, ranking, refinement
from memory.search import request as search_request
from memory.search.request import NEVER, Deadline, Mode, SearchRequest, Silence, TooLate
from memory.secrets import findings as secrets
from memory.secrets import scanner
from memory.taxonomy import LinkKind
from memory.topics.queries import NearTopic
from teams import visibility
from teams.permissions import Act, require

NO_VECTORS: Final = "no_vectors"
SECRET_LEFT_OUT: Final = "secret_left_out"  # noqa: S105  a name, not a password
MOST_EMBEDDED: Final = 2  # times that vectors are asked for, where the model changes in between
MOST_NEIGHBORS: Final = 10  # a hit
MOST_SEE_ALSO: Final = 5  # a hit
ALONGSIDE: Final = frozenset({LinkKind.SEE_ALSO, LinkKind.SIMILAR})
STAGES: Final = ("understand", "embed", "candidates", "fusion", "hyde", "rerank", "judge", "read")
SECONDS_OF: Final = {stage: metrics.SEARCH_STAGE_SECONDS.labels(stage) for stage in STAGES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result: the memory, how relevant it is (0..1), and why it stands here.

    `contradictions` are the other sides of what it contradicts: no side is given alone.
    """

    memory: memory_views.MemoryView
    relevance: float
    explain: Mapping[str, Any]
    contradictions: tuple[memory_views.Contradiction, ...] = ()


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
    funnel: presentation.Funnel
    made_up: str = ""
    topic: NearTopic | None = None
    graph: memory_views.GraphPart | None = None


class _Watch:
    """Milliseconds since the start, and of each stage as it ends."""

    def __init__(self, deadline: Deadline) -> None:
        self._started = self._last = time.perf_counter()
        self._deadline = deadline
        self.stages: dict[str, float] = {}

    def end(self, stage: str) -> None:
        """Book the time since the last stage to this one. Raises TooLate."""
        now = time.perf_counter()
        before = self.stages.get(stage, 0.0)
        self.stages[stage] = round(before + (now - self._last) * 1_000, 3)
        self._last = now
        if self._deadline.is_past():
            raise TooLate

    def total(self) -> float:
        """Return the milliseconds since the start."""
        return round((time.perf_counter() - self._started) * 1_000, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One search under way; `vectors`: those of its and other questions, where they are asked for.

    `is_whole`: that no secret was left out of its question.
    """

    caller: Caller
    request: SearchRequest
    asked: query.Query
    now: datetime
    watch: _Watch
    is_whole: bool
    vectors: Mapping[str, embedding.Embedded] | None = None
    writer: refinement.MemoryWriter | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ordered:
    """Candidates in order, what was missing on the way, and the memory a model made up.

    `graph` is what the graph did to the order before a reranker. `hits` are read where no second
    look is due.
    """

    pool: pools.Pool
    standings: tuple[ranking.Standing, ...]
    graph: memory_views.GraphPart | None
    degraded: tuple[str, ...] = ()
    made_up: str = ""
    hits: tuple[Hit, ...] | None = None


def search(
    *,
    caller: Caller,
    request: SearchRequest,
    now: datetime,
    deadline: Deadline = NEVER,
    writer: refinement.MemoryWriter | None = None,
) -> SearchAnswer:
    """Find what the caller may see and what fits the query.

    `writer` makes up a memory where the request wants one; without it, none is made up.
    A secret in the question is left out of it, and named in `degraded`. Raises InvalidInput naming
    the field, NotFound for a project the caller cannot see, TooLate behind a stage that ended after
    the deadline.
    """
    require(caller=caller, act=Act.READ)
    run = _understand(caller, request, now, deadline)
    return _answer(replace(run, writer=writer))


def search_each(
    *, caller: Caller, requests: tuple[SearchRequest, ...], now: datetime
) -> tuple[SearchAnswer, ...]:
    """Answer several requests as `search` does, in one unit; their vectors are asked for at once.

    No second model looks at what was found: none is asked inside of a unit.
    """
    require(caller=caller, act=Act.READ)
    never = refinement.Rerank.NONE.value
    once = (replace(request, hyde=False, rerank=never) for request in requests)
    runs = tuple(_understand(caller, request, now, NEVER) for request in once)
    hybrid = (run.asked.normalized for run in runs if run.request.mode == Mode.HYBRID)
    texts = tuple(dict.fromkeys(hybrid))
    key = ""
    for _ in range(MOST_EMBEDDED):
        try:
            return _answer_together(runs, embedding.embed_queries(texts=texts, key=key))
        except pools.OtherModel as other:
            key = other.key  # became active meanwhile
    return _answer_together(runs, {})


def _answer_together(
    runs: tuple[_Run, ...], vectors: Mapping[str, embedding.Embedded]
) -> tuple[SearchAnswer, ...]:
    with tenancy.unit():
        return tuple(_answer(replace(run, vectors=vectors)) for run in runs)


def _answer(run: _Run) -> SearchAnswer:
    """Go through the stages of a search that is understood."""
    request = run.request
    ordered = _find(run)
    hits = ordered.hits
    if hits is None:
        if request.hyde:
            ordered = _add_made_up(run, ordered)
        if _is_rerank_due(run, ordered):
            ordered = _rerank(run, ordered)
        run.watch.end("rerank")
        hits = _read(run, ordered)
    threshold = ordered.pool.threshold
    does_fit = _does_fit(request, hits, threshold)
    answer = SearchAnswer(
        hits=hits,
        nothing_relevant=not does_fit,
        degraded=ordered.degraded if run.is_whole else (*ordered.degraded, SECRET_LEFT_OUT),
        took_ms=run.watch.total(),
        stages=run.watch.stages,
        profile=request.profile or ranking.DEFAULT.name,
        made_up=ordered.made_up,
        topic=ordered.pool.topic,
        graph=ordered.graph,
        funnel=presentation.funnel_of(
            standings=ordered.standings,
            limit=request.limit,
            shown=len(hits) if does_fit else 0,
            threshold=threshold,
        ),
    )
    _count(answer)
    return answer


def _count(answer: SearchAnswer) -> None:
    """Count an answer and its stages, for operators."""
    outcome = "silence" if answer.nothing_relevant else "found"
    metrics.SEARCH_SECONDS.labels(outcome).observe(answer.took_ms / 1_000)
    for stage, milliseconds in answer.stages.items():
        SECONDS_OF[stage].observe(milliseconds / 1_000)
    for missing in answer.degraded:
        metrics.SEARCHES_DEGRADED.labels(missing).inc()


def _does_fit(request: SearchRequest, hits: tuple[Hit, ...], threshold: float) -> bool:
    """Say whether something fits; without silence, hits alone do not say so."""
    if request.silence is not Silence.NONE:
        return bool(hits)
    return any(hit.explain["relevance"]["value"] >= threshold for hit in hits)


def _understand(caller: Caller, request: SearchRequest, now: datetime, deadline: Deadline) -> _Run:
    """Check a request, leave out of its question what looks like a secret, and understand it.

    What is left may be compared, kept and sent. Raises InvalidInput where nothing else was asked.
    """
    watch = _Watch(deadline)
    search_request.check(request=request)
    words = request.query
    findings = scanner.find_secrets(text=words)
    if findings:
        words = secrets.leave_out(text=words, findings=findings)
    if not words:
        detail = scanner.fault_of(text=request.query)
        raise wrong_field(
            pointer="/query", detail=detail, hint="Use your own words.", code="secret"
        )
    asked = query.understand(text=words, today=(request.asked_at or now).date())
    watch.end("understand")
    return _Run(
        caller=caller,
        request=replace(request, query=words),
        asked=asked,
        now=now,
        watch=watch,
        is_whole=words == request.query,
    )


def _find(run: _Run) -> _Ordered:
    """Look with a vector of the active model; with none when that changes again meanwhile."""
    text, key = run.asked.normalized, ""
    for _ in range(MOST_EMBEDDED):
        embedded = None
        if run.request.mode == Mode.HYBRID and run.vectors is not None:
            embedded = run.vectors.get(text)
        elif run.request.mode == Mode.HYBRID:
            embedded = embedding.embed_query(text=text, key=key)
        run.watch.end("embed")
        try:
            return _look(run, embedded)
        except pools.OtherModel as other:
            if run.vectors is not None:
                raise
            key = other.key
    return _look(run, None)


def _look(run: _Run, embedded: embedding.Embedded | None) -> _Ordered:
    """Gather the candidates and put them in order; read the hits where no second look is due."""
    request = run.request
    with tenancy.unit():
        pool = pools.gather(
            caller=run.caller, request=request, asked=run.asked, embedded=embedded, now=run.now
        )
        run.watch.end("candidates")
        is_degraded = embedded is None and request.mode == Mode.HYBRID
        ordered = _rank(request, pool, degraded=(NO_VECTORS,) if is_degraded else ())
        run.watch.end("fusion")
        if request.hyde or request.rerank in refinement.ASKED or _is_rerank_due(run, ordered):
            return ordered
        return replace(ordered, hits=_read(run, ordered))


def _rank(request: SearchRequest, pool: pools.Pool, **more: Any) -> _Ordered:
    """Put a pool in order, and see what the graph did to it."""
    standings = pools.rank(pool=pool, request=request)
    graph = pools.graph_part_of(pool=pool, request=request, standings=standings)
    return _Ordered(pool=pool, standings=standings, graph=graph, **more)


def _add_made_up(run: _Run, ordered: _Ordered) -> _Ordered:
    """Search again with a memory that a model makes up, where little was found."""
    judged = pools.judge(pool=ordered.pool, standings=ordered.standings)
    if sum(value.value > refinement.SURE for _, value in judged) >= refinement.ENOUGH:
        return ordered
    text = None if run.writer is None else run.writer.write(question=run.asked.normalized)
    if text is None:
        ordered = replace(ordered, degraded=(*ordered.degraded, refinement.NO_MODEL))
    else:
        second = _find(replace(run, asked=replace(run.asked, normalized=text)))
        pool = pools.join(first=ordered.pool, second=second.pool)
        ordered = _rank(run.request, pool, degraded=ordered.degraded, made_up=text)
    run.watch.end("hyde")
    return ordered


def _is_rerank_due(run: _Run, ordered: _Ordered) -> bool:
    return refinement.is_due(
        wish=run.request.rerank,
        kind=ordered.pool.kind,
        standings=ordered.standings,
        evidence=ordered.pool.known,
    )


def _rerank(run: _Run, ordered: _Ordered) -> _Ordered:
    """Let a reranker look at the best; texts are read here where nobody asked for it."""
    pool = ordered.pool
    known = dict(pool.known)
    is_asked = run.request.rerank in refinement.ASKED
    if not is_asked:
        with tenancy.unit():
            known |= queries.read_evidence(
                memory_ids=tuple(one.memory_id for one in ordered.standings[: refinement.TOP]),
                sight=visibility.sight_of(caller=run.caller),
                asked=pool.asked,
                with_text=True,
                now=run.now,
            )
    standings, missing = refinement.rerank(
        question=pool.asked.normalized,
        standings=ordered.standings,
        evidence=known,
        is_asked=is_asked,
    )
    return replace(ordered, standings=standings, degraded=(*ordered.degraded, *missing))


def _read(run: _Run, ordered: _Ordered) -> tuple[Hit, ...]:
    """Judge the best, and read those that silence lets through with what contradicts them."""
    pool = ordered.pool
    judged = pools.judge(
        pool=pool,
        standings=ordered.standings,
        silence=run.request.silence,
        limit=run.request.limit,
    )
    weak = (one.memory_id for one, value in judged if value.value < pool.threshold)
    run.watch.end("judge")
    with tenancy.unit():
        views, sides = memory_views.give_out_together(
            memory_ids=tuple(item.memory_id for item, _ in judged),
            sight=visibility.sight_of(caller=run.caller),
            now=run.now,
            graph=ordered.graph,
            is_noted=run.request.is_noted,
            weak=frozenset(weak),
        )
    run.watch.end("read")
    return tuple(
        Hit(
            memory=views[item.memory_id],
            relevance=round(value.value, 4),
            explain=presentation.explain(
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The answer with its hits in order, and how to read it in words.

    `neighbors` are what each hit is linked with (at most 10), `see_also` (at most 5) where a link
    says no more than that; the surest first.
    """

    answer: SearchAnswer
    order: presentation.Order
    neighbors: Mapping[UUID, tuple[memory_views.Relation, ...]]
    see_also: Mapping[UUID, tuple[memory_views.Relation, ...]]
    hint: str


def lay_out(
    *,
    caller: Caller,
    request: SearchRequest,
    now: datetime,
    writer: refinement.MemoryWriter | None = None,
) -> Layout:
    """Search, and put the results in the order of their story, each with what it is linked with.

    Raises as `search` does.
    """
    answer = search(caller=caller, request=request, now=now, writer=writer)
    order, ids, related = organize_hits(caller=caller, hits=answer.hits)
    linked: dict[bool, dict[UUID, list[memory_views.Relation]]] = {True: {}, False: {}}
    for one in related:
        linked[one.kind in ALONGSIDE].setdefault(one.memory_id, []).append(one)
    disagreeing = set(ids) & memory_views.contradictions(relations=related).keys()
    by_id = {hit.memory.id: hit for hit in answer.hits}
    return Layout(
        answer=replace(answer, hits=tuple(by_id[id] for id in ids)),
        order=order,
        neighbors={id: tuple(linked[False].get(id, ())[:MOST_NEIGHBORS]) for id in ids},
        see_also={id: tuple(linked[True].get(id, ())[:MOST_SEE_ALSO]) for id in ids},
        hint=presentation.hint(
            order=order,
            told=len(ids),
            disagreeing=len(disagreeing),
            left_out=answer.funnel.judged - answer.funnel.shown if ids else 0,
        ),
    )


def organize_hits(
    *, caller: Caller, hits: tuple[Hit, ...]
) -> tuple[presentation.Order, tuple[UUID, ...], tuple[memory_views.Relation, ...]]:
    """Return how to tell hits, given best first, their ids in that order, and their relations."""
    ids = tuple(hit.memory.id for hit in hits)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        related = memory_views.relations_of(memory_ids=ids, sight=sight)
        things = entities.things_of(memory_ids=ids, sight=sight)
    views = tuple(hit.memory for hit in hits)
    order, told = presentation.organize(views=views, things=things, relations=related)
    return order, told, related
