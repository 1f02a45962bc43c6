"""Add to sums that grow over time, many at once and none lost, and read them."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import orjson
from django.db.models import Q

from memory import sql_queries
from memory.sessions.counters import KEY_MOST, NOTES, Count
from memory.sessions.models import Statistic

FILE: Final = "sessions/sql/sessions.sql"
MOST: Final = 10_000  # rows of one read; default, not measured
COLUMNS: Final = ("kind", "audience", "project_id", "day", "key")


def add(*, counts: Iterable[Count], now: datetime) -> int:
    """Add to sums in one statement; return how many rows were touched. In a unit.

    A key that is longer than the column is cut; counts of one row are put together first.
    """
    merged: dict[tuple[object, ...], dict[str, Any]] = {}
    for one in counts:
        place = (one.kind, one.audience, one.project_id, one.day, one.key[:KEY_MOST])
        sums = merged.setdefault(place, {})
        for name, number in one.counts.items():
            sums[name] = sums.get(name, 0) + number
        if one.notes:
            sums[NOTES] = dict(one.notes)
    if not merged:
        return 0
    rows = [
        {**dict(zip(COLUMNS, place, strict=True)), "counts": sums} for place, sums in merged.items()
    ]
    # Decimals become text, which stays exact in every reader.
    plain = orjson.dumps(rows, default=lambda one: f"{one:f}" if isinstance(one, Decimal) else None)
    return sql_queries.execute("add", file=FILE, rows=plain.decode(), now=now)


def drop_zeros(*, counts: Iterable[Count], audience: UUID, project_id: UUID | None) -> None:
    """Let sums of a place that came to nothing be gone, with their names and rows. In a unit."""
    every = tuple(counts)
    sql_queries.execute(
        "drop_zeros",
        file=FILE,
        kinds=[one.kind for one in every],
        keys=[one.key for one in every],
        audience=audience,
        project=project_id,
    )


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
