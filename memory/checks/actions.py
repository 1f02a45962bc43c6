"""Check a plan before the work, or a diff before it is shared."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.checks import diffs, findings, queries, work
from memory.checks.diffs import ChangedFile, Hunk
from memory.checks.findings import (
    CHECKED,
    CheckedMemory,
    CheckJudgment,
    FindingReason,
    Level,
    MemoryFinding,
    Verdict,
)
from memory.checks.queries import FilePair
from memory.checks.work import PartLocation, WorkPart
from memory.records.queries import relations
from memory.records.queries.relations import Contradiction
from memory.records.queries.views import MemoryView, views_of
from memory.search import request
from memory.search.actions import SECRET_LEFT_OUT, search_each
from memory.search.queries import find_about_files
from memory.search.request import Narrowing, SearchRequest
from memory.secrets import findings as secrets
from memory.secrets import scanner
from memory.secrets.event_masking import BEYOND
from memory.taxonomy import MemoryType, Status, Verification
from memory.text import globs
from memory.text.text import check_text
from teams import queries as places
from teams import visibility
from teams.permissions import Act, require
from teams.queries import is_paused
from teams.visibility import Sight

PLAN_MOST: Final = 100_000  # characters; this and what follows: defaults, not measured
DIFF_MOST: Final = 1_000_000  # characters; a body is 1 MiB
PARTS_MOST: Final = 500  # changed places that are checked
HITS: Final = 8  # of one search
FILE_MEMORIES_MOST: Final = 20  # memories of one file
SEARCHES_MOST: Final = 60  # of one check
FILES_MOST: Final = 200  # files whose memories are looked up
BY_NAME: Final = 1  # of that very path, or of one that ends alike
PAUSED: Final = "paused"
STEPS_LEFT_OUT: Final = "steps_left_out"
NOT_ALL_PARTS: Final = "not_all_parts"
NOT_ALL_SEARCHED: Final = "not_all_searched"
NOT_ALL_FILES: Final = "not_all_files"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """A finding with its memory and what contradicts that; `relevance` where a search found it."""

    memory: MemoryView
    level: Level
    why: FindingReason
    places: tuple[PartLocation, ...]
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    score: float
    relevance: float | None
    sides: tuple[Contradiction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What to do about the work, on which evidence, and how much of it was checked.

    `parts` and `files` count what was checked, `left_out` findings that are not shown; `degraded`
    names what was missing.
    """

    verdict: Verdict
    findings: tuple[CheckFinding, ...]
    ties: tuple[FilePair, ...]
    parts: int
    files: int
    left_out: int
    degraded: tuple[str, ...]
    took_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Parts that are searched for together, and the question."""

    parts: tuple[WorkPart, ...]
    question: str


@dataclass(slots=True, kw_only=True)
class _SearchHits:
    """What searches found: by memory its parts and its relevance; and what was missing."""

    parts: dict[UUID, set[int]] = field(default_factory=dict)
    relevance: dict[UUID, float] = field(default_factory=dict)
    degraded: dict[str, None] = field(default_factory=dict)


def check_plan(*, caller: Caller, project: str, plan: str, now: datetime) -> Check:
    """Check the steps of a plan against what is known.

    Raises InvalidInput for a plan without a word, NotFound for a project the caller cannot see.
    """
    _check_text("plan", plan, PLAN_MOST, "Send the steps without what explains them.")
    clean, had_secrets = without_secrets(text=plan)
    steps, left_out = work.read_plan(text=clean)
    if not steps:
        raise wrong_field(
            pointer="/plan",
            detail="This plan has no step in words.",
            hint="Write what is to be done, a step a line.",
            code="plan",
        )
    groups = tuple(_Group(parts=(work.of_step(step=one),), question=one.text) for one in steps)
    degraded = {SECRET_LEFT_OUT: had_secrets, STEPS_LEFT_OUT: left_out > 0}
    return run_check(caller=caller, project=project, groups=groups, degraded=degraded, now=now)


def check_diff(*, caller: Caller, project: str, diff: str, now: datetime) -> Check:
    """Check the changed places of a diff against what is known.

    Raises InvalidInput for what is no unified diff, NotFound for a project the caller cannot see.
    """
    hint = "Send it in parts, and leave out what is generated."
    _check_text("diff", diff, DIFF_MOST, hint)
    files = diffs.read(text=diff)
    room = PARTS_MOST
    groups: list[_Group] = []
    had_secrets = False
    for file in files:
        clean, had = _mask_file(replace(file, hunks=file.hunks[:room]))
        room = max(0, room - len(file.hunks))
        had_secrets = had_secrets or had
        parts = work.of_file(file=clean)
        text = "\n".join(part.text for part in parts)[: work.PLACE_MOST]
        groups.append(_Group(parts=parts, question=work.question(files=parts[0].files, text=text)))
    is_whole = sum(len(file.hunks) for file in files) <= PARTS_MOST
    degraded = {SECRET_LEFT_OUT: had_secrets, NOT_ALL_PARTS: not is_whole}
    return run_check(
        caller=caller, project=project, groups=tuple(groups), degraded=degraded, now=now
    )


def without_secrets(*, text: str) -> tuple[str, bool]:
    """Return a text without what looks like a secret, its lines kept, and whether there was any."""
    found = scanner.find_secrets(text=text)
    return (secrets.redact(text=text, findings=found), True) if found else (text, False)


def run_check(
    *,
    caller: Caller,
    project: str,
    groups: tuple[_Group, ...],
    degraded: dict[str, bool],
    now: datetime,
) -> Check:
    """Check parts of work against what is known.

    Raises NotFound for a project the caller cannot see.
    """
    started = time.perf_counter()
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        row = places.find_project(caller=caller, ref=project)
        paused = is_paused(project=row, token_id=caller.token_id, user_id=caller.user_id)
    parts = tuple(part for one in groups for part in one.parts)
    files = tuple(dict.fromkeys(path for part in parts for path in part.files))
    hits = _SearchHits(degraded={name: None for name, holds in degraded.items() if holds})
    if paused:
        hits.degraded[PAUSED] = None
        evidence: tuple[CheckFinding, ...] = ()
        pairs: tuple[FilePair, ...] = ()
        judgment = findings.judge(parts=(), memories=(), relevant={})
    else:
        _search(caller, project, groups, hits, now)
        judgment, evidence, pairs = _judge(caller, row.id, parts, files, hits, now)
    return Check(
        verdict=judgment.verdict,
        findings=evidence,
        ties=pairs,
        parts=len(parts),
        files=len(files),
        left_out=judgment.left_out,
        degraded=tuple(hits.degraded),
        took_ms=round((time.perf_counter() - started) * 1_000, 2),
    )


def _check_text(name: str, text: str, most: int, hint: str) -> None:
    pointer = f"/{name}"
    if len(text) > most:
        raise wrong_field(
            pointer=pointer,
            detail=message("Use at most {most} characters.", most=most),
            hint=hint,
            code="length",
        )
    if check_text(text=text):
        raise wrong_field(pointer=pointer, detail="Leave out unstorable characters.", code="text")


def _mask_file(file: ChangedFile) -> tuple[ChangedFile, bool]:
    """Return a file without secrets in its lines, and whether there was any."""
    had_secrets = False
    hunks: list[Hunk] = []
    for hunk in file.hunks:
        added, is_in_added = _mask_lines(hunk.added)
        removed, is_in_removed = _mask_lines(hunk.removed)
        hunks.append(replace(hunk, added=added, removed=removed))
        had_secrets = had_secrets or is_in_added or is_in_removed
    return replace(file, hunks=tuple(hunks)), had_secrets


def _mask_lines(lines: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Return lines without secrets: whole lines are scanned, and more than is checked."""
    before = accumulate((len(line[: work.LINE_MOST]) + 1 for line in lines), initial=0)
    room = work.PLACE_MOST + BEYOND
    near = tuple(line for line, length in zip(lines, before, strict=False) if length < room)
    text, had_secrets = without_secrets(text="\n".join(near))
    return (tuple(text.split("\n")), True) if had_secrets else (near, False)


def _search(
    caller: Caller, project: str, groups: tuple[_Group, ...], hits: _SearchHits, now: datetime
) -> None:
    """Search for each group of parts; the longest first where there are too many."""
    asked: list[tuple[str, tuple[int, ...]]] = []
    first = 0
    for group in groups:
        numbers = tuple(range(first, first + len(group.parts)))
        first += len(group.parts)
        if group.question.strip():
            asked.append((group.question, numbers))
    if len(asked) > SEARCHES_MOST:
        hits.degraded[NOT_ALL_SEARCHED] = None
        asked = sorted(asked, key=lambda pair: (-len(pair[0]), pair[1]))[:SEARCHES_MOST]
    questions: list[tuple[str, tuple[int, ...]]] = []
    for question, numbers in asked:
        secret = scanner.find_secrets(text=question)
        clean = question
        if secret:
            hits.degraded[SECRET_LEFT_OUT] = None
            clean = secrets.leave_out(text=question, findings=secret)
        if clean:
            questions.append((clean, numbers))
    types = tuple(type.value for type in CHECKED)
    requests = tuple(
        SearchRequest(query=query, project=project, limit=HITS, types=types, is_noted=False)
        for query, _ in questions
    )
    answers = search_each(caller=caller, requests=requests, now=now)
    for answer, (_, numbers) in zip(answers, questions, strict=True):
        hits.degraded.update(dict.fromkeys(answer.degraded))
        for hit in answer.hits:
            id = hit.memory.id
            hits.parts.setdefault(id, set()).update(numbers)
            hits.relevance[id] = max(hit.relevance, hits.relevance.get(id, 0.0))


def _judge(
    caller: Caller,
    project_id: UUID,
    parts: tuple[WorkPart, ...],
    files: tuple[str, ...],
    hits: _SearchHits,
    now: datetime,
) -> tuple[CheckJudgment, tuple[CheckFinding, ...], tuple[FilePair, ...]]:
    """Judge by what may be evidence; count what is shown as given out, and return it."""
    if len(files) > FILES_MOST:
        hits.degraded[NOT_ALL_FILES] = None
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        by_file = _memories_of_files(caller, project_id, files[:FILES_MOST], sight)
        ids = tuple(dict.fromkeys((*hits.parts, *by_file)))
        views = views_of(memory_ids=ids, sight=sight, now=now) if ids else {}
        usable = tuple(one for one in views.values() if _is_evidence(one, project_id))
        sides = relations.sides_of(views=usable, sight=sight)
        judgment = findings.judge(
            parts=parts,
            memories=(_checked(one, is_disputed=one.id in sides) for one in usable),
            relevant={id: frozenset(numbers) for id, numbers in hits.parts.items()},
        )
        evidence = _evidence(judgment.findings, hits, sight, now)
        pairs = queries.untouched_pairs(project_id=project_id, files=files, sight=sight)
    return judgment, evidence, pairs


def _memories_of_files(
    caller: Caller, project_id: UUID, files: Iterable[str], sight: Sight
) -> tuple[UUID, ...]:
    """Return the memories about files and the folders they are in, named with a slash behind."""
    named = dict.fromkeys(files)
    for path in tuple(named):
        folders = globs.bare(path=path).split("/")[:-1]
        named.update(dict.fromkeys("/".join((*folders[: n + 1], "")) for n in range(len(folders))))
    paths = tuple(named)[: 2 * FILES_MOST]
    types = tuple(type.value for type in CHECKED)
    narrowing = Narrowing(project=str(project_id), types=types)
    about = find_about_files(
        files=tuple(one for one in paths if len(one) <= globs.LONGEST and globs.bare(path=one)),
        closeness=BY_NAME,
        question=request.narrowed_question(caller=caller, narrowing=narrowing),
        limit=FILE_MEMORIES_MOST,
        sight=sight,
    )
    return tuple(memory_id for found in about for memory_id, _ in found)


def _is_evidence(view: MemoryView, project_id: UUID) -> bool:
    """Say whether a memory may stop work: active, of the project or of none, and not in doubt."""
    is_here = view.project_id in {None, project_id}
    is_live = view.status == Status.ACTIVE and view.stale_at is None
    return is_here and is_live and not view.needs_review and not view.taint_reason


def _checked(view: MemoryView, *, is_disputed: bool) -> CheckedMemory:
    tried: Any = view.attributes.get("approach", "")
    return CheckedMemory(
        id=view.id,
        type=MemoryType(view.type),
        content=view.content,
        confidence=view.effective_confidence,
        files=view.related_files,
        approach=tried if isinstance(tried, str) else "",
        is_doubtful=is_disputed
        or view.verification in {Verification.STALE, Verification.CONTRADICTED},
    )


def _evidence(
    found: tuple[MemoryFinding, ...], hits: _SearchHits, sight: Sight, now: datetime
) -> tuple[CheckFinding, ...]:
    ids = tuple(one.memory_id for one in found)
    views, sides = relations.give_out_together(memory_ids=ids, sight=sight, now=now)
    return tuple(
        CheckFinding(
            memory=views[one.memory_id],
            level=one.level,
            why=one.why,
            places=one.places,
            matched=one.matched,
            missing=one.missing,
            score=one.score,
            relevance=hits.relevance.get(one.memory_id),
            sides=sides.get(one.memory_id, ()),
        )
        for one in found
        if one.memory_id in views
    )
