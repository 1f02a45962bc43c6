"""Read what became of candidates, and how many ended at which gate.

A row is told to who may see the place it is of; of a refused candidate its sender alone knows.
Counts are of the rows that one may see, so they tell nothing more.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts import tenancy
from accounts.caller import Caller, principal
from memory.intake.models import ActionLog
from memory.records.queries.views import countable
from teams import queries as places
from teams import visibility

LARGEST_PAGE: Final = 200
OUTCOMES: Final = (
    "added", "confirmed", "known", "updated", "superseded", "contradicted", "extended", "refused",
)  # fmt: skip
ENDS: Final = ("length", "secrets", "exact_duplicate", "near_duplicate", "input")  # gates that end


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionView:
    """What became of one candidate; `other_id` is what it replaced or contradicts."""

    id: int
    at: datetime
    project_id: UUID | None
    user_id: UUID | None
    agent: str
    source: str
    source_interface: str
    outcome: str
    gate: str
    cause: str
    memory_id: UUID | None
    other_id: UUID | None


_SAME: Final = tuple(
    name for name in ActionView.__dataclass_fields__ if name not in {"memory_id", "other_id"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionFilters:
    """Which rows are asked for."""

    project: str | None = None
    outcome: str | None = None
    gate: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionPage:
    """Some rows, newest first, and after which one the next page starts."""

    items: tuple[ActionView, ...]
    next_after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many candidates ended in one way at one gate, within some days."""

    outcome: str
    gate: str
    count: int


def page(*, caller: Caller, filters: ActionFilters, after: int | None, limit: int) -> ActionPage:
    """Return rows, the newest first. Raises NotFound for a project the caller cannot see."""
    size = min(limit, LARGEST_PAGE)
    with tenancy.unit():
        rows = _chosen(caller, filters)
        if after is not None:
            rows = rows.filter(id__lt=after)
        found = tuple(rows.order_by("-id")[: size + 1])
        items = _views(caller, found[:size])
    return ActionPage(items=items, next_after=items[-1].id if len(found) > size else None)


def tallies(*, caller: Caller, project: str | None, days: int, now: datetime) -> tuple[Tally, ...]:
    """Count how candidates of some days ended, by outcome and gate, the most first."""
    with tenancy.unit():
        rows = _chosen(caller, ActionFilters(project=project))
        counted = (
            rows.filter(at__gte=now - timedelta(days=days))
            .order_by()
            .values("outcome", "gate")
            .annotate(number=Count("id"))
        )
        found = [
            Tally(outcome=row["outcome"], gate=row["gate"], count=row["number"]) for row in counted
        ]
    return tuple(sorted(found, key=lambda one: (-one.count, one.outcome, one.gate)))


def _chosen(caller: Caller, filters: ActionFilters) -> QuerySet[ActionLog]:
    own = principal(caller=caller)
    seen = visibility.as_q(sight=visibility.sight_of(caller=caller))
    if own is not None and caller.user_id is None:
        seen |= Q(audience=own)
    rows = ActionLog.objects.filter(seen)
    if filters.project is not None:
        rows = rows.filter(project_id=places.find_project(caller=caller, ref=filters.project).id)
    if filters.outcome is not None:
        rows = rows.filter(outcome=filters.outcome)
    if filters.gate is not None:
        rows = rows.filter(gate=filters.gate)
    return rows


def _views(caller: Caller, rows: tuple[ActionLog, ...]) -> tuple[ActionView, ...]:
    """Turn rows into views, without memories that are gone or that the caller sees no more."""
    named = {id for row in rows for id in (row.memory_id, row.other_id) if id is not None}
    seen = set(countable(caller=caller).filter(pk__in=named).values_list("id", flat=True))
    return tuple(
        ActionView(
            **{name: getattr(row, name) for name in _SAME},
            memory_id=row.memory_id if row.memory_id in seen else None,
            other_id=row.other_id if row.other_id in seen else None,
        )
        for row in rows
    )
