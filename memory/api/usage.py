"""What models cost, over REST."""

from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import AliasPath, BeforeValidator, Field

from accounts.api.endpoints import Call, get
from accounts.api.schemas import Result
from accounts.caller import TokenScope
from accounts.errors import wrong_field
from accounts.messages import message
from memory.api.schemas.memories import ProjectQuery
from memory.extraction import queries
from memory.extraction.queries import EARLIEST


def _exact(value: Decimal | None) -> str | None:
    """Write money as text, which stays exact."""
    return None if value is None else f"{value:f}"


Money = Annotated[str, BeforeValidator(_exact)]


class UsageQuery(ProjectQuery):
    """Which month is asked for."""

    month: str | None = Field(
        None, min_length=7, max_length=7, description="As 2026-11; the present one when left out."
    )


class UsagePart(Result):
    """What a day, a project or a model has cost."""

    name: str
    calls: int
    fallbacks: int
    tokens: int
    cost: Money


class Usage(Result):
    """The month so far."""

    month: Annotated[str, BeforeValidator(lambda day: f"{day:%Y-%m}")]
    calls: int = Field(validation_alias=AliasPath("total", "calls"))
    fallbacks: int = Field(validation_alias=AliasPath("total", "fallbacks"))
    tokens: int = Field(validation_alias=AliasPath("total", "tokens"))
    cost: Money = Field(validation_alias=AliasPath("total", "cost"))
    cap_tokens: int | None = Field(validation_alias="cap")
    accepted: int
    cost_per_accepted: Annotated[str | None, BeforeValidator(_exact)]
    days: tuple[UsagePart, ...]
    projects: tuple[UsagePart, ...]
    models: tuple[UsagePart, ...]


@get("usage", tag="models", scope=TokenScope.ADMIN, answer=Usage)
def get_usage(call: Call, query: UsageQuery) -> queries.Usage:
    """What models have cost.

    A month's calls, tokens and money by day, project and model, against the cap, and what each
    accepted memory cost. For owners and admins.
    """
    day = _day(query.month, call.now.date())
    return queries.usage(caller=call.caller, project=query.project, day=day)


def _day(month: str | None, today: date) -> date:
    """Read a month. Raises InvalidInput for what is none, or lies before all of ours or ahead."""
    if month is None:
        return today
    try:
        first = date.fromisoformat(f"{month}-01")
    except ValueError as error:
        raise wrong_field(
            pointer="/month", detail="This is no month.", hint="Write it as 2026-11.", code="month"
        ) from error
    if EARLIEST <= first <= today:
        return first
    raise wrong_field(
        pointer="/month",
        detail="There are no sums of this month.",
        hint=message(
            "Ask for one from {first} to {last}.", first=f"{EARLIEST:%Y-%m}", last=f"{today:%Y-%m}"
        ),
        code="month",
    )
