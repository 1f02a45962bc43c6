"""Add to sums that grow over time, many at once and none lost."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from memory import sql_queries
from memory.statistics.models import LONGEST_KEY, LONGEST_KIND

FILE = "statistics/sql/statistics.sql"
NOTES: Final = "notes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What is added to one sum: whose it is, of which day if it is kept by day, and how much.

    `notes` is what else is known of the thing; it takes the place of what was noted before.
    """

    audience: UUID
    project_id: UUID | None
    key: str
    counts: Mapping[str, int | Decimal]
    day: date | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)


def add(*, kind: str, additions: Iterable[Addition], now: datetime) -> int:
    """Add to sums of a kind in one statement; return how many rows were touched. In a unit.

    A key that is longer than the column is cut; additions to one row are put together first.
    """
    if len(kind) > LONGEST_KIND:
        raise ValueError(f"{kind!r} is longer than a kind of statistic may be.")
    merged: dict[tuple[UUID, UUID | None, date | None, str], dict[str, Any]] = {}
    for one in additions:
        place = (one.audience, one.project_id, one.day, one.key[:LONGEST_KEY])
        _merge(merged.setdefault(place, {}), one)
    if not merged:
        return 0
    rows = json.dumps([_row(place, counts) for place, counts in merged.items()])
    return sql_queries.execute("add", file=FILE, kind=kind, rows=rows, now=now)


def drop_nothing(
    *, kind: str, audience: UUID, project_id: UUID | None, keys: tuple[str, ...]
) -> None:
    """Let sums that came to nothing be gone, with their names and their rows. In a unit."""
    where = {"kind": kind, "audience": audience, "project": project_id, "keys": list(keys)}
    sql_queries.execute("drop_nothing", file=FILE, **where)
    sql_queries.execute("drop_zeros", file=FILE, **where)


def _merge(into: dict[str, Any], one: Addition) -> None:
    if NOTES in one.counts:
        raise ValueError(f"{NOTES!r} is no name of a count.")
    for name, number in one.counts.items():
        into[name] = into.get(name, 0) + number
    if one.notes:
        into[NOTES] = dict(one.notes)


def _row(
    place: tuple[UUID, UUID | None, date | None, str], counts: Mapping[str, Any]
) -> dict[str, Any]:
    audience, project_id, day, key = place
    return {
        "audience": str(audience),
        "project_id": None if project_id is None else str(project_id),
        "day": None if day is None else day.isoformat(),
        "key": key,
        "counts": {name: _written(value) for name, value in counts.items()},
    }


def _written(value: Any) -> Any:
    """Write decimals as text, which stays exact in every reader."""
    return f"{value:f}" if isinstance(value, Decimal) else value
