"""Sums over compared sessions: of groups, and of memories that are withheld (spec 10.4)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory.evaluation.differences import Side
from memory.sql import named
from teams import visibility
from teams.visibility import Sight

FILE: Final = "experiments.sql"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which sessions: of a project, opened since a moment; without a sight all of them."""

    project_id: UUID
    since: datetime
    sight: Sight | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSum:
    """What the sessions of a group told of a figure; '' counts them."""

    group: str
    figure: str
    side: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySum:
    """What sessions told of a figure that were given a memory, or went without it.

    `openers` counts the people whose sessions they are, where it was asked for.
    """

    memory_id: UUID
    withheld: bool
    figure: str
    side: Side
    openers: int = 0


def groups(*, asked: Asked) -> tuple[GroupSum, ...]:
    """Return the sums by group and figure. In a unit."""
    return tuple(
        GroupSum(group=group, figure=figure, side=_side(*sums))
        for group, figure, *sums in _rows("groups", asked)
    )


def memories(*, asked: Asked, most: int) -> tuple[MemorySum, ...]:
    """Return the sums of the memories most often withheld. In a unit."""
    return tuple(
        MemorySum(memory_id=memory_id, withheld=withheld, figure=figure, side=_side(*sums))
        for memory_id, withheld, figure, *sums in _rows("memories", asked, most=most)
    )


def weighed(*, project_id: UUID, since: datetime, most: int, openers: int) -> tuple[MemorySum, ...]:
    """Return the sums by which a night decides, of so many people at least. In a unit."""
    found = named.rows(
        "weighed", file=FILE, project=project_id, since=since, most=most, openers=openers
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


def _rows(name: str, asked: Asked, **more: Any) -> list[tuple[Any, ...]]:
    nobody = Sight(audiences=(), bound_projects=None)
    return named.filled(
        name,
        file=FILE,
        parts={"visible": visibility.as_sql(alias="s")},
        project=asked.project_id,
        since=asked.since,
        everyone=asked.sight is None,
        **visibility.parameters(sight=asked.sight or nobody),
        **more,
    )


def _side(count: int, total: float, squares: float) -> Side:
    return Side(count=int(count), total=float(total), squares=float(squares))
