"""Book what a call of a text model cost, by day, model and project."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.conf import settings

from accounts import tenancy
from memory.extraction.actions.extraction import Spent
from memory.statistics.sql import statistics

KIND: Final = "model_use"  # of statistics
PER: Final = Decimal(1_000_000)  # tokens that a price is for


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
    addition = statistics.Addition(
        audience=project_id or tenancy.current().organization_id,
        project_id=project_id,
        day=now.date(),
        key=spent.model,
        counts=counts,
    )
    statistics.add(kind=KIND, additions=(addition,), now=now)


def cost_of(*, spent: Spent) -> Decimal:
    """Return the money of a call by the installation's prices; 0 for a model without one."""
    prices: Mapping[str, tuple[Decimal, Decimal]] = settings.CAIRN_MODEL_PRICES
    first, last = prices.get(spent.model, (Decimal(0), Decimal(0)))
    return (first * spent.input_tokens + last * spent.output_tokens) / PER
