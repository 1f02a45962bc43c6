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
from accounts.errors import FieldError, InvalidInput
from memory.actions import embedding
from memory.actions.embedding import Embedded
from memory.intake.text import check_text
from memory.queries.views import MemoryView, give_out
from memory.retrieval import explain, fusion, query, relevance
from memory.retrieval.candidates import Candidate
from memory.retrieval.fusion import Fused
from memory.retrieval.query import Query, QueryKind
from memory.sql import retrieval
from memory.sql.retrieval import Found, Question
from memory.taxonomy import MemoryType, type_row
from teams import queries as places
from teams import visibility
from teams.permissions import require
from teams.roles import Act
from teams.visibility import Sight

DENSE_LIMIT: Final = 30  # spec 3.1
KEYWORD_LIMIT: Final = 20  # spec 3.1
LARGEST_LIMIT: Final = 100
LONGEST_QUERY: Final = 20_000  # characters
PROFILES: Final = ("plain", "rrf")
NO_VECTORS: Final = "no_vectors"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What someone asks; `threshold` 0 returns the ranking without silence."""

    query: str
    project: str | None = None
    limit: int = 10
    types: tuple[str, ...] = ()
    profile: str | None = None
    threshold: float | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result: the memory, how relevant it is (0..1), and why it stands here."""

    memory: MemoryView
    relevance: float
    explain: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """The results, best first; `degraded` names what was missing."""

    hits: tuple[Hit, ...]
    nothing_relevant: bool
    degraded: tuple[str, ...]
    took_ms: float
    profile: str


class _OtherModel(Exception):
    """The organization's vectors are of another model than the query's."""

    def __init__(self, *, key: str) -> None:
        super().__init__(key)
        self.key = key


def search(*, caller: Caller, request: SearchRequest, now: datetime) -> SearchAnswer:
    """Find what the caller may see and what fits the query.

    Raises InvalidInput naming the field, NotFound for a project the caller cannot see.
    """
    started = time.perf_counter()
    require(caller=caller, act=Act.READ)
    _check(request)
    asked = query.understand(text=request.query)
    embedded = embedding.embed_query(text=asked.normalized)
    try:
        hits = _look(caller, request, asked, embedded, now)
    except _OtherModel as other:
        embedded = embedding.embed_query(text=asked.normalized, key=other.key)
        hits = _look(caller, request, asked, embedded, now)
    return SearchAnswer(
        hits=hits,
        nothing_relevant=not hits,
        degraded=() if embedded else (NO_VECTORS,),
        took_ms=round((time.perf_counter() - started) * 1_000, 2),
        profile=request.profile or PROFILES[0],
    )


def _look(
    caller: Caller, request: SearchRequest, asked: Query, embedded: Embedded | None, now: datetime
) -> tuple[Hit, ...]:
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        question = _question(caller, request, asked, embedded)
        found = _found(question, embedded, sight)
        ranked = _fuse(request, asked, found)
        judged = _judge(request, ranked, {item.memory_id: item for item in found})
        chosen = tuple(item.memory_id for item, _ in judged)
        views = give_out(memory_ids=chosen, sight=sight, now=now) if chosen else {}
    return tuple(
        Hit(memory=views[item.memory_id], relevance=value, explain=explain.of(fused=item))
        for item, value in judged
        if item.memory_id in views
    )


def _question(
    caller: Caller, request: SearchRequest, asked: Query, embedded: Embedded | None
) -> Question:
    return Question(
        model="" if embedded is None else embedded.key,
        vector=None if embedded is None else embedded.vector,
        words=asked.keyword_text,
        projects=_projects(caller, request),
        type_codes=_codes(request),
        moment=request.as_of,
        dense_limit=max(DENSE_LIMIT, request.limit),
        keyword_limit=max(KEYWORD_LIMIT, request.limit),
    )


def _found(question: Question, embedded: Embedded | None, sight: Sight) -> tuple[Found, ...]:
    answer = retrieval.candidates(question=question, sight=sight)
    active = answer.active_model
    if embedded is not None and active is not None and embedded.key != active:
        raise _OtherModel(key=active)
    return answer.found


def _fuse(request: SearchRequest, asked: Query, found: tuple[Found, ...]) -> tuple[Fused, ...]:
    candidates = tuple(Candidate(memory_id=item.memory_id, scores=_scores(item)) for item in found)
    if request.profile == "rrf":
        return fusion.reciprocal_rank(candidates=candidates, kind=_kind(asked))
    return fusion.minmax(candidates=candidates, kind=_kind(asked))


def _kind(asked: Query) -> QueryKind:
    """Treat a structural query as a semantic one: its weights count on a graph path."""
    return QueryKind.SEMANTIC if asked.kind is QueryKind.STRUCTURAL else asked.kind


def _scores(item: Found) -> dict[str, float]:
    scores = {} if item.cosine is None else {"dense": item.cosine}
    if item.bm25 > 0:
        scores["keyword"] = item.bm25
    return scores


def _judge(
    request: SearchRequest, ranked: tuple[Fused, ...], found: Mapping[UUID, Found]
) -> list[tuple[Fused, float]]:
    threshold = relevance.THRESHOLD if request.threshold is None else request.threshold
    judged = []
    for item in ranked[: request.limit]:
        seen = found[item.memory_id]
        value = relevance.relevance(cosine=seen.cosine, matched=min(1.0, seen.matched))
        if value >= threshold:
            judged.append((item, round(value, 4)))
    return judged


def _projects(caller: Caller, request: SearchRequest) -> tuple[UUID, ...] | None:
    if request.project is None:
        return None
    return (places.find_project(caller=caller, ref=request.project).id,)


def _codes(request: SearchRequest) -> tuple[int, ...] | None:
    if not request.types:
        return None
    return tuple(type_row(type=MemoryType(name)).code for name in request.types)


def _check(request: SearchRequest) -> None:
    known = {item.value for item in MemoryType}
    wrong_type = next((name for name in request.types if name not in known), None)
    faults = (
        ("/query", not request.query.strip(), "Write what to look for."),
        ("/query", bool(check_text(text=request.query)), "Leave out unstorable characters."),
        ("/query", len(request.query) > LONGEST_QUERY, f"Use at most {LONGEST_QUERY} characters."),
        ("/limit", not 1 <= request.limit <= LARGEST_LIMIT, f"Use 1 to {LARGEST_LIMIT}."),
        ("/types", wrong_type is not None, f"{wrong_type!r} is not a type of memory."),
        ("/profile", request.profile not in {None, *PROFILES}, f"Use {' or '.join(PROFILES)}."),
        ("/threshold", not 0 <= (request.threshold or 0) <= 1, "Use a number from 0 to 1."),
    )
    errors = tuple(
        FieldError(pointer=pointer, detail=detail, code="wrong")
        for pointer, is_wrong, detail in faults
        if is_wrong
    )
    if errors:
        raise InvalidInput(
            detail=errors[0].detail, hint="Correct the named fields and ask again.", errors=errors
        )
