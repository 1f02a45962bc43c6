"""Hold work that is ahead against what the project knows; the common half of both checks (11.8).

Each part is searched for with the calibrated search, whose silence is kept, and what is about the
touched files is looked up by name. What the caller may not see, what waits for a person and what is
tainted is never evidence. Nothing of the work is stored: secrets are left out before a word of it
is searched for, and of what was told only the memories' ids go to the access log.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.checks import judging
from memory.checks import queries as checks_queries
from memory.checks.judging import CHECKED, Finding, Judged, Known, Level, Verdict, Why
from memory.checks.parts import Part, Place
from memory.checks.queries import Tie
from memory.records.queries import relations
from memory.records.queries.relations import Contradiction
from memory.records.queries.views import MemoryView, views_of
from memory.search import request
from memory.search.actions import SECRET_LEFT_OUT, search_each
from memory.search.queries import find_about_files
from memory.search.request import Narrowing, SearchRequest
from memory.secrets import findings as secrets
from memory.secrets import scanner
from memory.taxonomy import MemoryType, Status, Verification
from memory.text import globs
from teams import queries as places
from teams import visibility
from teams.permissions import Act, require
from teams.queries import is_paused as is_paused_of_teams
from teams.visibility import Sight

HITS: Final = 8  # of one search, ours
OF_A_FILE: Final = 20  # memories of one file, ours
SEARCHED_MOST: Final = 60  # searches of one check, ours
FILES_MOST: Final = 200  # files whose memories are looked up, ours
BY_NAME: Final = 1  # of that very path, or of one that ends alike
PAUSED: Final = "paused"
NOT_ALL_SEARCHED: Final = "not_all_searched"
NOT_ALL_FILES: Final = "not_all_files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """A piece of work ahead: parts that are searched for together, and by which words."""

    parts: tuple[Part, ...]
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A finding with its evidence: the memory, and what contradicts it; `relevance` by search."""

    memory: MemoryView
    level: Level
    why: Why
    places: tuple[Place, ...]
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    score: float
    relevance: float | None
    sides: tuple[Contradiction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What is to be done about the work, on which evidence, and how much of it was looked at.

    `parts` and `files` count what was looked at, `left_out` findings that are not told;
    `degraded` names what was missing.
    """

    verdict: Verdict
    findings: tuple[Told, ...]
    ties: tuple[Tie, ...]
    parts: int
    files: int
    left_out: int
    degraded: tuple[str, ...]
    took_ms: float


@dataclass(slots=True, kw_only=True)
class _Evidence:
    """What may be evidence: for which parts it is relevant, and how much."""

    relevant: dict[UUID, set[int]] = field(default_factory=dict)
    relevance: dict[UUID, float] = field(default_factory=dict)
    degraded: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where the work is, and whether nothing is given there."""

    project_id: UUID
    is_paused: bool


def without_secrets(*, text: str) -> tuple[str, bool]:
    """Return a text without what looks like a secret, its lines kept, and whether there was any."""
    findings = scanner.find_secrets(text=text)
    return (secrets.redact(text=text, findings=findings), True) if findings else (text, False)


def hold(
    *,
    caller: Caller,
    project: str,
    ahead: tuple[Ahead, ...],
    degraded: tuple[str, ...],
    now: datetime,
) -> Check:
    """Hold work against what is known.

    Raises NotFound for a project the caller cannot see.
    """
    started = time.perf_counter()
    require(caller=caller, act=Act.READ)
    place = _place(caller, project)
    parts = tuple(part for one in ahead for part in one.parts)
    files = tuple(dict.fromkeys(path for part in parts for path in part.files))
    found = _Evidence(degraded=dict.fromkeys(degraded))
    if place.is_paused:
        found.degraded[PAUSED] = None
        told: tuple[Told, ...] = ()
        ties: tuple[Tie, ...] = ()
        judged = judging.judge(parts=(), known=(), relevant={})
    else:
        _search(caller, project, ahead, found, now)
        judged, told, ties = _judged(caller, place, parts, files, found, now)
    return Check(
        verdict=judged.verdict,
        findings=told,
        ties=ties,
        parts=len(parts),
        files=len(files),
        left_out=judged.left_out,
        degraded=tuple(found.degraded),
        took_ms=round((time.perf_counter() - started) * 1_000, 2),
    )


def _place(caller: Caller, project: str) -> _Place:
    with tenancy.unit():
        row = places.find_project(caller=caller, ref=project)
        is_paused = is_paused_of_teams(
            project=row, token_id=caller.token_id, user_id=caller.user_id
        )
        return _Place(project_id=row.id, is_paused=is_paused)


def _search(
    caller: Caller, project: str, ahead: tuple[Ahead, ...], found: _Evidence, now: datetime
) -> None:
    """Search for each piece of work; the longest first where there are too many."""
    numbers: list[tuple[int, ...]] = []
    before = 0
    for one in ahead:
        numbers.append(tuple(range(before, before + len(one.parts))))
        before += len(one.parts)
    asked = [pair for pair in zip(ahead, numbers, strict=True) if pair[0].question.strip()]
    if len(asked) > SEARCHED_MOST:
        found.degraded[NOT_ALL_SEARCHED] = None
        asked = sorted(asked, key=lambda pair: (-len(pair[0].question), pair[1]))[:SEARCHED_MOST]
    words = [(_searchable(one.question, found), own) for one, own in asked]
    told = [(text, own) for text, own in words if text]
    requests = tuple(_request(project, text) for text, _ in told)
    answers = search_each(caller=caller, requests=requests, now=now)
    for answer, (_, own) in zip(answers, told, strict=True):
        found.degraded.update(dict.fromkeys(answer.degraded))
        for hit in answer.hits:
            id = hit.memory.id
            found.relevant.setdefault(id, set()).update(own)
            found.relevance[id] = max(hit.relevance, found.relevance.get(id, 0.0))


def _request(project: str, words: str) -> SearchRequest:
    return SearchRequest(
        query=words,
        project=project,
        limit=HITS,
        types=tuple(type.value for type in CHECKED),
        is_noted=False,
    )


def _searchable(question: str, found: _Evidence) -> str:
    """Return a question without what looks like a secret."""
    findings = scanner.find_secrets(text=question)
    if not findings:
        return question
    found.degraded[SECRET_LEFT_OUT] = None
    return secrets.leave_out(text=question, findings=findings)


def _judged(
    caller: Caller,
    place: _Place,
    parts: tuple[Part, ...],
    files: tuple[str, ...],
    found: _Evidence,
    now: datetime,
) -> tuple[Judged, tuple[Told, ...], tuple[Tie, ...]]:
    """Judge by what may be evidence, note what is told, and return it."""
    if len(files) > FILES_MOST:
        found.degraded[NOT_ALL_FILES] = None
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        by_file = _about(caller, place, _with_folders(files[:FILES_MOST]), sight)
        ids = tuple(dict.fromkeys((*found.relevant, *by_file)))
        views = views_of(memory_ids=ids, sight=sight, now=now) if ids else {}
        usable = tuple(one for one in views.values() if _is_evidence(one, place))
        sides = relations.sides_of(views=usable, sight=sight)
        judged = judging.judge(
            parts=parts,
            known=(_known(one, is_disputed=one.id in sides) for one in usable),
            relevant={id: frozenset(numbers) for id, numbers in found.relevant.items()},
        )
        told = _told(judged.findings, found, sight, now)
        ties = checks_queries.left_alone(project_id=place.project_id, files=files, sight=sight)
    return judged, told, ties


def _with_folders(files: Iterable[str]) -> tuple[str, ...]:
    """Return files and the folders they are in, as memories name those: with a slash behind."""
    named = dict.fromkeys(files)
    for path in tuple(named):
        parts = globs.bare(path=path).split("/")[:-1]
        named.update(dict.fromkeys("/".join((*parts[: n + 1], "")) for n in range(len(parts))))
    return tuple(named)[: 2 * FILES_MOST]


def _about(caller: Caller, place: _Place, files: Iterable[str], sight: Sight) -> tuple[UUID, ...]:
    narrowing = Narrowing(
        project=str(place.project_id), types=tuple(type.value for type in CHECKED)
    )
    question = request.narrowed_question(caller=caller, narrowing=narrowing)
    named = tuple(path for path in files if len(path) <= globs.LONGEST and globs.bare(path=path))
    about = find_about_files(
        files=named, closeness=BY_NAME, question=question, limit=OF_A_FILE, sight=sight
    )
    return tuple(memory_id for found in about for memory_id, _ in found)


def _is_evidence(view: MemoryView, place: _Place) -> bool:
    """Say whether a memory may stop anybody: of here or of everywhere, and nobody doubts whence."""
    is_here = view.project_id in {None, place.project_id}
    is_live = view.status == Status.ACTIVE and view.stale_at is None
    return is_here and is_live and not view.needs_review and not view.taint_reason


def _known(view: MemoryView, *, is_disputed: bool) -> Known:
    tried: Any = view.attributes.get("approach", "")
    return Known(
        id=view.id,
        type=MemoryType(view.type),
        content=view.content,
        confidence=view.effective_confidence,
        files=view.related_files,
        approach=tried if isinstance(tried, str) else "",
        is_doubtful=is_disputed
        or view.verification in {Verification.STALE, Verification.CONTRADICTED},
    )


def _told(
    findings: tuple[Finding, ...], found: _Evidence, sight: Sight, now: datetime
) -> tuple[Told, ...]:
    ids = tuple(one.memory_id for one in findings)
    views, sides = relations.give_out_together(memory_ids=ids, sight=sight, now=now)
    return tuple(
        Told(
            memory=views[one.memory_id],
            level=one.level,
            why=one.why,
            places=one.places,
            matched=one.matched,
            missing=one.missing,
            score=one.score,
            relevance=found.relevance.get(one.memory_id),
            sides=sides.get(one.memory_id, ()),
        )
        for one in findings
        if one.memory_id in views
    )
