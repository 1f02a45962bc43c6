"""The pool of a search: its candidates, what is known of each, and what follows from both.

`gather` reads it in one statement behind that for sight and projects; it chooses the threshold,
too. The rest is pure: the order of the candidates, how relevant each is and whether that reaches
the threshold (`judge`), and what the graph did to the order.

The graph's part is what its path adds to the fusion, what the neighborhood of files adds, and the
memories that no other path brought. Without it the other paths are ranked as if it had found
nothing, and all else is equal; changed are the first eight if a memory among them, or their order,
is another one. Both orders are those before a reranker looks and before silence. No second search
is needed: which memories the other paths brought follows from their scores, since each brings its
best ones up to its limit. Memories of equal score at a limit are told apart by id, and where a scan
reads the beginnings of vectors, whole cosines stand for theirs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts.caller import Caller
from memory.customization import phases
from memory.index.actions.embedding import Embedded
from memory.records.queries.views import GraphPart
from memory.search import fusion, queries, ranking, relevance
from memory.search.fusion import FusedCandidate, Method, Path, Turns
from memory.search.query import Query, QueryKind
from memory.search.request import SearchRequest, Silence, question_of, scope_of
from memory.topics import queries as topics_queries
from teams import visibility

FIRST: Final = 8  # ranks in which the graph may change something
LIMITS: Final = {  # of the paths but the graph's, in a question
    Path.DENSE: "dense_limit",
    Path.KEYWORD: "keyword_limit",
    Path.ENTITIES: "named_limit",
    Path.COMMUNITIES: "topics_limit",
}
Judged = tuple[tuple[ranking.Standing, relevance.Relevance], ...]


class OtherModel(Exception):
    """The organization's vectors are of another model than the query's."""

    def __init__(self, *, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The candidates of a search with their evidence, and how their relevance is judged.

    `limits` are those of the paths, `project_id` the only project that was asked of, `own` its
    weights of phases; `topic` is the one that the question is nearest to, which orders nothing.
    """

    asked: Query
    found: tuple[FusedCandidate, ...]
    known: Mapping[UUID, ranking.Evidence]
    calibration: relevance.Calibration
    threshold: float
    turns: Turns = field(default_factory=dict)
    topic: topics_queries.NearTopic | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    project_id: UUID | None = None
    own: phases.Own = field(default_factory=dict)

    @property
    def kind(self) -> QueryKind:
        """The kind of the query; a structural one is semantic where the graph found nothing."""
        return kind_of(asked=self.asked, has_graph=self.has_graph)

    @property
    def has_graph(self) -> bool:
        """Whether the graph's path found anything."""
        return any(Path.GRAPH in one.scores for one in self.found)


def kind_of(*, asked: Query, has_graph: bool) -> QueryKind:
    """Return the kind of a query; a structural one is semantic without a graph."""
    is_lost = asked.kind is QueryKind.STRUCTURAL and not has_graph
    return QueryKind.SEMANTIC if is_lost else asked.kind


def gather(
    *,
    caller: Caller,
    request: SearchRequest,
    asked: Query,
    embedded: Embedded | None,
    now: datetime,
) -> Pool:
    """Return the candidates the caller may see. In a unit.

    Raises NotFound for a project the caller cannot see, OtherModel when the vector does not fit.
    """
    scope = scope_of(caller=caller, request=request)  # reads the sight with its projects
    sight = visibility.sight_of(caller=caller)
    question = question_of(request=request, scope=scope, asked=asked, embedded=embedded)
    read = queries.find_candidates(question=question, embedded=embedded, sight=sight, now=now)
    model = "" if embedded is None else embedded.key
    if model and read.active not in {None, model}:
        raise OtherModel(key=str(read.active))
    turns = turns_around(turns=read.turns).items()
    has_vectors = any(Path.DENSE in one.scores for one in read.found)
    calibration = relevance.calibration_of(model=model, has_vectors=has_vectors)
    return Pool(
        asked=asked,
        found=read.found,
        known=read.known,
        calibration=calibration,
        threshold=calibration.threshold if scope.threshold is None else scope.threshold,
        turns={
            id: turn for id, turn in turns if id in read.known
        },  # without what filters leave out
        topic=topics_queries.near_topic(caller=caller, told=read.topic),
        limits={path: question[name] for path, name in LIMITS.items()},
        project_id=scope.only_project,
        own=scope.own,
    )


def turns_around(*, turns: Turns) -> dict[UUID, tuple[UUID | None, UUID | None]]:
    """Return the turns of these episodes and of those beside them, as far as they are known."""
    before = {id: previous for id, (previous, _) in turns.items() if previous}
    after = {id: next for id, (_, next) in turns.items() if next}
    before.update({next: id for id, next in tuple(after.items())})
    after.update({previous: id for id, previous in tuple(before.items())})
    return {id: (before.get(id), after.get(id)) for id in sorted({*before, *after})}


def join(*, first: Pool, second: Pool) -> Pool:
    """Return the candidates of both, the second's question being another wording of the first's.

    The closer cosine counts; words are the first's.
    """
    closest = {one.memory_id: one for one in first.found}
    for one in second.found:
        before = closest.get(one.memory_id)
        if before is None:
            closest[one.memory_id] = replace(_without(one, Path.KEYWORD), matched=0.0)
        elif one.scores.get(Path.DENSE, 0.0) > before.scores.get(Path.DENSE, 0.0):
            scores = {**before.scores, Path.DENSE.value: one.scores[Path.DENSE]}
            closest[one.memory_id] = replace(before, scores=scores)
    return replace(
        first,
        found=tuple(closest.values()),
        known={**second.known, **first.known},
        turns={**second.turns, **first.turns},
        limits={path: limit + second.limits[path] for path, limit in first.limits.items()},
    )


def task_of(*, pool: Pool, request: SearchRequest, kind: QueryKind | None = None) -> ranking.Task:
    """Return how a request wants its candidates ranked, as a question of the pool's kind."""
    kind = kind or pool.kind
    profile = ranking.profile_of(name=request.profile)
    phase = phases.Phase(request.phase) if request.phase else None
    in_words = kind is QueryKind.SEMANTIC and profile.method is Method.MINMAX
    return ranking.Task(
        profile=profile,
        weights={**fusion.WEIGHTS[kind], **profile.paths},
        shares=fusion.SHARES if in_words else {},
        types=phases.weights_of(phase=phase, own=pool.own),
    )


def candidates_of(*, pool: Pool) -> tuple[FusedCandidate, ...]:
    """Return what each path says, for fusion; of episodes, with what is beside them."""
    if not pool.turns:
        return pool.found
    return fusion.with_sessions(candidates=pool.found, turns=pool.turns)


def rank(*, pool: Pool, request: SearchRequest) -> tuple[ranking.Standing, ...]:
    """Return the candidates in the order of the request's profile, best first."""
    task = task_of(pool=pool, request=request)
    return ranking.rank(candidates=candidates_of(pool=pool), evidence=pool.known, task=task)


def judge(
    *,
    pool: Pool,
    standings: tuple[ranking.Standing, ...],
    silence: Silence = Silence.HIT,
    limit: int | None = None,
) -> Judged:
    """Return the first `limit` that silence lets through, each with its relevance, in order.

    The whole ranking says whether anything fits: its rest, where none of the first does.
    """
    observed = _observed(pool)

    def judged(some: tuple[ranking.Standing, ...]) -> Judged:
        values = relevance.judge(
            observed=observed,
            calibration=pool.calibration,
            wording=pool.asked.wording,
            only=frozenset([one.memory_id for one in some]),
        )
        return tuple((one, values[one.memory_id]) for one in some)

    first = judged(standings[:limit])
    if silence is Silence.NONE:
        return first
    fitting = tuple((one, value) for one, value in first if value.value >= pool.threshold)
    if silence is Silence.HIT:
        return fitting
    rest = () if fitting or limit is None else judged(standings[limit:])
    does_fit = fitting or any(value.value >= pool.threshold for _, value in rest)
    return first if does_fit else ()


def graph_part_of(
    *, pool: Pool, request: SearchRequest, standings: tuple[ranking.Standing, ...]
) -> GraphPart | None:
    """Return what the graph did to a ranking; None where it was not for one project."""
    if pool.project_id is None:
        return None
    first = [one.memory_id for one in standings[:FIRST]]
    without = first
    if pool.has_graph or any(one.boost for one in standings[:FIRST]):  # a boost only raises
        bare = without_graph(pool=pool) if pool.has_graph else pool
        kind = kind_of(asked=pool.asked, has_graph=False)
        others = ranking.rank(
            candidates=candidates_of(pool=bare),
            evidence=pool.known,
            task=task_of(pool=pool, request=request, kind=kind),
            is_boosted=False,
        )
        without = [one.memory_id for one in others[:FIRST]]
    return GraphPart(
        project_id=pool.project_id,
        took_part=pool.has_graph or any(one.boost for one in standings),
        changed=without != first,
    )


def without_graph(*, pool: Pool) -> Pool:
    """Return a pool as it were if the graph had found nothing.

    Its candidates are those that another path brought, up to its limit, and what stands beside them
    in their sessions.
    """
    brought: set[UUID] = set()
    for path in LIMITS:
        scores = {one.memory_id: one.scores[path] for one in pool.found if path in one.scores}
        held = sorted(scores, key=lambda id: (-scores[id], id))
        brought.update(held[: pool.limits[path]])
    around = turns_around(turns={id: turn for id, turn in pool.turns.items() if id in brought})
    return replace(
        pool,
        found=tuple(_without(one, Path.GRAPH) for one in pool.found if one.memory_id in brought),
        turns={id: turn for id, turn in around.items() if id in pool.turns},
    )


def _without(one: FusedCandidate, left_out: Path) -> FusedCandidate:
    scores = {path: score for path, score in one.scores.items() if path != left_out}
    return replace(one, scores=scores)


def _observed(pool: Pool) -> tuple[relevance.Observed, ...]:
    """Return what the paths say of each candidate, and of what only its neighbors brought.

    Those episodes are as close as by their neighbors, in part.
    """
    found = {one.memory_id: one for one in pool.found}
    observed = [
        relevance.Observed(id, one.scores.get(Path.DENSE), one.matched, known.missing)
        for id, one in found.items()
        if (known := pool.known.get(id))
    ]
    beside = (pool.turns.keys() & pool.known.keys()) - found.keys()
    for one in candidates_of(pool=pool) if beside else ():
        if one.memory_id in beside:
            cosine = one.scores.get(Path.DENSE)
            cosine = None if cosine is None else min(1.0, cosine)
            previous = found.get(pool.turns[one.memory_id][0] or one.memory_id)
            matched = 0.0 if previous is None else fusion.PREVIOUS * previous.matched
            missing = pool.known[one.memory_id].missing
            observed.append(relevance.Observed(one.memory_id, cosine, matched, missing))
    return tuple(observed)
