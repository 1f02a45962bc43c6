"""Recall what is known about a file, the closest to it first.

Of the very path before a path that ends alike, and those before what is about its folder.
"""

import time
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.records.queries import relations
from memory.records.queries.relations import Sides
from memory.records.queries.views import MemoryView
from memory.search.actions import filter_values as narrowings
from memory.search.actions.filter_values import Narrowing
from memory.search.sql import lookups
from memory.text import globs
from memory.text.text import check_text
from teams import visibility
from teams.permissions import Act, require


class Closeness(StrEnum):
    """How a memory is about a file: of its path, of one that ends alike, of its folder."""

    FILE = "file"
    NAME = "name"
    FOLDER = "folder"


RANKS: Final = tuple(Closeness)


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


def recall(
    *, caller: Caller, path: str, closeness: Closeness, narrowing: Narrowing, now: datetime
) -> Recall:
    """Find what is about a file, as loosely as `closeness` allows.

    Raises InvalidInput for a path that is none, NotFound for a project the caller cannot see.
    """
    started = time.perf_counter()
    require(caller=caller, act=Act.READ)
    narrowings.check(narrowing=narrowing)
    _check_path(path)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        found = lookups.about_file(
            path=path,
            closeness=RANKS.index(closeness),
            question=narrowings.question(caller=caller, narrowing=narrowing),
            limit=narrowing.limit,
            sight=sight,
        )
        ids = tuple(one for one, _ in found)
        views, sides = relations.give_out_together(memory_ids=ids, sight=sight, now=now)
    items = tuple(
        Recalled(memory=views[one], closeness=RANKS[rank]) for one, rank in found if one in views
    )
    took_ms = round((time.perf_counter() - started) * 1_000, 2)
    return Recall(items=items, sides=sides, took_ms=took_ms)


def _check_path(path: str) -> None:
    if globs.bare(path=path.strip()) and len(path) <= globs.LONGEST and not check_text(text=path):
        return
    raise wrong_field(
        pointer="/path",
        detail="This is not a path of a file.",
        hint=message(
            "Name a file like src/cart/prices.py, in at most {most} characters.", most=globs.LONGEST
        ),
        code="path",
    )
