"""Embedding models over REST: look, switch, cancel, go back, drop."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import MOMENT, NUMBER, TEXT, WHOLE, maybe, record, several
from accounts.api.shapes import Field, Record, Text
from accounts.caller import TokenScope
from memory.api import inputs
from memory.index import queries as index_queries
from memory.index.actions import model_switch
from memory.index.queries import Part

CHOICE: Final = Record(
    name="ModelChoice",
    fields=(
        Field(
            name="key",
            shape=Text(largest=model_switch.LONGEST_KEY, smallest=1),
            says="Key of a model, such as local/all-minilm-l6-v2 or openai/NAME@512.",
            required=True,
        ),
    ),
)
EXAMPLE: Final[dict[str, Any]] = {
    "models": [
        {
            "key": "local/all-minilm-l6-v2",
            "part": "active",
            "dimensions": 384,
            "embedded": 1204,
            "overlap": None,
            "activated_at": "2026-11-20T12:00:00Z",
        },
        {
            "key": "openai/text-embedding-3-small@1024",
            "part": "filling",
            "dimensions": 1024,
            "embedded": 640,
            "overlap": None,
            "activated_at": None,
        },
    ],
    "needed": 1204,
    "waits_for": "",
    "known": ["local/all-minilm-l6-v2", "static/potion-base-8m"],
}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "EmbeddingModels": record(
        models=several(
            record(
                key=TEXT,
                part={"type": "string", "enum": [*Part]},
                dimensions=WHOLE,
                embedded=WHOLE,
                overlap=maybe(NUMBER),
                activated_at=maybe(MOMENT),
            )
        ),
        needed=WHOLE,
        waits_for=TEXT,
        known=several(TEXT),
    )
}


def index(ask: Ask) -> Answer:
    """Return the models, and how far the one being filled is."""
    return _now(ask, status=200)


def switch(ask: Ask) -> Answer:
    """Begin to make vectors of another model."""
    model_switch.switch(caller=ask.caller, key=ask.body["key"])
    return _now(ask, status=202)


def cancel(ask: Ask) -> Answer:
    """Stop a switch."""
    model_switch.cancel(caller=ask.caller)
    return _now(ask, status=200)


def roll_back(ask: Ask) -> Answer:
    """Compare by the model before this one again."""
    model_switch.roll_back(caller=ask.caller)
    return _now(ask, status=200)


def drop(ask: Ask) -> Answer:
    """Delete the vectors of a model that is not used any more."""
    model_switch.drop(caller=ask.caller, key=ask.body["key"])
    return _now(ask, status=202)


def _now(ask: Ask, *, status: int) -> Answer:
    return Answer(status=status, body=asdict(index_queries.models(caller=ask.caller)))


def _reply(status: int, says: str) -> tuple[Reply, ...]:
    return (Reply(status=status, says=says, schema="EmbeddingModels", example=EXAMPLE),)


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="models",
        name="list_models",
        tag="models",
        summary="List embedding models",
        says=(
            "Which model searches compare by, which is being filled, and to which one can go back. "
            "`embedded` of `needed` memories have a vector; `overlap` is the share of the ten "
            "nearest that a model and the one before it both find. For owners and admins."
        ),
        scope=TokenScope.ADMIN,
        run=index,
        replies=_reply(200, "The models, in the order in which they came."),
    ),
    Endpoint(
        method="POST",
        path="models/switch",
        name="switch_model",
        tag="models",
        summary="Switch to another embedding model",
        says=(
            "Makes a vector of every memory in the background; the active model answers until none "
            "is missing. Takes the place of a switch that is under way."
        ),
        scope=TokenScope.ADMIN,
        run=switch,
        body=CHOICE,
        example={"key": "openai/text-embedding-3-small"},
        replies=_reply(202, "The models; the chosen one is being filled."),
    ),
    Endpoint(
        method="POST",
        path="models/cancel",
        name="cancel_switch",
        tag="models",
        summary="Cancel a switch of models",
        scope=TokenScope.ADMIN,
        run=cancel,
        body=inputs.NOTHING,
        replies=_reply(200, "The models; none is being filled."),
    ),
    Endpoint(
        method="POST",
        path="models/rollback",
        name="roll_back_model",
        tag="models",
        summary="Go back to the model before this one",
        says="At once, and without asking a model; what was written since is embedded afterwards.",
        scope=TokenScope.ADMIN,
        run=roll_back,
        body=inputs.NOTHING,
        replies=_reply(200, "The models; the one before is active."),
    ),
    Endpoint(
        method="POST",
        path="models/drop",
        name="drop_model",
        tag="models",
        summary="Delete the vectors of a model",
        says="In the background, of one that is neither active nor being filled.",
        scope=TokenScope.ADMIN,
        run=drop,
        body=CHOICE,
        example={"key": "local/all-minilm-l6-v2"},
        replies=_reply(202, "The models; one cannot go back to the dropped one any more."),
    ),
)
