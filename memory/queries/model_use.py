"""What text models have cost: by day and model, and this month's sums (spec 2.3, 10.3)."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.db.models import QuerySet, Sum

from memory.models import ModelUse


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthOfUse:
    """Calls, calls that failed, tokens and money of a calendar month so far."""

    calls: int
    fallbacks: int
    input_tokens: int
    output_tokens: int
    cost: Decimal

    @property
    def tokens(self) -> int:
        """Return all tokens."""
        return self.input_tokens + self.output_tokens


def month(*, day: date) -> MonthOfUse:
    """Return the organization's use in the month of a day. In a unit."""
    return _sum(ModelUse.objects.filter(day__year=day.year, day__month=day.month))


def month_of_project(*, project_id: UUID | None, day: date) -> MonthOfUse:
    """Return a project's use in the month of a day. In a unit."""
    rows = ModelUse.objects.filter(day__year=day.year, day__month=day.month)
    return _sum(rows.filter(project_id=project_id))


def _sum(rows: QuerySet[ModelUse]) -> MonthOfUse:
    names = ("calls", "fallbacks", "input_tokens", "output_tokens", "cost")
    found = rows.aggregate(**{name: Sum(name) for name in names})
    whole = {name: int(found[name] or 0) for name in names[:-1]}
    return MonthOfUse(**whole, cost=found["cost"] or Decimal(0))
