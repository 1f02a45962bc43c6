"""What agents did, over REST: events are appended to a session."""

from typing import Annotated, Any, Final

from pydantic import Field

from accounts.api.endpoints import Call, post
from accounts.api.schemas import Body, Largest, Result, Several
from memory.sessions.actions import append_events as actions

LARGEST: Final = 500_000  # characters of one event as Python writes it; a body has 1 MiB


class NewEvents(Body):
    """Events of a session."""

    events: Several[Annotated[dict[str, Any], Largest(LARGEST)]] = Field(
        min_length=1,
        max_length=actions.MOST,
        description=(
            "Events: each has a `sequence` from 1 on, unique in the session, and a `kind`: "
            "tool_call, tool_result, reasoning, step_complete, session_complete, prompt, commit, "
            "qa_report. Others are kept and counted as unknown. A commit has its message as "
            "`text`, its `files` and its hash as `commit`."
        ),
        examples=[
            [
                {
                    "sequence": 1,
                    "kind": "tool_call",
                    "name": "Read",
                    "step": 1,
                    "args": {"file_path": "src/shop/cart.py"},
                },
                {
                    "sequence": 2,
                    "kind": "tool_result",
                    "name": "Read",
                    "step": 1,
                    "text": "class Cart: …",
                },
            ]
        ],
    )


class RefusedEvent(Result):
    """What is no event, by its place."""

    position: int
    field: str
    reason: str


class MaskedSecret(Result):
    """Where a secret was taken out, and of which kind."""

    sequence: int
    kind: str


class AppendedEvents(Result):
    """How many are new, and how many were there already."""

    stored: int
    known: int
    unknown: int
    last_sequence: int
    refused: tuple[RefusedEvent, ...]
    masked: tuple[MaskedSecret, ...]


@post("sessions/{id}/events", tag="sessions", answer=AppendedEvents, lenient=True)
def append_events(call: Call, body: NewEvents) -> object:
    """Append events to a session of your own.

    What an agent did, in any order; a sequence that is there already changes nothing. No model is
    asked. Secrets are taken out before anything is stored; long texts are cut in their middle.
    `refused` names, by place, what is no event. A session that had ended is open again.
    """
    return actions.append_events(
        caller=call.caller, session_id=call.id, events=body.events, now=call.now
    )
