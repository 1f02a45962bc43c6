"""Sums over compared sessions: of groups, and of memories that are withheld."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory import sql_queries
from memory.experiments.intervals import Side
from teams import visibility
from teams.visibility import Sight

FILE: Final = "experiments/sql/experiments.sql"
GRAPH_PART: Final = "graph_part"  # of statistics; written by the merge of the access log


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """Which sessions: of a project, opened since a time, seen by somebody; or also the others."""

    project_id: UUID
    since: datetime
    sight: Sight
    everyone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSum:
    """The sums of a figure over the sessions of a group; '' counts them.

    Sums of sessions that the reader sees are apart from those of others.
    """

    group: str
    figure: str
    side: Side
    is_seen: bool
    openers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySum:
    """The sums of a figure over sessions that were given a memory, or from which it was withheld.

    `openers` counts the people whose sessions they are; sums of sessions that the reader sees are
    apart from those of others.
    """

    memory_id: UUID
    withheld: bool
    figure: str
    side: Side
    openers: int
    is_seen: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSum:
    """How many rankings gave something, and what the graph did to them; of how many people."""

    searches: int
    took_part: int
    changed: int
    people: int
    is_seen: bool


def searches(*, sessions: SessionFilter) -> tuple[SearchSum, ...]:
    """Return the sums of the reader's searches and, apart from them, of others. In a unit."""
    return tuple(
        SearchSum(
            searches=ranked, took_part=took_part, changed=changed, people=people, is_seen=is_seen
        )
        for is_seen, ranked, took_part, changed, people in _rows("searches", sessions)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeSum:
    """What came of memories of a type in a phase of a methodology; or of all, without a type."""

    methodology: str | None
    phase: str | None
    type: str | None
    given: int
    used: int
    sessions: int
    people: int
    is_seen: bool


def outcomes(*, sessions: SessionFilter) -> tuple[OutcomeSum, ...]:
    """Return what came of what was given, of what the reader sees and of the rest. In a unit."""
    found = sql_queries.filled(
        "outcomes",
        file=FILE,
        parts={
            "visible": visibility.as_sql(alias="s"),
            "visible_memory": visibility.as_sql(alias="m"),
        },
        project=sessions.project_id,
        since=sessions.since,
        everyone=sessions.everyone,
        **visibility.parameters(sight=sessions.sight),
    )
    return tuple(
        OutcomeSum(
            methodology=methodology,
            phase=phase,
            type=type,
            given=given,
            used=used,
            sessions=sessions,
            people=people,
            is_seen=is_seen,
        )
        for methodology, phase, type, is_seen, given, used, sessions, people in found
    )


def groups(*, sessions: SessionFilter) -> tuple[GroupSum, ...]:
    """Return the sums by group and figure. In a unit."""
    return tuple(
        GroupSum(
            group=group, figure=figure, side=_side(*sums), is_seen=is_seen, openers=int(people)
        )
        for group, figure, is_seen, *sums, people in _rows("groups", sessions)
    )


def memories(*, sessions: SessionFilter, most: int) -> tuple[MemorySum, ...]:
    """Return the sums of the memories most often withheld. In a unit."""
    return tuple(
        MemorySum(
            memory_id=memory_id,
            withheld=withheld,
            figure=figure,
            side=_side(*sums),
            is_seen=is_seen,
            openers=int(people),
        )
        for memory_id, withheld, figure, is_seen, *sums, people in _rows(
            "memories", sessions, most=most
        )
    )


def shared_memories(
    *, project_id: UUID, since: datetime, most: int, openers: int
) -> tuple[MemorySum, ...]:
    """Return the sums by which a night decides, of so many people at least. In a unit."""
    found = sql_queries.rows(
        "shared_memories", file=FILE, project=project_id, since=since, most=most, openers=openers
    )
    return tuple(
        MemorySum(
            memory_id=memory_id,
            withheld=withheld,
            figure=figure,
            side=_side(*sums),
            openers=int(people),
        )
        for memory_id, withheld, figure, *sums, people in found
    )


def _rows(name: str, sessions: SessionFilter, **more: Any) -> list[tuple[Any, ...]]:
    return sql_queries.filled(
        name,
        file=FILE,
        parts={"visible": visibility.as_sql(alias="s")},
        project=sessions.project_id,
        since=sessions.since,
        everyone=sessions.everyone,
        **visibility.parameters(sight=sessions.sight),
        **more,
    )


def _side(count: int, total: float, squares: float) -> Side:
    return Side(count=int(count), total=float(total), squares=float(squares))
