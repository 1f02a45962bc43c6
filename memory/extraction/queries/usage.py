"""What text models have cost: this month's sums."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from memory import sql_queries
from memory.statistics.sql import statistics


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
    return _sum(day, everywhere=True, project_id=None)


def month_of_project(*, project_id: UUID | None, day: date) -> MonthOfUse:
    """Return a project's use in the month of a day. In a unit."""
    return _sum(day, everywhere=False, project_id=project_id)


def _sum(day: date, *, everywhere: bool, project_id: UUID | None) -> MonthOfUse:
    rows = sql_queries.rows(
        "model_use",
        file=statistics.FILE,
        since=day.replace(day=1),
        until=day.replace(day=monthrange(day.year, day.month)[1]),
        everywhere=everywhere,
        project=project_id,
    )
    *whole, cost = rows[0]
    calls, fallbacks, tokens_in, tokens_out = (int(number) for number in whole)
    return MonthOfUse(
        calls=calls,
        fallbacks=fallbacks,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost=Decimal(cost),
    )
