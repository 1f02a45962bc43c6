"""Book what a call of a text model cost, by day, model and project (spec 2.3)."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import F

from memory.actions.extraction import Spent
from memory.models import ModelUse

PER: Final = Decimal(1_000_000)  # tokens that a price is for


def book_use(*, spent: Spent, project_id: UUID | None, day: date) -> None:
    """Add to the day's sums of a model. In a unit."""
    if not spent.calls:
        return
    row, _ = ModelUse.objects.get_or_create(day=day, model=spent.model, project_id=project_id)
    ModelUse.objects.filter(pk=row.pk).update(
        calls=F("calls") + spent.calls,
        fallbacks=F("fallbacks") + spent.fallbacks,
        input_tokens=F("input_tokens") + spent.input_tokens,
        output_tokens=F("output_tokens") + spent.output_tokens,
        cost=F("cost") + cost_of(spent=spent),
    )


def cost_of(*, spent: Spent) -> Decimal:
    """Return the money of a call by the installation's prices; 0 for a model without one."""
    prices: Mapping[str, tuple[Decimal, Decimal]] = settings.CAIRN_MODEL_PRICES
    first, last = prices.get(spent.model, (Decimal(0), Decimal(0)))
    return (first * spent.input_tokens + last * spent.output_tokens) / PER
