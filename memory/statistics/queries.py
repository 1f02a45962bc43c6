"""Sums that grow over time, as jobs read them for a place and as callers may see them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from memory.statistics.models import Statistic
from memory.statistics.sql.statistics import NOTES

MOST: Final = 10_000  # rows of one read, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which sums: of a kind; of a project (None: those outside of any), some keys, some days.

    `under` is what keys begin with.

    `visible` is the predicate of who reads; a job passes the audience it counts for.
    """

    kind: str
    visible: Q
    project_id: UUID | None
    keys: tuple[str, ...] | None = None
    under: str | None = None
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """One thing's sums; `counts` are whole numbers, or exact decimals as text."""

    audience: UUID
    project_id: UUID | None
    day: date | None
    key: str
    counts: Mapping[str, Any]
    updated_at: datetime
    notes: Mapping[str, Any] = field(default_factory=dict)


def read(*, which: Which, limit: int = MOST) -> tuple[Sums, ...]:
    """Return sums by day and key, at most `limit`. In a unit."""
    rows = Statistic.objects.filter(
        which.visible, _days(which), kind=which.kind, project_id=which.project_id
    )
    if which.keys is not None:
        rows = rows.filter(key__in=which.keys)
    if which.under is not None:
        rows = rows.filter(key__startswith=which.under)
    return tuple(_to_sums(row) for row in rows.order_by("day", "key", "id")[:limit])


def of_place(*, audience: UUID) -> Q:
    """Return the predicate for a job that counts for one audience."""
    return Q(audience=audience)


def _days(which: Which) -> Q:
    days = Q()
    if which.since is not None:
        days &= Q(day__gte=which.since)
    if which.until is not None:
        days &= Q(day__lte=which.until)
    return days


def _to_sums(row: Statistic) -> Sums:
    counts = dict(row.counts)
    notes = counts.pop(NOTES, {})
    return Sums(
        audience=row.audience,
        project_id=row.project_id,
        day=row.day,
        key=row.key,
        counts=counts,
        updated_at=row.updated_at,
        notes=notes,
    )
