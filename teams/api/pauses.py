"""Pauses over REST: what agents of a project are given, off until somebody resumes."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import TRUTH, record
from accounts.api.shapes import Field, Identifier, Record, Truth
from accounts.caller import Caller, TokenScope
from teams.actions.project_settings import pause
from teams.queries import Pauses, pauses_of

PAUSE: Final = Record(
    name="Pause",
    fields=(
        Field(name="paused", shape=Truth(), says="Or resumed.", default=True),
        Field(
            name="token",
            shape=Identifier(),
            says="A token of yours that is given nothing there; the whole project when left out.",
        ),
        Field(
            name="mine",
            shape=Truth(),
            says="Every token of yours, later ones too, instead of one.",
            default=False,
        ),
    ),
)
_PAUSES: Final = {"paused": True, "this_token_paused": False}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Pauses": record(paused=TRUTH, this_token_paused=TRUTH)
}


def change(ask: Ask) -> Answer:
    """Pause or resume."""
    done = pause(
        caller=ask.caller,
        ref=ask.path["ref"],
        token_id=ask.body["token"],
        paused=ask.body["paused"],
        mine=ask.body["mine"],
    )
    return Answer(body=_shown(ask.caller, done))


def look(ask: Ask) -> Answer:
    """Say what is paused, of the caller's own credential alone."""
    return Answer(body=_shown(ask.caller, pauses_of(caller=ask.caller, ref=ask.path["ref"])))


def _shown(caller: Caller, found: Pauses) -> dict[str, bool]:
    is_own = caller.token_id in found.tokens or caller.user_id in found.people
    return {"paused": found.paused, "this_token_paused": is_own}


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="projects/{ref}/pause",
        name="pause_project",
        tag="projects",
        summary="Pause what agents are given",
        says=(
            "What agents tell is kept on; nothing is given back to them until somebody resumes. "
            "The whole project is paused by who manages projects, one token by whoever sees it, "
            "and with `mine` all of your own."
        ),
        scope=TokenScope.WRITE,
        run=change,
        body=PAUSE,
        example={"paused": True},
        idempotent=True,
        replies=(Reply(status=200, says="What is paused now.", schema="Pauses", example=_PAUSES),),
    ),
    Endpoint(
        method="GET",
        path="projects/{ref}/pause",
        name="get_pause",
        tag="projects",
        summary="Say whether agents are given anything",
        scope=TokenScope.READ,
        run=look,
        replies=(Reply(status=200, says="What is paused.", schema="Pauses", example=_PAUSES),),
    ),
)
