"""Gather what a search ranks: candidates of every path, and what is known of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from accounts.caller import Caller
from memory.customization.phases import Own, Phase
from memory.entities.sql import entities
from memory.index.actions.embedding import Embedded
from memory.records.queries.views import GraphPart
from memory.search import calibrations, fusion, ranking, scoring
from memory.search import graph_effect as graph_parts
from memory.search import relevance as relevances
from memory.search.actions import request as search_request
from memory.search.actions.request import Place, Rerank, SearchRequest
from memory.search.candidates import Candidate, Item, Path
from memory.search.evidence import Evidence
from memory.search.neighborhood import PREVIOUS, Turn, turns_around, with_sessions
from memory.search.queries import read_evidence, read_turns
from memory.search.query import Query, QueryKind
from memory.search.query_language import wording_of
from memory.search.ranking import Standing, Task
from memory.search.relevance import Calibration, Observed, Relevance
from memory.search.sql import candidates
from memory.search.sql.candidates import Found
from memory.taxonomy import MemoryType
from memory.topics import queries as topics_queries
from memory.topics.queries import NearTopic
from teams import visibility
from teams.visibility import Sight


class OtherModel(Exception):
    """The organization's vectors are of another model than the query's."""

    def __init__(self, *, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The candidates of a search with their evidence, and how their relevance is judged.

    `limits` are those of the paths, `project_id` the only project that was asked of, `own` its
    weights of phases.
    """

    asked: Query
    found: tuple[Found, ...]
    known: Mapping[UUID, Evidence]
    calibration: Calibration
    threshold: float
    turns: Mapping[UUID, Turn] = field(default_factory=dict)
    topic: NearTopic | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    project_id: UUID | None = None
    own: Own = field(default_factory=dict)


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
    place = search_request.place(caller=caller, request=request)
    question = search_request.question(request=request, place=place, asked=asked, embedded=embedded)
    question = entities.asked_together(question=question, sight=sight)
    answer = candidates.candidates(question=question, sight=sight)
    active = answer.active_model
    if embedded is not None and active is not None and embedded.key != active:
        raise OtherModel(key=active)
    known = _read(tuple(item.memory_id for item in answer.found), sight, request, asked, now)
    pool = replace(
        _pool(request, asked, answer.found, known, place, question.model),
        topic=_topic(caller, embedded, place),
        limits=candidates.limits(question=question),
        project_id=place.projects[0] if place.projects and len(place.projects) == 1 else None,
        own=place.own,
    )
    episodes = tuple(id for id, one in known.items() if one.type is MemoryType.EPISODE)
    if not episodes:
        return pool
    turns = turns_around(turns=read_turns(memory_ids=episodes, sight=sight))
    if search_request.is_narrowed(request=request):  # what is beside a hit may not pass the filters
        return replace(pool, turns={id: turn for id, turn in turns.items() if id in known})
    beside = _read(tuple(id for id in turns if id not in known), sight, request, asked, now)
    return replace(pool, known={**known, **beside}, turns=turns)


def joined(*, first: Pool, second: Pool) -> Pool:
    """Return the candidates of both, the second's question being another wording of the first's.

    The closer cosine counts; words are the first's.
    """
    closest = {item.memory_id: item for item in first.found}
    for item in second.found:
        before = closest.get(item.memory_id)
        if before is None:
            closest[item.memory_id] = replace(item, bm25=0.0, matched=0.0)
        elif (item.cosine or 0.0) > (before.cosine or 0.0):
            closest[item.memory_id] = replace(before, cosine=item.cosine)
    return replace(
        first,
        found=tuple(closest.values()),
        known={**second.known, **first.known},
        turns={**second.turns, **first.turns},
        limits={path: limit + second.limits[path] for path, limit in first.limits.items()},
    )


def ranked(*, pool: Pool, request: SearchRequest) -> tuple[Standing, ...]:
    """Return the candidates in the order of the request's profile, best first."""
    return ranking.rank(
        candidates=candidates_of(pool=pool),
        evidence=pool.known,
        task=task_of(pool=pool, request=request),
    )


def graph_part(
    *, pool: Pool, request: SearchRequest, standings: tuple[Standing, ...]
) -> GraphPart | None:
    """Say what the graph did to a ranking; None where it was not for one project."""
    if pool.project_id is None:
        return None
    has_path = any(item.graph > 0 for item in pool.found)
    if has_path:
        without = graph_parts.without_graph(
            candidates=_without_graph(pool),
            standings=standings,
            task=task_of(pool=replace(pool, found=()), request=request),
        )
    else:
        profile = task_of(pool=pool, request=request).profile
        without = graph_parts.without_boost(standings=standings, profile=profile)
    return GraphPart(
        project_id=pool.project_id,
        took_part=has_path or any(one.boost for one in standings),
        changed=without != graph_parts.first(standings=standings),
    )


def candidates_of(*, pool: Pool) -> tuple[Candidate, ...]:
    """Return what each path said, for fusion; of episodes, with what stands beside them."""
    found = _alone(pool)
    return with_sessions(candidates=found, turns=pool.turns) if pool.turns else found


def kind_of(*, pool: Pool) -> QueryKind:
    """Treat a structural query as a semantic one where the graph found nothing."""
    kind = pool.asked.kind
    is_lost = kind is QueryKind.STRUCTURAL and not any(item.graph > 0 for item in pool.found)
    return QueryKind.SEMANTIC if is_lost else kind


def task_of(*, pool: Pool, request: SearchRequest) -> Task:
    """Return how a request wants its candidates ranked."""
    profile = scoring.PROFILES[request.profile] if request.profile else scoring.DEFAULT
    return Task(
        kind=kind_of(pool=pool),
        profile=profile,
        phase=Phase(request.phase) if request.phase else None,
        weights=fusion.with_paths(paths=profile.paths),
        own=pool.own,
    )


def judged(
    *, pool: Pool, standings: tuple[Standing, ...], anyway: bool = False
) -> tuple[tuple[Standing, Relevance], ...]:
    """Return those that are relevant enough, or all, with their relevance, in order."""
    observed = (*_observed(pool), *_observed_beside(pool))
    signs = relevances.signs_of(
        observed=observed,
        usual=pool.calibration.rivals,
        wording=wording_of(text=pool.asked.normalized),
    )
    values = (
        (one, relevances.relevance(signs=signs[one.memory_id], calibration=pool.calibration))
        for one in standings
    )
    return tuple((one, value) for one, value in values if anyway or value.value >= pool.threshold)


def _observed(pool: Pool) -> tuple[Observed, ...]:
    return tuple(
        Observed(
            memory_id=item.memory_id,
            cosine=item.cosine,
            matched=item.matched,
            missing=pool.known[item.memory_id].missing,
        )
        for item in pool.found
        if item.memory_id in pool.known
    )


def _observed_beside(pool: Pool) -> tuple[Observed, ...]:
    """Return the episodes that only their neighbors brought here: as close as by those, in part."""
    if not pool.turns:
        return ()
    found = {item.memory_id: item for item in pool.found}
    scores = {one.memory_id: one.scores for one in candidates_of(pool=pool)}
    return tuple(
        Observed(
            memory_id=id,
            cosine=min(1.0, scores[id][Path.DENSE]) if Path.DENSE in scores[id] else None,
            matched=PREVIOUS * found[turn.previous].matched if turn.previous in found else 0.0,
            missing=pool.known[id].missing,
        )
        for id, turn in pool.turns.items()
        if id not in found and id in pool.known
    )


def _alone(pool: Pool) -> tuple[Candidate, ...]:
    """Return what each path said of what it found, without what stands beside."""
    known = pool.known
    return tuple(
        Candidate(
            memory_id=item.memory_id,
            scores=_scores(item),
            item=known[item.memory_id].item if item.memory_id in known else Item.PROSE,
        )
        for item in pool.found
    )


def _without_graph(pool: Pool) -> tuple[Candidate, ...]:
    """Return the candidates as they were if the graph had found nothing."""
    every = _alone(pool)
    kept = graph_parts.brought_by_others(candidates=every, limits=pool.limits)
    bare = tuple(
        Candidate(
            memory_id=one.memory_id,
            scores={path: score for path, score in one.scores.items() if path != Path.GRAPH},
            item=one.item,
        )
        for one in every
        if one.memory_id in kept
    )
    if not pool.turns:
        return bare
    begun = {id: turn for id, turn in pool.turns.items() if id in kept}
    around = turns_around(turns=begun)
    turns = {id: turn for id, turn in around.items() if id in pool.turns}
    return with_sessions(candidates=bare, turns=turns)


def _read(
    memory_ids: tuple[UUID, ...],
    sight: Sight,
    request: SearchRequest,
    asked: Query,
    now: datetime,
) -> dict[UUID, Evidence]:
    return read_evidence(
        memory_ids=memory_ids,
        sight=sight,
        asked=asked,
        with_text=request.rerank in {Rerank.AUTO, Rerank.ON},
        now=now,
    )


def _pool(
    request: SearchRequest,
    asked: Query,
    found: tuple[Found, ...],
    known: Mapping[UUID, Evidence],
    place: Place,
    model: str,
) -> Pool:
    row = calibrations.calibration_of(
        model=model, has_vectors=any(item.cosine is not None for item in found)
    )
    return Pool(
        asked=asked,
        found=found,
        known=known,
        calibration=row,
        threshold=search_request.threshold(request=request, place=place, usual=row.threshold),
    )


def _topic(caller: Caller, embedded: Embedded | None, place: Place) -> NearTopic | None:
    """Return the topic that the question is nearest to; it orders nothing by itself."""
    if embedded is None:
        return None
    return topics_queries.nearest(
        caller=caller, model=embedded.key, vector=embedded.vector, projects=place.projects
    )


def _scores(item: Found) -> dict[str, float]:
    scores = {} if item.cosine is None else {Path.DENSE.value: item.cosine}
    if item.bm25 > 0:
        scores[Path.KEYWORD.value] = item.bm25
    if item.graph > 0:
        scores[Path.GRAPH.value] = item.graph
    if item.entities > 0:
        scores[Path.ENTITIES.value] = item.entities
    if item.communities > 0:
        scores[Path.COMMUNITIES.value] = item.communities
    return scores
