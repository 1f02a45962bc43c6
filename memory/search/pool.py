"""The pool of a search: its candidates, what is known of each, and what follows from both.

`gather` reads it in two statements, and in two more where it holds turns of sessions. The rest is
pure: the order of the candidates, how relevant each is, and what the graph did to the order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from uuid import UUID

from accounts.caller import Caller
from memory.customization.phases import Own, Phase
from memory.entities.sql import entities
from memory.index.actions.embedding import Embedded
from memory.records.queries.views import GraphPart
from memory.search import fusion, graph_effect, neighborhood, queries, ranking, refinement
from memory.search import relevance as relevances
from memory.search import request as requests
from memory.search.fusion import FusedCandidate, Path
from memory.search.query import Query, QueryKind
from memory.search.ranking import Evidence, Standing, Task
from memory.search.relevance import Calibration, Observed, Relevance
from memory.search.request import SearchRequest
from memory.taxonomy import MemoryType
from memory.topics import queries as topics_queries
from memory.topics.queries import NearTopic
from teams import visibility


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
    known: Mapping[UUID, Evidence]
    calibration: Calibration
    threshold: float
    turns: Mapping[UUID, neighborhood.Neighbors] = field(default_factory=dict)
    topic: NearTopic | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    project_id: UUID | None = None
    own: Own = field(default_factory=dict)

    @property
    def kind(self) -> QueryKind:
        """The kind of the query; a structural one is semantic where the graph found nothing."""
        is_lost = self.asked.kind is QueryKind.STRUCTURAL and not any(
            Path.GRAPH in one.scores for one in self.found
        )
        return QueryKind.SEMANTIC if is_lost else self.asked.kind


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
    sight = visibility.sight_of(caller=caller)
    scope = requests.scope_of(caller=caller, request=request)
    question = requests.question_of(request=request, scope=scope, asked=asked, embedded=embedded)
    named = dict(zip(question.named, question.spelled, strict=True))
    named = entities.with_same_names(named=named, sight=sight)
    question = replace(question, named=tuple(named), spelled=tuple(named.values()))
    active, found = queries.find_candidates(question=question, sight=sight)
    if embedded is not None and active is not None and embedded.key != active:
        raise OtherModel(key=active)

    read = partial(
        queries.read_evidence,
        sight=sight,
        asked=asked,
        with_text=request.rerank in {refinement.Rerank.AUTO, refinement.Rerank.ON},
        now=now,
    )
    known = read(memory_ids=tuple(one.memory_id for one in found))
    turns, beside = _read_turns(request, known, sight)
    if beside:
        known |= read(memory_ids=beside)
    calibration = relevances.calibration_of(
        model=question.model, has_vectors=any(Path.DENSE in one.scores for one in found)
    )
    topic = None
    if embedded is not None:
        topic = topics_queries.nearest(
            caller=caller, model=embedded.key, vector=embedded.vector, projects=scope.projects
        )
    return Pool(
        asked=asked,
        found=tuple(
            replace(one, item=known[one.memory_id].item) if one.memory_id in known else one
            for one in found
        ),
        known=known,
        calibration=calibration,
        threshold=requests.threshold_of(request=request, scope=scope, usual=calibration.threshold),
        turns=turns,
        topic=topic,
        limits=question.limits,
        project_id=scope.projects[0] if scope.projects and len(scope.projects) == 1 else None,
        own=scope.own,
    )


def _read_turns(
    request: SearchRequest, known: Mapping[UUID, Evidence], sight: visibility.Sight
) -> tuple[dict[UUID, neighborhood.Neighbors], tuple[UUID, ...]]:
    """Return what stands beside the episodes that are known, and which of it is not known yet."""
    episodes = tuple(id for id, one in known.items() if one.type is MemoryType.EPISODE)
    if not episodes:
        return {}, ()
    turns = neighborhood.turns_around(turns=queries.read_turns(memory_ids=episodes, sight=sight))
    if requests.is_narrowed(request=request):  # what is beside may not pass the filters
        return {id: turn for id, turn in turns.items() if id in known}, ()
    return turns, tuple(id for id in turns if id not in known)


def join(*, first: Pool, second: Pool) -> Pool:
    """Return the candidates of both, the second's question being another wording of the first's.

    The closer cosine counts; words are the first's.
    """
    closest = {one.memory_id: one for one in first.found}
    for one in second.found:
        before = closest.get(one.memory_id)
        if before is None:
            scores = {path: score for path, score in one.scores.items() if path != Path.KEYWORD}
            closest[one.memory_id] = replace(one, scores=scores, matched=0.0)
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


def task_of(*, pool: Pool, request: SearchRequest, kind: QueryKind | None = None) -> Task:
    """Return how a request wants its candidates ranked."""
    profile = ranking.PROFILES[request.profile] if request.profile else ranking.DEFAULT
    weights = fusion.WEIGHTS
    if profile.paths:
        weights = {kind: {**given, **profile.paths} for kind, given in weights.items()}
    return Task(
        kind=kind or pool.kind,
        profile=profile,
        phase=Phase(request.phase) if request.phase else None,
        weights=weights,
        own=pool.own,
    )


def candidates_of(*, pool: Pool) -> tuple[FusedCandidate, ...]:
    """Return what each path says, for fusion; of episodes, with what is beside them."""
    if not pool.turns:
        return pool.found
    return neighborhood.with_sessions(candidates=pool.found, turns=pool.turns)


def rank(*, pool: Pool, request: SearchRequest) -> tuple[Standing, ...]:
    """Return the candidates in the order of the request's profile, best first."""
    return ranking.rank(
        candidates=candidates_of(pool=pool),
        evidence=pool.known,
        task=task_of(pool=pool, request=request),
    )


def judge(
    *, pool: Pool, standings: tuple[Standing, ...], anyway: bool = False
) -> tuple[tuple[Standing, Relevance], ...]:
    """Return those that are relevant enough, or all, with their relevance, in order."""
    signs = relevances.signs_of(
        observed=_observed(pool), usual=pool.calibration.rivals, wording=pool.asked.wording
    )
    values = (
        (one, relevances.relevance(signs=signs[one.memory_id], calibration=pool.calibration))
        for one in standings
    )
    return tuple((one, value) for one, value in values if anyway or value.value >= pool.threshold)


def graph_part_of(
    *, pool: Pool, request: SearchRequest, standings: tuple[Standing, ...]
) -> GraphPart | None:
    """Return what the graph did to a ranking; None where it was not for one project."""
    if pool.project_id is None:
        return None
    has_path = any(Path.GRAPH in one.scores for one in pool.found)
    if has_path:
        kind = pool.asked.kind  # without a graph, a structural query is a semantic one
        kind = QueryKind.SEMANTIC if kind is QueryKind.STRUCTURAL else kind
        without = graph_effect.without_graph(
            candidates=graph_effect.take_graph_out(
                candidates=pool.found, turns=pool.turns, limits=pool.limits
            ),
            standings=standings,
            task=task_of(pool=pool, request=request, kind=kind),
        )
    else:
        without = graph_effect.without_boost(standings=standings)
    return GraphPart(
        project_id=pool.project_id,
        took_part=has_path or any(one.boost for one in standings),
        changed=without != graph_effect.first(standings=standings),
    )


def _observed(pool: Pool) -> tuple[Observed, ...]:
    """Return what the paths say of each candidate, and of what only its neighbors brought.

    Those episodes are as close as by their neighbors, in part.
    """
    found = {one.memory_id: one for one in pool.found}
    beside = [id for id in pool.turns if id not in found and id in pool.known]
    observed = [
        Observed(
            memory_id=id,
            cosine=one.scores.get(Path.DENSE),
            matched=one.matched,
            missing=pool.known[id].missing,
        )
        for id, one in found.items()
        if id in pool.known
    ]
    scores = {one.memory_id: one.scores for one in candidates_of(pool=pool)} if beside else {}
    for id in beside:
        previous = found.get(pool.turns[id].previous or id)
        cosine = scores[id].get(Path.DENSE)
        observed.append(
            Observed(
                memory_id=id,
                cosine=None if cosine is None else min(1.0, cosine),
                matched=neighborhood.PREVIOUS * previous.matched if previous else 0.0,
                missing=pool.known[id].missing,
            )
        )
    return tuple(observed)
