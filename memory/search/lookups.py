"""Lookups without a ranking: by pattern, by file, by likeness, in time, and by rarest words.

Each is one statement over what the caller may see, narrowed by the filters of a search. What was
found goes to the access log like any search's.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.records.queries import memories, relations
from memory.records.queries.relations import Sides
from memory.records.queries.views import MemoryView, views_of
from memory.search import patterns, queries, query
from memory.search import relevance as relevances
from memory.search import request as search_request
from memory.search.queries import (
    find_about_files,
    find_similar,
    find_similar_words,
    list_timeline,
    match_pattern,
)
from memory.search.relevance import NO_VECTORS, Observed
from memory.search.request import KEYWORD_LIMIT, Mode, Narrowing, SearchRequest
from memory.text import globs
from memory.text.text import check_text
from teams import visibility
from teams.permissions import Act, require

LONGEST_MS: Final = 250  # a statement with a pattern may take; 5 at 10,000 memories
FOUND_MOST: Final = 8  # memories that an answer is chosen from; both defaults, not measured
WITHOUT_VECTORS: Final = "no_vectors"  # only words were compared


class Closeness(StrEnum):
    """How a memory is about a file: of its path, of one that ends alike, of its folder."""

    FILE = "file"
    NAME = "name"
    FOLDER = "folder"


RANKS: Final = tuple(Closeness)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A memory and the place in it that the pattern matches first."""

    memory: MemoryView
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """What was found, the newest first; `sides`: what contradicts one of them, by its id."""

    items: tuple[Match, ...]
    sides: Sides
    took_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A memory and how it is about the file."""

    memory: MemoryView
    closeness: Closeness


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What is known about a file, closest first; `sides`: what contradicts one, by its id."""

    items: tuple[Recalled, ...]
    sides: Sides
    took_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """A memory and how alike it is: a cosine, or the share of words where there is no vector."""

    memory: MemoryView
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """What is like a memory, most alike first; `degraded` says when only words were compared.

    `sides`: what contradicts one of them, by its id.
    """

    items: tuple[Alike, ...]
    sides: Sides
    degraded: tuple[str, ...]
    took_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A place in time: after this memory, in the order oldest first."""

    at: datetime
    memory_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """A memory and when it happened."""

    memory: MemoryView
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What happened, oldest first, and where the next page begins.

    `sides`: what contradicts one of them, by its id.
    """

    items: tuple[Happened, ...]
    sides: Sides
    next_moment: Moment | None


def match(*, caller: Caller, pattern: str, narrowing: Narrowing, now: datetime) -> Matches:
    """Find what a regular expression matches, as grep does: the newest first.

    The statement has a time of its own, so that nobody keeps the database busy with one pattern.
    Raises InvalidInput for a pattern that is broken or takes too long, and for a wrong filter;
    NotFound for a project the caller cannot see.
    """
    started = time.perf_counter()
    require(caller=caller, act=Act.READ)
    search_request.check_narrowing(narrowing=narrowing)
    read = patterns.read(text=pattern)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        question = search_request.narrowed_question(caller=caller, narrowing=narrowing)
        try:
            found = match_pattern(
                pattern=read,
                question=question,
                limit=narrowing.limit,
                milliseconds=LONGEST_MS,
                sight=sight,
            )
        except queries.PatternRefused as error:
            raise patterns.refusal(why=str(error)) from error
        except queries.TookTooLong as error:
            raise patterns.too_slow() from error
        ids = tuple(one.memory_id for one in found)
        views, sides = relations.give_out_together(memory_ids=ids, sight=sight, now=now)
    items = tuple(
        Match(
            memory=views[one.memory_id],
            excerpt=patterns.excerpt(content=one.content, start=one.start, end=one.end),
        )
        for one in found
        if one.memory_id in views
    )
    return Matches(items=items, sides=sides, took_ms=_milliseconds(started))


def recall(
    *, caller: Caller, path: str, closeness: Closeness, narrowing: Narrowing, now: datetime
) -> Recall:
    """Find what is about a file, as loosely as `closeness` allows, the closest first.

    Raises InvalidInput for a path that is none, NotFound for a project the caller cannot see.
    """
    started = time.perf_counter()
    require(caller=caller, act=Act.READ)
    search_request.check_narrowing(narrowing=narrowing)
    if not globs.bare(path=path.strip()) or len(path) > globs.LONGEST or check_text(text=path):
        raise wrong_field(
            pointer="/path",
            detail="This is not a path of a file.",
            hint=message(
                "Name a file like src/cart/prices.py, in at most {most} characters.",
                most=globs.LONGEST,
            ),
            code="path",
        )
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        (found,) = find_about_files(
            files=(path,),
            closeness=RANKS.index(closeness),
            question=search_request.narrowed_question(caller=caller, narrowing=narrowing),
            limit=narrowing.limit,
            sight=sight,
        )
        ids = tuple(one for one, _ in found)
        views, sides = relations.give_out_together(memory_ids=ids, sight=sight, now=now)
    items = tuple(
        Recalled(memory=views[one], closeness=RANKS[rank]) for one, rank in found if one in views
    )
    return Recall(items=items, sides=sides, took_ms=_milliseconds(started))


def similar(*, caller: Caller, memory_id: UUID, narrowing: Narrowing, now: datetime) -> Similar:
    """Find what is like a memory: nearest by meaning, by words while it has no vector.

    Raises NotFound for a memory or project that the caller cannot see; InvalidInput.
    """
    started = time.perf_counter()
    require(caller=caller, act=Act.READ)
    search_request.check_narrowing(narrowing=narrowing)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        memories.find_memory(caller=caller, memory_id=memory_id)
        question = search_request.narrowed_question(caller=caller, narrowing=narrowing)
        near = find_similar(
            memory_id=memory_id, question=question, limit=narrowing.limit, sight=sight
        )
        by_words = (
            ()
            if near
            else find_similar_words(
                memory_id=memory_id, question=question, limit=narrowing.limit, sight=sight
            )
        )
        ids = tuple(one for one, _ in near or by_words)
        views, sides = relations.give_out_together(memory_ids=ids, sight=sight, now=now)
    items = tuple(
        Alike(memory=views[one], similarity=round(value, 4))
        for one, value in near or by_words
        if one in views
    )
    return Similar(
        items=items,
        sides=sides,
        degraded=(WITHOUT_VECTORS,) if by_words else (),
        took_ms=_milliseconds(started),
    )


def timeline(
    *, caller: Caller, narrowing: Narrowing, after: Moment | None, limit: int, now: datetime
) -> Timeline:
    """Return what happened, oldest first: when it happened, or else when it was learned.

    `since` and `until` are about that, not about when it was learned. Raises InvalidInput, NotFound
    for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    search_request.check_narrowing(narrowing=narrowing)
    open_ended = replace(narrowing, since=None, until=None)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        found = list_timeline(
            question=search_request.narrowed_question(caller=caller, narrowing=open_ended),
            start=narrowing.since,
            end=narrowing.until,
            after=None if after is None else (after.at, after.memory_id),
            limit=limit + 1,
            sight=sight,
        )
        page = found[:limit]
        ids = tuple(one for one, _ in page)
        views = views_of(memory_ids=ids, sight=sight, now=now)
        sides = relations.sides_of(views=views.values(), sight=sight)
    items = tuple(Happened(memory=views[one], at=at) for one, at in page if one in views)
    has_more = len(found) > len(page)
    return Timeline(
        items=items,
        sides=sides,
        next_moment=Moment(at=page[-1][1], memory_id=page[-1][0]) if has_more else None,
    )


def answer_by_words(
    *, caller: Caller, project: UUID | None, question: str, now: datetime
) -> tuple[dict[UUID, MemoryView], dict[UUID, float]]:
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
        question=asked.keyword_text, projects=scope.projects, limit=KEYWORD_LIMIT, sight=sight
    )
    calibration = relevances.CALIBRATIONS[NO_VECTORS]
    least = search_request.threshold_of(request=request, scope=scope, usual=calibration.threshold)

    def judged(missing: Mapping[UUID, float]) -> dict[UUID, float]:
        observed = tuple(
            Observed(
                memory_id=one.memory_id,
                cosine=None,
                matched=one.matched,
                missing=missing.get(one.memory_id, 0.0),
            )
            for one in held
        )
        signs = relevances.signs_of(
            observed=observed, usual=calibration.rivals, wording=asked.wording
        )
        values = {
            id: relevances.relevance(signs=each, calibration=calibration).value
            for id, each in signs.items()
        }
        enough = ((id, value) for id, value in values.items() if value >= least)
        return dict(sorted(enough, key=lambda one: (-one[1], one[0])))

    best = judged({}) if held else {}
    if best and asked.identifiers:  # missing ones never raise a relevance, so the rest is enough
        known = queries.read_evidence(
            memory_ids=tuple(best), sight=sight, asked=asked, with_text=False, now=now
        )
        best = judged({id: one.missing for id, one in known.items()})
    first = tuple(best)[:FOUND_MOST]
    views = views_of(memory_ids=first, sight=sight, now=now) if first else {}
    return views, {one: best[one] for one in views}


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1_000, 2)
