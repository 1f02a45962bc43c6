"""Models over REST: the embedding models and switching them, and what models cost."""

from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Annotated

from pydantic import AliasPath, BeforeValidator, Field

from accounts.api.endpoints import Call, get, post
from accounts.api.schemas import Body, Name, Nothing, Result, fields_of
from accounts.caller import TokenScope
from accounts.errors import wrong_field
from accounts.messages import message
from memory.api.schemas.memories import ProjectQuery
from memory.extraction import queries as costs
from memory.index import queries
from memory.index.actions import model_switch

_post = partial(post, tag="models", scope=TokenScope.ADMIN, idempotent=False)


class ModelChoice(Body):
    """A model."""

    key: Name = Field(
        max_length=model_switch.LONGEST_KEY,
        description="Key of a model, such as local/all-minilm-l6-v2 or openai/NAME@512.",
        examples=["openai/text-embedding-3-small"],
    )


class EmbeddingModel(Result):
    """A model, and how many memories have a vector of it."""

    key: str
    part: queries.Part
    dimensions: int
    embedded: int
    overlap: float | None
    activated_at: datetime | None


@fields_of(queries.Models)
class EmbeddingModels(Result):
    """The models, in the order in which they came."""

    models: tuple[EmbeddingModel, ...]


@get("models", tag="models", scope=TokenScope.ADMIN, answer=EmbeddingModels)
def list_models(call: Call) -> queries.Models:
    """List embedding models.

    Which model searches compare by, which is being filled, and to which one can go back. `embedded`
    of `needed` memories have a vector; `overlap` is the share of the ten nearest that a model and
    the one before it both find. For owners and admins.
    """
    return queries.models(caller=call.caller)


@_post("models/switch", answer=EmbeddingModels, status=202)
def switch_model(call: Call, body: ModelChoice) -> queries.Models:
    """Switch to another embedding model.

    Makes a vector of every memory in the background; the active model answers until none is
    missing. Takes the place of a switch that is under way.
    """
    model_switch.switch(caller=call.caller, key=body.key)
    return queries.models(caller=call.caller)


@_post("models/cancel", answer=EmbeddingModels)
def cancel_switch(call: Call, body: Nothing) -> queries.Models:
    """Cancel a switch of models."""
    model_switch.cancel(caller=call.caller)
    return queries.models(caller=call.caller)


@_post("models/rollback", answer=EmbeddingModels)
def roll_back_model(call: Call, body: Nothing) -> queries.Models:
    """Go back to the model before this one.

    At once, and without asking a model; what was written since is embedded afterwards.
    """
    model_switch.roll_back(caller=call.caller)
    return queries.models(caller=call.caller)


@_post("models/drop", answer=EmbeddingModels, status=202)
def drop_model(call: Call, body: ModelChoice) -> queries.Models:
    """Delete the vectors of a model.

    In the background, of one that is neither active nor being filled.
    """
    model_switch.drop(caller=call.caller, key=body.key)
    return queries.models(caller=call.caller)


def _exact(value: Decimal | None) -> str | None:
    """Write money as text, which stays exact."""
    return None if value is None else f"{value:f}"


Money = Annotated[str, BeforeValidator(_exact)]


class UsageQuery(ProjectQuery):
    """Which month is asked for."""

    month: str | None = Field(
        None, min_length=7, max_length=7, description="As 2026-11; the present one when left out."
    )


@fields_of(costs.Part)
class UsagePart(Result):
    """What a day, a project or a model has cost."""

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
def get_usage(call: Call, query: UsageQuery) -> costs.Usage:
    """What models have cost.

    A month's calls, tokens and money by day, project and model, against the cap, and what each
    accepted memory cost. For owners and admins.
    """
    day = _day(query.month, call.now.date())
    return costs.usage(caller=call.caller, project=query.project, day=day)


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
    if costs.EARLIEST <= first <= today:
        return first
    raise wrong_field(
        pointer="/month",
        detail="There are no sums of this month.",
        hint=message(
            "Ask for one from {first} to {last}.",
            first=f"{costs.EARLIEST:%Y-%m}",
            last=f"{today:%Y-%m}",
        ),
        code="month",
    )
