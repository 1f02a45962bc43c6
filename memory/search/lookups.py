"""Lookups without a ranking: by pattern, by file, by likeness, in time, and by rarest words.

Each is one statement over what the caller may see, narrowed by the filters of a search. What was
found goes to the access log like any search's.

A pattern is written as for grep, and made ready for the database. Postgres matches without
backtracking, unless a pattern refers back to a group: those are refused here, and so is what would
switch its dialect. Word boundaries are written differently there. Like ripgrep, a pattern in small
letters alone matches large ones too.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Final, Generic, TypeVar
from uuid import UUID

from django.db.utils import DataError, OperationalError
from psycopg import errors as postgres

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, wrong_field
from accounts.messages import message
from memory.records.queries import memories
from memory.records.queries import views as memory_views
from memory.search import queries, query
from memory.search import relevance as relevances
from memory.search import request as search_request
from memory.search.relevance import NO_VECTORS, Observed
from memory.search.request import KEYWORD_LIMIT, Mode, Narrowing, SearchRequest, Work
from memory.text import globs
from memory.text.text import check_text
from teams import visibility
from teams.permissions import Act, require

LONGEST_MS: Final = 250  # a statement with a pattern may take; 5 at 10,000 memories
FOUND_MOST: Final = 8  # memories that an answer is chosen from; both defaults, not measured
WITHOUT_VECTORS: Final = "no_vectors"  # only words were compared
LONGEST_PATTERN: Final = 200  # characters, ours
AROUND: Final = 60  # characters shown at each side of a match, ours
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_BACK: Final = re.compile(r"[1-9]")
_UNSURE: Final = re.compile(r"\(\?[a-z]|\[[:.=]")  # switches of the dialect, named classes
_PIECE: Final = re.compile(
    r"(?P<any>\[\^?\]?(?:\\.|[^\]\\]){0,400}\]|\\\w|[.^$+])"  # any of several signs, or a place
    r"|(?P<maybe>[*?]|\{[^}]{0,40}\})"  # what stands before may be missing
    r"|(?P<open>\()|(?P<close>\))|(?P<either>\|)|\\?(?P<sign>.)",
    re.DOTALL,
)
_BOUNDARIES: Final = {"b": r"\y", "B": r"\Y"}


class Closeness(StrEnum):
    """How a memory is about a file: of its path, of one that ends alike, of its folder."""

    FILE = "file"
    NAME = "name"
    FOLDER = "folder"


RANKS: Final = tuple(Closeness)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup(Generic[Value]):
    """The memories that were found in their order, each with what the lookup says of it.

    `sides`: what contradicts one of them, by its id; `degraded` says when only words were compared;
    `next_place`: when the last one of a page happened and its id, where more follow.
    """

    items: tuple[tuple[memory_views.MemoryView, Value], ...]
    sides: memory_views.Sides
    took_ms: float = 0.0
    degraded: tuple[str, ...] = ()
    next_place: tuple[datetime, UUID] | None = None


def match(*, caller: Caller, pattern: str, narrowing: Narrowing, now: datetime) -> Lookup[str]:
    """Find what a regular expression matches, as grep does: the newest first, with the place.

    The statement has a time of its own, so that nobody keeps the database busy with one pattern.
    Raises InvalidInput for a pattern that is broken or takes too long, and for a wrong filter;
    NotFound for a project the caller cannot see.
    """

    def find(question: queries.Question) -> Iterable[tuple[UUID, str]]:
        text, literal, ignores_case = read_pattern(text=pattern)
        try:
            found = queries.match_pattern(
                pattern=text,
                literal=literal,
                ignores_case=ignores_case,
                question=question,
                limit=narrowing.limit,
                milliseconds=LONGEST_MS,
            )
        except DataError as error:
            cause = error.__cause__
            if not isinstance(cause, postgres.InvalidRegularExpression):
                raise
            why = str(cause.diag.message_primary).removeprefix("invalid regular expression: ")
            raise _refusal(why=why) from error
        except OperationalError as error:
            if not isinstance(error.__cause__, postgres.QueryCanceled):
                raise
            raise wrong_field(
                pointer="/query",
                detail="This pattern takes too long over so many memories.",
                hint="Narrow it by project, types, files or time, or ask with mode “keyword”.",
                code="slow_pattern",
            ) from error
        return (
            (memory_id, excerpt(content=content, start=start, end=end))
            for memory_id, start, end, content in found
        )

    return _look_up(caller, narrowing, find, now)


def recall(
    *, caller: Caller, path: str, closeness: Closeness, narrowing: Narrowing, now: datetime
) -> Lookup[Closeness]:
    """Find what is about a file, as loosely as `closeness` allows, the closest first.

    Raises InvalidInput for a path that is none, NotFound for a project the caller cannot see.
    """

    def find(question: queries.Question) -> Iterable[tuple[UUID, Closeness]]:
        if not globs.bare(path=path.strip()) or len(path) > globs.LONGEST or check_text(text=path):
            hint = message(
                "Name a file like src/cart/prices.py, in at most {most} characters.",
                most=globs.LONGEST,
            )
            raise wrong_field(
                pointer="/path", detail="This is not a path of a file.", hint=hint, code="path"
            )
        (found,) = queries.find_about_files(
            files=(path,),
            closeness=RANKS.index(closeness),
            question=question,
            limit=narrowing.limit,
        )
        return ((memory_id, RANKS[rank]) for memory_id, rank in found)

    return _look_up(caller, narrowing, find, now)


def similar(
    *, caller: Caller, memory_id: UUID, narrowing: Narrowing, now: datetime
) -> Lookup[float]:
    """Find what is like a memory: nearest by meaning, by words while it has no vector.

    The value is a cosine, or the share of words where there is no vector. Raises NotFound for a
    memory or project that the caller cannot see; InvalidInput.
    """
    degraded: tuple[str, ...] = ()

    def find(question: queries.Question) -> Iterable[tuple[UUID, float]]:
        nonlocal degraded
        memories.find_memory(caller=caller, memory_id=memory_id)
        ask = partial(
            queries.find_similar, memory_id=memory_id, question=question, limit=narrowing.limit
        )
        near = ask()
        if not near:
            near = ask(by_words=True)
            degraded = (WITHOUT_VECTORS,) if near else ()
        return ((id, round(value, 4)) for id, value in near)

    return replace(_look_up(caller, narrowing, find, now), degraded=degraded)


def timeline(
    *,
    caller: Caller,
    narrowing: Narrowing,
    after: tuple[datetime, UUID] | None,
    limit: int,
    now: datetime,
) -> Lookup[datetime]:
    """Return what happened, oldest first: when it happened, or else when it was learned.

    `since` and `until` are about that, not about when it was learned; `after` is the place of the
    page before. Raises InvalidInput, NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    search_request.check_narrowing(narrowing=narrowing)
    open_ended = replace(narrowing, since=None, until=None)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        found = queries.list_timeline(
            question=search_request.narrowed_question(caller=caller, narrowing=open_ended),
            start=narrowing.since,
            end=narrowing.until,
            after=after,
            limit=limit + 1,
        )
        page = found[:limit]
        views = memory_views.views_of(memory_ids=tuple(id for id, _ in page), sight=sight, now=now)
        sides = memory_views.sides_of(views=views.values(), sight=sight)
    return Lookup(
        items=tuple((views[id], at) for id, at in page if id in views),
        sides=sides,
        next_place=page[-1][::-1] if len(found) > len(page) else None,
    )


def _look_up(
    caller: Caller,
    narrowing: Narrowing,
    find: Callable[[queries.Question], Iterable[tuple[UUID, Value]]],
    now: datetime,
) -> Lookup[Value]:
    """Find memories in a unit, read them with what contradicts them, and note that they were."""
    started = time.perf_counter()
    require(caller=caller, act=Act.READ)
    search_request.check_narrowing(narrowing=narrowing)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        question = search_request.narrowed_question(caller=caller, narrowing=narrowing)
        found = tuple(find(question))
        views, sides = memory_views.give_out_together(
            memory_ids=tuple(id for id, _ in found), sight=sight, now=now
        )
    return Lookup(
        items=tuple((views[id], value) for id, value in found if id in views),
        sides=sides,
        took_ms=round((time.perf_counter() - started) * 1_000, 2),
    )


def read_pattern(*, text: str) -> tuple[str, str, bool]:
    """Return a pattern for the database, a text that every match holds, and if case is ignored.

    Where it is, that text is in small letters; empty for none. Raises InvalidInput for a pattern
    that is not taken.
    """
    if not 1 <= len(text) <= LONGEST_PATTERN:
        raise _refusal(
            why=message(
                "it has {length} characters; 1 to {most} are taken",
                length=len(text),
                most=LONGEST_PATTERN,
            )
        )
    if check_text(text=text):
        raise _refusal(why=message("it holds a sign that no text can have"))
    if text.startswith("***"):
        raise _refusal(why=message("it begins with ***"))
    if any(_BACK.match(sign) for sign in _ESCAPE.findall(text)):
        raise _refusal(why=message("it refers back to a group, which can take forever"))
    plain = _ESCAPE.sub("", text)
    is_small = plain == plain.lower()
    translated = _ESCAPE.sub(lambda found: _BOUNDARIES.get(found[1], found[0]), text)
    return translated, _literal(text), is_small


def _refusal(*, why: str) -> InvalidInput:
    """Return the refusal of a pattern."""
    return wrong_field(
        pointer="/query",
        detail=message("This pattern cannot be used: {why}.", why=why),
        hint="Write a regular expression as for grep -E; put a backslash before . * + ? ( ) [ {.",
        code="broken_pattern",
    )


def excerpt(*, content: str, start: int, end: int) -> str:
    """Return the place of a match with some text around it, on one line."""
    first, last = max(0, start - AROUND), min(len(content), max(end, start) + AROUND)
    shown = " ".join(content[first:last].split())
    return f"{'…' if first else ''}{shown}{'…' if last < len(content) else ''}"


def _literal(text: str) -> str:
    """Return the longest run of signs that every match holds; empty when there is none.

    What stands in groups, or may be missing, is not among them.
    """
    if _UNSURE.search(text):
        return ""
    runs, depth = [""], 0
    for piece in _PIECE.finditer(text):
        kind = piece.lastgroup
        depth += {"open": 1, "close": -1}.get(kind or "", 0)
        if kind == "either" and not depth:
            return ""
        runs = _longer(runs, kind, piece["sign"] or "") if not depth else [*runs, ""]
    return max(runs, key=len)


def _longer(runs: list[str], kind: str | None, sign: str) -> list[str]:
    """Add a piece outside of groups; a letter beyond ASCII has forms that bytes do not show."""
    if kind == "maybe":
        return [*runs[:-1], runs[-1][:-1], ""]
    if kind == "sign" and sign.isascii():
        return [*runs[:-1], runs[-1] + sign]
    return [*runs, ""]


def answer_by_words(
    *, caller: Caller, project: UUID | None, question: str, work: Work | None, now: datetime
) -> tuple[dict[UUID, memory_views.MemoryView], dict[UUID, float]]:
    """Find what answers a question that nobody asked aloud, and how relevant each is. In a unit.

    Between two steps of an agent there is no time for a search, and most often nothing to say: one
    statement looks up the rarest words, and what it finds is judged as a search by words judges it.
    Only what is relevant enough is read. Raises NotFound for a project that the caller does not see
    any more.
    """
    sight = visibility.sight_of(caller=caller)
    asked = query.understand(text=question)
    request = SearchRequest(
        query=question,
        project=None if project is None else str(project),
        mode=Mode.KEYWORD.value,
    )
    scope = search_request.scope_of(caller=caller, request=request)
    held = queries.find_by_rarest_words(
        question=asked.keyword_text,
        projects=scope.projects,
        work=search_request.work_fields(work=work, names=asked.identifiers),
        limit=KEYWORD_LIMIT,
        sight=sight,
    )
    calibration = relevances.CALIBRATIONS[NO_VECTORS]
    least = calibration.threshold if scope.threshold is None else scope.threshold

    def judged(missing: Mapping[UUID, float]) -> dict[UUID, float]:
        observed = tuple(
            Observed(memory_id=id, cosine=None, matched=matched, missing=missing.get(id, 0.0))
            for id, matched in held
        )
        values = relevances.judge(observed=observed, calibration=calibration, wording=asked.wording)
        enough = ((id, one.value) for id, one in values.items() if one.value >= least)
        return dict(sorted(enough, key=lambda one: (-one[1], one[0])))

    best = judged({}) if held else {}
    if best and asked.identifiers:  # missing ones never raise a relevance, so the rest is enough
        known = queries.read_evidence(
            memory_ids=tuple(best), sight=sight, asked=asked, with_text=False, now=now
        )
        best = judged({id: one.missing for id, one in known.items()})
    first = tuple(best)[:FOUND_MOST]
    views = memory_views.views_of(memory_ids=first, sight=sight, now=now) if first else {}
    return views, {one: best[one] for one in views}
