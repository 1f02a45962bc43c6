"""Search: the best-ranked memories with reasons, or silence (spec 3).

Outside of a unit the query is embedded; inside of one, a single statement returns the candidates of
every path with visibility and filters applied inside each; fusion and relevance are pure; then the
chosen memories are read, and their ids go to the access log. An organization whose vectors are of
another model than the installation's is looked at twice: no model is asked inside of a unit.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.actions import asking, embedding
from memory.actions.asking import LARGEST_LIMIT, LONGEST_QUERY, PROFILES, Mode, SearchRequest
from memory.actions.embedding import Embedded
from memory.queries.evidence import read_evidence
from memory.queries.views import MemoryView, give_out
from memory.retrieval import calibrations, explain, query, ranking, scoring
from memory.retrieval import relevance as relevances
from memory.retrieval.candidates import Candidate, Path
from memory.retrieval.evidence import Evidence
from memory.retrieval.phases import Phase
from memory.retrieval.query import Query, QueryKind
from memory.retrieval.ranking import Standing, Task
from memory.retrieval.relevance import Calibration, Observed, Relevance
from memory.sql import retrieval
from memory.sql.retrieval import Found, Question
from teams import visibility
from teams.permissions import require
from teams.roles import Act
from teams.visibility import Sight

__all__ = [
    "LARGEST_LIMIT",
    "LONGEST_QUERY",
    "PROFILES",
    "STAGES",
    "Hit",
    "SearchAnswer",
    "SearchRequest",
    "search",
]

NO_VECTORS: Final = "no_vectors"
STAGES: Final = ("understand", "embed", "candidates", "fusion", "judge", "read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result: the memory, how relevant it is (0..1), and why it stands here."""

    memory: MemoryView
    relevance: float
    explain: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """The results, best first; `degraded` names what was missing, `stages` what took how long.

    A stage of STAGES that was not needed is not among `stages`; values are milliseconds.
    """

    hits: tuple[Hit, ...]
    nothing_relevant: bool
    degraded: tuple[str, ...]
    took_ms: float
    stages: Mapping[str, float]
    profile: str


class _OtherModel(Exception):
    """The organization's vectors are of another model than the query's."""

    def __init__(self, *, key: str) -> None:
        super().__init__(key)
        self.key = key


class _Watch:
    """Milliseconds since the start, and of each stage as it ends."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self.stages: dict[str, float] = {}

    def ends(self, stage: str) -> None:
        """Book the time since the last stage to this one."""
        now = time.perf_counter()
        before = self.stages.get(stage, 0.0)
        self.stages[stage] = round(before + (now - self._last) * 1_000, 3)
        self._last = now

    def total(self) -> float:
        """Return the milliseconds since the start."""
        return round((time.perf_counter() - self._started) * 1_000, 2)


def search(*, caller: Caller, request: SearchRequest, now: datetime) -> SearchAnswer:
    """Find what the caller may see and what fits the query.

    Raises InvalidInput naming the field, NotFound for a project the caller cannot see.
    """
    watch = _Watch()
    require(caller=caller, act=Act.READ)
    asking.check(request=request)
    asked = query.understand(text=request.query)
    watch.ends("understand")
    is_hybrid = request.mode == Mode.HYBRID
    embedded = embedding.embed_query(text=asked.normalized) if is_hybrid else None
    watch.ends("embed")
    try:
        hits = _look(caller, request, asked, embedded, now, watch)
    except _OtherModel as other:
        embedded = embedding.embed_query(text=asked.normalized, key=other.key)
        watch.ends("embed")
        hits = _look(caller, request, asked, embedded, now, watch)
    return SearchAnswer(
        hits=hits,
        nothing_relevant=not hits,
        degraded=() if embedded or not is_hybrid else (NO_VECTORS,),
        took_ms=watch.total(),
        stages=watch.stages,
        profile=request.profile or scoring.DEFAULT.name,
    )


def _look(
    caller: Caller,
    request: SearchRequest,
    asked: Query,
    embedded: Embedded | None,
    now: datetime,
    watch: _Watch,
) -> tuple[Hit, ...]:
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        place = asking.place(caller=caller, request=request)
        question = asking.question(request=request, place=place, asked=asked, embedded=embedded)
        found = _found(question, embedded, sight)
        known = read_evidence(
            memory_ids=tuple(item.memory_id for item in found),
            sight=sight,
            identifiers=asked.identifiers,
            with_text=False,
            now=now,
        )
        watch.ends("candidates")
        standings = _ranked(request, asked, found, known)
        watch.ends("fusion")
        row = calibrations.calibration_of(
            model=question.model, has_vectors=any(item.cosine is not None for item in found)
        )
        threshold = asking.threshold(request=request, place=place, usual=row.threshold)
        judged = _judged(standings[: request.limit], found, known, row, threshold)
        watch.ends("judge")
        chosen = tuple(item.memory_id for item, _ in judged)
        views = give_out(memory_ids=chosen, sight=sight, now=now) if chosen else {}
        watch.ends("read")
    return tuple(
        Hit(
            memory=views[item.memory_id],
            relevance=round(value.value, 4),
            explain=explain.of(
                standing=item, relevance=value, threshold=threshold, calibration=row
            ),
        )
        for item, value in judged
        if item.memory_id in views
    )


def _found(question: Question, embedded: Embedded | None, sight: Sight) -> tuple[Found, ...]:
    answer = retrieval.candidates(question=question, sight=sight)
    active = answer.active_model
    if embedded is not None and active is not None and embedded.key != active:
        raise _OtherModel(key=active)
    return answer.found


def _ranked(
    request: SearchRequest,
    asked: Query,
    found: tuple[Found, ...],
    known: Mapping[UUID, Evidence],
) -> tuple[Standing, ...]:
    candidates = tuple(Candidate(memory_id=item.memory_id, scores=_scores(item)) for item in found)
    task = Task(
        kind=_kind(asked, found),
        profile=scoring.PROFILES[request.profile] if request.profile else scoring.DEFAULT,
        phase=Phase(request.phase) if request.phase else None,
    )
    return ranking.rank(candidates=candidates, evidence=known, task=task)


def _kind(asked: Query, found: tuple[Found, ...]) -> QueryKind:
    """Treat a structural query as a semantic one where the graph found nothing."""
    is_lost = asked.kind is QueryKind.STRUCTURAL and not any(item.graph > 0 for item in found)
    return QueryKind.SEMANTIC if is_lost else asked.kind


def _scores(item: Found) -> dict[str, float]:
    scores = {} if item.cosine is None else {Path.DENSE.value: item.cosine}
    if item.bm25 > 0:
        scores[Path.KEYWORD.value] = item.bm25
    if item.graph > 0:
        scores[Path.GRAPH.value] = item.graph
    return scores


def _judged(
    standings: tuple[Standing, ...],
    found: tuple[Found, ...],
    known: Mapping[UUID, Evidence],
    row: Calibration,
    threshold: float,
) -> tuple[tuple[Standing, Relevance], ...]:
    """Return those that are relevant enough, with their relevance, in order."""
    observed = tuple(
        Observed(
            memory_id=item.memory_id,
            cosine=item.cosine,
            matched=item.matched,
            missing=known[item.memory_id].missing,
        )
        for item in found
        if item.memory_id in known
    )
    signs = relevances.signs_of(observed=observed, usual=row.rivals)
    judged = (
        (item, relevances.relevance(signs=signs[item.memory_id], calibration=row))
        for item in standings
    )
    return tuple((item, value) for item, value in judged if value.value >= threshold)
