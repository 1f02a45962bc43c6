"""Embedding models over REST: look, switch, cancel, go back, drop."""

from datetime import datetime

from pydantic import Field

from accounts.api.endpoints import Call, get, post
from accounts.api.schemas import Body, Name, Nothing, Result
from accounts.caller import TokenScope
from memory.index import queries
from memory.index.actions import model_switch
from memory.index.queries import Part


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
    part: Part
    dimensions: int
    embedded: int
    overlap: float | None
    activated_at: datetime | None


class EmbeddingModels(Result):
    """The models, in the order in which they came."""

    models: tuple[EmbeddingModel, ...]
    needed: int
    waits_for: str
    known: tuple[str, ...]


@get("models", tag="models", scope=TokenScope.ADMIN, answer=EmbeddingModels)
def list_models(call: Call) -> queries.Models:
    """List embedding models.

    Which model searches compare by, which is being filled, and to which one can go back. `embedded`
    of `needed` memories have a vector; `overlap` is the share of the ten nearest that a model and
    the one before it both find. For owners and admins.
    """
    return queries.models(caller=call.caller)


@post(
    "models/switch",
    tag="models",
    scope=TokenScope.ADMIN,
    answer=EmbeddingModels,
    status=202,
    idempotent=False,
)
def switch_model(call: Call, body: ModelChoice) -> queries.Models:
    """Switch to another embedding model.

    Makes a vector of every memory in the background; the active model answers until none is
    missing. Takes the place of a switch that is under way.
    """
    model_switch.switch(caller=call.caller, key=body.key)
    return queries.models(caller=call.caller)


@post(
    "models/cancel", tag="models", scope=TokenScope.ADMIN, answer=EmbeddingModels, idempotent=False
)
def cancel_switch(call: Call, body: Nothing) -> queries.Models:
    """Cancel a switch of models."""
    model_switch.cancel(caller=call.caller)
    return queries.models(caller=call.caller)


@post(
    "models/rollback",
    tag="models",
    scope=TokenScope.ADMIN,
    answer=EmbeddingModels,
    idempotent=False,
)
def roll_back_model(call: Call, body: Nothing) -> queries.Models:
    """Go back to the model before this one.

    At once, and without asking a model; what was written since is embedded afterwards.
    """
    model_switch.roll_back(caller=call.caller)
    return queries.models(caller=call.caller)


@post(
    "models/drop",
    tag="models",
    scope=TokenScope.ADMIN,
    answer=EmbeddingModels,
    status=202,
    idempotent=False,
)
def drop_model(call: Call, body: ModelChoice) -> queries.Models:
    """Delete the vectors of a model.

    In the background, of one that is neither active nor being filled.
    """
    model_switch.drop(caller=call.caller, key=body.key)
    return queries.models(caller=call.caller)
