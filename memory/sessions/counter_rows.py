"""Add to sums that grow over time, many at once and none lost, and read them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import orjson
from django.db.models import Q

from memory import sql_queries
from memory.sessions.counters import NOTES
from memory.sessions.models import LONGEST_KEY, LONGEST_KIND, Statistic

FILE: Final = "sessions/sql/sessions.sql"
MOST: Final = 10_000  # rows of one read; default, not measured


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
        sums = merged.setdefault(place, {})
        if NOTES in one.counts:
            raise ValueError(f"{NOTES!r} is no name of a count.")
        for name, number in one.counts.items():
            sums[name] = sums.get(name, 0) + number
        if one.notes:
            sums[NOTES] = dict(one.notes)
    if not merged:
        return 0
    rows = [
        {"audience": audience, "project_id": project_id, "day": day, "key": key, "counts": counts}
        for (audience, project_id, day, key), counts in merged.items()
    ]
    # Decimals become text, which stays exact in every reader.
    plain = orjson.dumps(rows, default=lambda one: f"{one:f}" if isinstance(one, Decimal) else None)
    return sql_queries.execute("add", file=FILE, kind=kind, rows=plain.decode(), now=now)


def drop_nothing(
    *, kind: str, audience: UUID, project_id: UUID | None, keys: tuple[str, ...]
) -> None:
    """Let sums that came to nothing be gone, with their names and their rows. In a unit."""
    where = {"kind": kind, "audience": audience, "project": project_id, "keys": list(keys)}
    sql_queries.execute("drop_nothing", file=FILE, **where)
    sql_queries.execute("drop_zeros", file=FILE, **where)


def read(
    *,
    kind: str,
    visible: Q,
    project_id: UUID | None,
    keys: tuple[str, ...] | None = None,
    under: str = "",
) -> tuple[Statistic, ...]:
    """Return sums of a kind and a project (None: those outside of any), by day and key. In a unit.

    `visible` is the predicate of who reads; a job passes the audience it counts for. `keys` are
    some keys, `under` is what keys begin with.
    """
    rows = Statistic.objects.filter(visible, kind=kind, project_id=project_id)
    if keys is not None:
        rows = rows.filter(key__in=keys)
    if under:
        rows = rows.filter(key__startswith=under)
    return tuple(rows.order_by("day", "key", "id")[:MOST])
