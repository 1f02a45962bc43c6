"""What may still be asked of models, the least of all bounds; and what was spent."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.conf import settings

from accounts import tenancy
from memory.extraction import queries
from memory.extraction.actions.extraction import Allowance, Mode, Spent
from memory.records.models import Memory
from memory.sessions.models import Session
from memory.sessions.sql import counters
from memory.taxonomy import Scope
from teams import queries as places
from teams.queries import Extraction

KIND: Final = "model_use"  # of statistics
PER: Final = Decimal(1_000_000)  # tokens that a price is for


def of_session(*, row: Session, now: datetime) -> Allowance:
    """Return what a session may spend: the least of its project's and the organization's."""
    wish = Extraction() if row.project is None else places.extraction_of(row=row.project)
    calls = wish.calls_per_session - int(row.result.get("calls", 0))
    return Allowance(
        mode=Mode(wish.mode),
        calls=max(0, calls) if wish.calls_per_turn else 0,
        tokens=_tokens(wish, row.project_id, now),
        may_leave=row.models_agreed or row.audience != row.opened_by,
        per_turn=wish.calls_per_turn,
    )


def of_add(*, row: Memory, spent: int, now: datetime) -> Allowance:
    """Return what judging a memory of a project may spend; today's adds have cost calls already."""
    wish = Extraction() if row.project is None else places.extraction_of(row=row.project)
    return Allowance(
        mode=Mode(wish.mode),
        calls=max(0, wish.adds_per_day - spent),
        tokens=_tokens(wish, row.project_id, now),
        may_leave=row.scope != Scope.PERSONAL,
    )


def _tokens(wish: Extraction, project_id: UUID | None, now: datetime) -> int | None:
    """Return the tokens that are left of the month, None where nothing bounds them. In a unit."""
    bounds = (
        (wish.tokens_per_month, queries.month_of_project(project_id=project_id, day=now.date())),
        (settings.CAIRN_MODEL_TOKENS_PER_MONTH, queries.month(day=now.date())),
    )
    left = [max(0, bound - used.tokens) for bound, used in bounds if bound]
    return min(left) if left else None


def book(*, session_id: UUID, spent: Spent, now: datetime, counted_as: str = "") -> None:
    """Book what was spent for a session, in its sums and on itself. Opens a unit.

    `counted_as` names calls that are counted for themselves besides.
    """
    if not spent.calls:
        return
    with tenancy.unit():
        row = Session.objects.select_for_update().filter(pk=session_id).first()
        if row is None:
            return
        book_use(spent=spent, project_id=row.project_id, now=now)
        added = {"calls": spent.calls, "tokens": spent.tokens}
        added |= {counted_as: spent.calls} if counted_as else {}
        sums = {name: int(row.result.get(name, 0)) + count for name, count in added.items()}
        row.result = {**row.result, **sums}
        row.save(update_fields=["result"])


def book_use(*, spent: Spent, project_id: UUID | None, now: datetime) -> None:
    """Add to the day's sums of a model. In a unit."""
    if not spent.calls:
        return
    counts: dict[str, int | Decimal] = {
        "calls": spent.calls,
        "fallbacks": spent.fallbacks,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost": cost_of(spent=spent),
    }
    addition = counters.Addition(
        audience=project_id or tenancy.current().organization_id,
        project_id=project_id,
        day=now.date(),
        key=spent.model,
        counts=counts,
    )
    counters.add(kind=KIND, additions=(addition,), now=now)


def cost_of(*, spent: Spent) -> Decimal:
    """Return the money of a call by the installation's prices; 0 for a model without one."""
    prices: Mapping[str, tuple[Decimal, Decimal]] = settings.CAIRN_MODEL_PRICES
    first, last = prices.get(spent.model, (Decimal(0), Decimal(0)))
    return (first * spent.input_tokens + last * spent.output_tokens) / PER
