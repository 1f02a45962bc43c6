"""Sums over compared sessions: of groups, and of memories that are withheld."""

from dataclasses import dataclass
from datetime import datetime
from itertools import starmap
from typing import Any, Final, NamedTuple
from uuid import UUID

from memory import sql_queries
from memory.experiments.intervals import Side
from teams import visibility
from teams.visibility import Sight

FILE: Final = "experiments/sql/session_sums.sql"
GRAPH_PART: Final = "graph_part"  # of statistics; written by the merge of the access log


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """Which sessions: of a project, opened since a time, seen by somebody; or also the others."""

    project_id: UUID
    since: datetime
    sight: Sight
    everyone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSum:
    """The sums of a figure over sessions; '' counts them. `people` counts whose they are.

    Sums of sessions that the reader sees are apart from those of others.
    """

    figure: str
    side: Side
    people: int
    is_seen: bool = True


class SearchSum(NamedTuple):
    """How many rankings gave something, and what the graph did to them; of how many people."""

    is_seen: bool
    searches: int
    took_part: int
    changed: int
    people: int


class OutcomeSum(NamedTuple):
    """What came of memories of a type in a phase of a methodology; or of all, without a type."""

    methodology: str | None
    phase: str | None
    type: str | None
    is_seen: bool
    given: int
    used: int
    sessions: int
    people: int


MemorySum = tuple[UUID, bool, FigureSum]  # of sessions given a memory, or (True) going without


def searches(*, sessions: SessionFilter) -> tuple[SearchSum, ...]:
    """Return the sums of the reader's searches and, apart from them, of others. In a unit."""
    return tuple(starmap(SearchSum, _rows("searches", sessions)))


def outcomes(*, sessions: SessionFilter) -> tuple[OutcomeSum, ...]:
    """Return what came of what was given, of what the reader sees and of the rest. In a unit."""
    return tuple(starmap(OutcomeSum, _rows("outcomes", sessions)))


def groups(*, sessions: SessionFilter) -> tuple[tuple[str, FigureSum], ...]:
    """Return the sums by group and figure. In a unit."""
    return tuple(
        (group, _sum(figure, sums, is_seen=is_seen))
        for group, figure, is_seen, *sums in _rows("groups", sessions)
    )


def memories(*, sessions: SessionFilter, most: int) -> tuple[MemorySum, ...]:
    """Return the sums of the memories most often withheld. In a unit."""
    return tuple(
        (memory_id, withheld, _sum(figure, sums, is_seen=is_seen))
        for memory_id, withheld, figure, is_seen, *sums in _rows("memories", sessions, most=most)
    )


def shared_memories(
    *, project_id: UUID, since: datetime, most: int, openers: int
) -> tuple[MemorySum, ...]:
    """Return the sums by which a night decides, of so many people at least. In a unit."""
    found = sql_queries.rows(
        "shared_memories", file=FILE, project=project_id, since=since, most=most, openers=openers
    )
    return tuple(
        (memory_id, withheld, _sum(figure, sums)) for memory_id, withheld, figure, *sums in found
    )


def _rows(name: str, sessions: SessionFilter, **more: Any) -> list[tuple[Any, ...]]:
    return sql_queries.filled(
        name,
        file=FILE,
        parts={
            "visible": visibility.as_sql(alias="s"),
            "visible_memory": visibility.as_sql(alias="m"),
        },
        project=sessions.project_id,
        since=sessions.since,
        everyone=sessions.everyone,
        **visibility.parameters(sight=sessions.sight),
        **more,
    )


def _sum(figure: str, sums: list[Any], *, is_seen: bool = True) -> FigureSum:
    count, total, squares, people = sums
    side = Side(count=int(count), total=float(total), squares=float(squares))
    return FigureSum(figure=figure, side=side, people=int(people), is_seen=is_seen)
