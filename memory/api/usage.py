"""What models cost, over REST."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import TEXT, WHOLE, maybe, record, ref, several
from accounts.api.shapes import Field, Text
from accounts.caller import TokenScope
from accounts.errors import wrong_field
from accounts.messages import message
from memory.api import inputs
from memory.extraction.queries import EARLIEST, Part, Usage, usage

_PART: Final[Mapping[str, Any]] = {
    "name": "2026-11-20",
    "calls": 4,
    "fallbacks": 0,
    "tokens": 5200,
    "cost": "0.0031",
}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "UsagePart": record(name=TEXT, calls=WHOLE, fallbacks=WHOLE, tokens=WHOLE, cost=TEXT),
    "Usage": record(
        month=TEXT,
        calls=WHOLE,
        fallbacks=WHOLE,
        tokens=WHOLE,
        cost=TEXT,
        cap_tokens=maybe(WHOLE),
        accepted=WHOLE,
        cost_per_accepted=maybe(TEXT),
        days=several(ref("UsagePart")),
        projects=several(ref("UsagePart")),
        models=several(ref("UsagePart")),
    ),
}


def look(ask: Ask) -> Answer:
    """Return what a month has cost."""
    found = usage(
        caller=ask.caller,
        project=ask.query["project"],
        day=_day(ask.query["month"], ask.now.date()),
    )
    return Answer(body=shown(found))


def shown(found: Usage) -> dict[str, Any]:
    """Return it as callers see it: money is text, which stays exact."""
    each = found.cost_per_accepted
    return {
        "month": f"{found.month:%Y-%m}",
        "calls": found.total.calls,
        "fallbacks": found.total.fallbacks,
        "tokens": found.total.tokens,
        "cost": f"{found.total.cost:f}",
        "cap_tokens": found.cap,
        "accepted": found.accepted,
        "cost_per_accepted": None if each is None else f"{each:f}",
        "days": [_part(one) for one in found.days],
        "projects": [_part(one) for one in found.projects],
        "models": [_part(one) for one in found.models],
    }


def _part(one: Part) -> dict[str, Any]:
    return {
        "name": one.name,
        "calls": one.calls,
        "fallbacks": one.fallbacks,
        "tokens": one.tokens,
        "cost": f"{one.cost:f}",
    }


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


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="usage",
        name="get_usage",
        tag="models",
        summary="What models have cost",
        says=(
            "A month's calls, tokens and money by day, project and model, against the cap, and "
            "what each accepted memory cost. For owners and admins."
        ),
        scope=TokenScope.ADMIN,
        run=look,
        query=(
            inputs.PROJECT,
            Field(
                name="month",
                shape=Text(largest=7, smallest=7),
                says="As 2026-11; the present one when left out.",
            ),
        ),
        replies=(
            Reply(
                status=200,
                says="The month so far.",
                schema="Usage",
                example={
                    "month": "2026-11",
                    "calls": 4,
                    "fallbacks": 0,
                    "tokens": 5200,
                    "cost": "0.0031",
                    "cap_tokens": 5_000_000,
                    "accepted": 2,
                    "cost_per_accepted": "0.00155",
                    "days": [_PART],
                    "projects": [{**_PART, "name": "shop"}],
                    "models": [{**_PART, "name": "openai/small"}],
                },
            ),
        ),
    ),
)
