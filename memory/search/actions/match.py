"""Find memories by a pattern, as grep does: the newest whose text it matches.

One statement with a time of its own: a pattern that takes longer is stopped and refused, so that
nobody keeps the database busy with one. What was found goes to the access log like any search's.
"""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from memory.records.queries import relations
from memory.records.queries.relations import Sides
from memory.records.queries.views import MemoryView
from memory.search import patterns
from memory.search.actions import filter_values as narrowings
from memory.search.actions.filter_values import Narrowing
from memory.search.sql import lookups
from memory.search.sql.lookups import Matched
from teams import visibility
from teams.permissions import Act, require

LONGEST_MS: Final = 250  # a statement may take, ours; 5 at 10,000 memories


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


def match(*, caller: Caller, pattern: str, narrowing: Narrowing, now: datetime) -> Matches:
    """Find what a regular expression matches.

    Raises InvalidInput for a pattern that is broken or takes too long, and for a wrong filter;
    NotFound for a project the caller cannot see.
    """
    started = time.perf_counter()
    require(caller=caller, act=Act.READ)
    narrowings.check(narrowing=narrowing)
    read = patterns.read(text=pattern)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        question = narrowings.question(caller=caller, narrowing=narrowing)
        try:
            found = lookups.matching(
                pattern=read,
                question=question,
                limit=narrowing.limit,
                milliseconds=LONGEST_MS,
                sight=sight,
            )
        except lookups.PatternRefused as error:
            raise patterns.refusal(why=str(error)) from error
        except lookups.TookTooLong as error:
            raise patterns.too_slow() from error
        ids = tuple(one.memory_id for one in found)
        views, sides = relations.give_out_together(memory_ids=ids, sight=sight, now=now)
    items = tuple(_match(one, views[one.memory_id]) for one in found if one.memory_id in views)
    took_ms = round((time.perf_counter() - started) * 1_000, 2)
    return Matches(items=items, sides=sides, took_ms=took_ms)


def _match(found: Matched, view: MemoryView) -> Match:
    excerpt = patterns.excerpt(content=found.content, start=found.start, end=found.end)
    return Match(memory=view, excerpt=excerpt)
