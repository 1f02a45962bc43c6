"""Check a plan before the work, or a diff before it is shared."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from itertools import accumulate
from typing import Any, Final
from uuid import UUID

from django.db.models import IntegerField, Q, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.checks import check_findings, work
from memory.records.queries import views
from memory.search import actions as search_actions
from memory.search import queries as search_queries
from memory.search import request
from memory.secrets import findings as secrets
from memory.secrets import scanner
from memory.sessions import counters
from memory.sessions.counter_rows import read
from memory.sessions.models import Statistic
from memory.taxonomy import MemoryType, Status, Verification
from memory.text import globs
from memory.text import text as texts
from teams import permissions, visibility
from teams import queries as places

PLAN_MOST: Final = 100_000  # characters; this and what follows: defaults, not measured
DIFF_MOST: Final = 1_000_000  # characters; a body is 1 MiB
PARTS_MOST: Final = 500  # changed places that are checked
HITS: Final = 5  # of one search, however relevant; fitted
CLOSEST: Final = 0.05  # relevance from which the best of a search is a hint below the threshold
FILE_MEMORIES_MOST: Final = 20  # memories of one file
SEARCHES_MOST: Final = 60  # of one check
FILES_MOST: Final = 200  # files whose memories are looked up
STRONG: Final = 0.8  # of the sessions with either file that had both; default
SESSIONS_LEAST: Final = 5  # default, not measured
PAIRS_MOST: Final = 2_000  # of one read, those met most often; default
PAIRS_SHOWN_MOST: Final = 5  # default
BY_NAME: Final = 1  # of that very path, or of one that ends alike
TYPES: Final = tuple(type.value for type in check_findings.CHECKED)
PAUSED: Final = "paused"
STEPS_LEFT_OUT: Final = "steps_left_out"
NOT_ALL_PARTS: Final = "not_all_parts"
NOT_ALL_SEARCHED: Final = "not_all_searched"
NOT_ALL_FILES: Final = "not_all_files"
PartGroup = tuple[tuple[work.WorkPart, ...], str]  # parts that are searched for by one question


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding(check_findings.MemoryFinding):
    """A finding with its memory and what contradicts that; `relevance` where a search found it."""

    memory: views.MemoryView
    relevance: float | None
    sides: tuple[views.Contradiction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePair:
    """A file that work touches and one that it does not: how often both were touched together.

    `share`: of the sessions that touched either, 0..1.
    """

    file: str
    other: str
    sessions: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What to do about the work, on which evidence, and how much of it was checked."""

    verdict: check_findings.Verdict
    findings: tuple[CheckFinding, ...]
    ties: tuple[FilePair, ...]
    parts: int  # that were checked
    files: int  # that were checked
    left_out: int  # findings that are not shown
    degraded: tuple[str, ...]  # what was missing
    took_ms: float


@dataclass(slots=True, kw_only=True)
class _SearchHits:
    """What searches found: by memory how near it is to which parts; and what was missing."""

    near: dict[UUID, dict[int, check_findings.Nearness]] = field(default_factory=dict)
    degraded: dict[str, None] = field(default_factory=dict)

    def add(self, *, answer: search_actions.SearchAnswer, numbers: tuple[int, ...]) -> None:
        """Take in what a search for some parts found; its best hit is relevant if near at all."""
        self.degraded.update(dict.fromkeys(answer.degraded))
        best = max((CLOSEST, *(hit.relevance for hit in answer.hits)))
        for hit in answer.hits:
            least = min(best, hit.explain["relevance"]["threshold"])
            found = check_findings.Nearness(
                relevance=hit.relevance, is_relevant=hit.relevance >= least
            )
            self.near.setdefault(hit.memory.id, {}).update(dict.fromkeys(numbers, found))

    def relevance_of(self, *, memory_id: UUID) -> float | None:
        """Return how relevant a memory is to the part that it is most relevant to, if any."""
        near = self.near.get(memory_id, {}).values()
        return max((one.relevance for one in near if one.is_relevant), default=None)


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
    groups = tuple(((one,), one.text) for one in steps)
    degraded = {search_actions.SECRET_LEFT_OUT: had_secrets, STEPS_LEFT_OUT: left_out > 0}
    return run_check(caller=caller, project=project, groups=groups, degraded=degraded, now=now)


def check_diff(*, caller: Caller, project: str, diff: str, now: datetime) -> Check:
    """Check the changed places of a diff against what is known.

    Raises InvalidInput for what is no unified diff, NotFound for a project the caller cannot see.
    """
    hint = "Send it in parts, and leave out what is generated."
    _check_text("diff", diff, DIFF_MOST, hint)
    files = work.read_diff(text=diff)
    room = PARTS_MOST
    groups: list[PartGroup] = []
    had_secrets = False
    for file in files:
        hunks = []
        for hunk in file.hunks[:room]:  # masked whole, since half a secret is not recognized
            added, is_in_added = _mask_lines(hunk.added)
            removed, is_in_removed = _mask_lines(hunk.removed)
            hunks.append(replace(hunk, added=added, removed=removed))
            had_secrets = had_secrets or is_in_added or is_in_removed
        room = max(0, room - len(file.hunks))
        parts = work.of_file(file=replace(file, hunks=hunks))
        text = "\n".join(part.text for part in parts)[: work.PLACE_MOST]
        groups.append((parts, work.question(files=parts[0].files, text=text)))
    is_whole = sum(len(file.hunks) for file in files) <= PARTS_MOST
    degraded = {search_actions.SECRET_LEFT_OUT: had_secrets, NOT_ALL_PARTS: not is_whole}
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
    groups: tuple[PartGroup, ...],
    degraded: dict[str, bool],
    now: datetime,
) -> Check:
    """Check parts of work against what is known.

    Raises NotFound for a project the caller cannot see.
    """
    started = time.perf_counter()
    permissions.require(caller=caller, act=permissions.Act.READ)
    with tenancy.unit():
        row = places.find_project(caller=caller, ref=project)
        paused = places.is_paused(project=row, token_id=caller.token_id, user_id=caller.user_id)
    parts = tuple(part for group, _ in groups for part in group)
    files = tuple(dict.fromkeys(path for part in parts for path in part.files))
    hits = _SearchHits(degraded={name: None for name, holds in degraded.items() if holds})
    judgment = check_findings.judge(parts=(), memories=(), near={})
    evidence: tuple[CheckFinding, ...] = ()
    pairs: tuple[FilePair, ...] = ()
    if paused:
        hits.degraded[PAUSED] = None
    else:
        _search(caller, project, groups, hits, now)
        if len(files) > FILES_MOST:
            hits.degraded[NOT_ALL_FILES] = None
        with tenancy.unit():
            sight = visibility.sight_of(caller=caller)
            by_file = _memories_of_files(caller, row.id, files[:FILES_MOST])
            checked = _read_memories((*hits.near, *by_file), row.id, sight, now)
            judgment = check_findings.judge(parts=parts, memories=checked, near=hits.near)
            evidence = _evidence(judgment.findings, hits, sight, now)
            pairs = untouched_pairs(project_id=row.id, files=files, sight=sight)
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
    if texts.check_text(text=text):
        raise wrong_field(pointer=pointer, detail="Leave out unstorable characters.", code="text")


def _mask_lines(lines: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Return lines without secrets: whole lines are scanned, and more than is checked."""
    before = accumulate((len(line[: work.LINE_MOST]) + 1 for line in lines), initial=0)
    room = work.PLACE_MOST + secrets.BEYOND
    near = tuple(line for line, length in zip(lines, before, strict=False) if length < room)
    text, had_secrets = without_secrets(text="\n".join(near))
    return (tuple(text.split("\n")), True) if had_secrets else (near, False)


def _search(
    caller: Caller, project: str, groups: tuple[PartGroup, ...], hits: _SearchHits, now: datetime
) -> None:
    """Search for each group of parts; the longest first where there are too many."""
    asked: list[tuple[str, tuple[int, ...]]] = []
    first = 0
    for parts, question in groups:
        asked.append((question, tuple(range(first, first + len(parts)))))
        first += len(parts)
    if len(asked) > SEARCHES_MOST:
        hits.degraded[NOT_ALL_SEARCHED] = None
        asked = sorted(asked, key=lambda pair: (-len(pair[0]), pair[1]))[:SEARCHES_MOST]
    wanted: list[tuple[request.SearchRequest, tuple[int, ...]]] = []
    for question, numbers in asked:
        clean = question
        if secret := scanner.find_secrets(text=question):
            hits.degraded[search_actions.SECRET_LEFT_OUT] = None
            clean = secrets.leave_out(text=question, findings=secret)
        if clean.strip():
            search = request.SearchRequest(
                query=clean,
                project=project,
                limit=HITS,
                types=TYPES,
                silence=request.Silence.NONE,
                is_noted=False,
            )
            wanted.append((search, numbers))
    requests = tuple(search for search, _ in wanted)
    answers = search_actions.search_each(caller=caller, requests=requests, now=now)
    for answer, (_, numbers) in zip(answers, wanted, strict=True):
        hits.add(answer=answer, numbers=numbers)


def _memories_of_files(caller: Caller, project_id: UUID, files: Iterable[str]) -> tuple[UUID, ...]:
    """Return the memories about files and the folders they are in, named with a slash behind."""
    named = dict.fromkeys(files)
    for path in tuple(named):
        folders = globs.bare(path=path).split("/")[:-1]
        named.update(dict.fromkeys("/".join((*folders[: n + 1], "")) for n in range(len(folders))))
    paths = tuple(named)[: 2 * FILES_MOST]
    narrowing = request.Narrowing(project=str(project_id), types=TYPES)
    about = search_queries.find_about_files(
        files=tuple(one for one in paths if len(one) <= globs.LONGEST and globs.bare(path=one)),
        closeness=BY_NAME,
        question=request.narrowed_question(caller=caller, narrowing=narrowing),
        limit=FILE_MEMORIES_MOST,
    )
    return tuple(memory_id for found in about for memory_id, _ in found)


def _read_memories(
    ids: Iterable[UUID], project_id: UUID, sight: visibility.Sight, now: datetime
) -> list[check_findings.CheckedMemory]:
    """Read those that may stop work: active, of the project or of none, and not in doubt."""
    found = views.views_of(memory_ids=tuple(dict.fromkeys(ids)), sight=sight, now=now)
    usable = tuple(
        view
        for view in found.values()
        if view.project_id in {None, project_id}
        and view.status == Status.ACTIVE
        and view.stale_at is None
        and not (view.needs_review or view.taint_reason)
    )
    sides = views.sides_of(views=usable, sight=sight)
    checked = []
    for view in usable:
        tried: Any = view.attributes.get("approach", "")
        one = check_findings.CheckedMemory(
            id=view.id,
            type=MemoryType(view.type),
            content=view.content,
            confidence=view.effective_confidence,
            files=view.related_files,
            approach=tried if isinstance(tried, str) else "",
            is_doubtful=view.id in sides
            or view.verification in {Verification.STALE, Verification.CONTRADICTED},
        )
        checked.append(one)
    return checked


def _evidence(
    found: tuple[check_findings.MemoryFinding, ...],
    hits: _SearchHits,
    sight: visibility.Sight,
    now: datetime,
) -> tuple[CheckFinding, ...]:
    """Return findings with their memories, and count these as given out."""
    ids = tuple(one.memory_id for one in found)
    shown, sides = views.give_out_together(memory_ids=ids, sight=sight, now=now)
    return tuple(
        CheckFinding(
            **{each.name: getattr(one, each.name) for each in fields(one)},
            memory=shown[one.memory_id],
            relevance=hits.relevance_of(memory_id=one.memory_id),
            sides=sides.get(one.memory_id, ()),
        )
        for one in found
        if one.memory_id in shown
    )


def untouched_pairs(
    *, project_id: UUID, files: tuple[str, ...], sight: visibility.Sight
) -> tuple[FilePair, ...]:
    """Return files that nearly every session touches together with some of these. In a unit."""
    among = frozenset(files)
    seen = visibility.as_q(sight=sight)
    met = Statistic.objects.filter(
        seen, kind=counters.Kind.EDGE.value, project_id=project_id
    ).filter(Q(counts__notes__first__in=files) | Q(counts__notes__second__in=files))
    pairs = met.order_by().values(  # added up over those who counted them
        first=KeyTextTransform("first", "counts__notes"),
        second=KeyTextTransform("second", "counts__notes"),
    )
    counted = Sum(Cast(KeyTextTransform("sessions", "counts"), IntegerField()))
    often = pairs.annotate(sessions=counted).filter(sessions__gte=SESSIONS_LEAST)
    ordered = often.order_by("-sessions", "first", "second")[:PAIRS_MOST]
    edges = [
        counters.EdgeRow(**one) for one in ordered if not among >= {one["first"], one["second"]}
    ]
    paths = {path for edge in edges for path in (edge.first, edge.second)}
    keys = tuple(counters.key_of(text=path) for path in sorted(paths))
    sums = read(kind=counters.Kind.FILE.value, visible=seen, project_id=project_id, keys=keys)
    rows: dict[str, counters.FileRow] = {}
    for row in counters.rows_of(type=counters.FileRow, sums=sums):
        rows[row.path] = counters.added_row(
            row=rows.get(row.path, counters.FileRow(path="")), add=row
        )
    none = counters.FileRow(path="")
    found = []
    for edge in edges:
        first, second = rows.get(edge.first, none), rows.get(edge.second, none)
        share = round(counters.weight(edge=edge, first=first, second=second), 4)
        own, other = edge.first, edge.second
        if own not in among:
            own, other = other, own
        if share >= STRONG:
            found.append(FilePair(file=own, other=other, sessions=edge.sessions, share=share))
    found.sort(key=lambda pair: (-pair.share, -pair.sessions, pair.other))
    return tuple(found[:PAIRS_SHOWN_MOST])
