"""What agents did, over REST: events are appended to a session."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import TEXT, WHOLE, record
from accounts.api.schemas import several as list_of
from accounts.api.shapes import Field, Free, Record, Several
from accounts.caller import TokenScope
from memory.sessions.actions import append_events as appending
from memory.sessions.actions.append_events import append_events

LARGEST: Final = 500_000  # characters of one event as JSON; the body's bound is 1 MiB
EVENTS: Final = Field(
    name="events",
    shape=Several(of=Free(largest=LARGEST), largest=appending.MOST, smallest=1),
    says=(
        "Events: each has a `sequence` from 1 on, unique in the session, and a `kind`: tool_call, "
        "tool_result, reasoning, step_complete, session_complete, prompt, commit, qa_report. "
        "Others are kept and counted as unknown. A commit has its message as `text`, its `files` "
        "and its hash as `commit`."
    ),
    required=True,
)
EXAMPLE: Final = (
    {
        "sequence": 1,
        "kind": "tool_call",
        "name": "Read",
        "step": 1,
        "args": {"file_path": "src/shop/cart.py"},
    },
    {"sequence": 2, "kind": "tool_result", "name": "Read", "step": 1, "text": "class Cart: …"},
)
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "AppendedEvents": record(
        stored=WHOLE,
        known=WHOLE,
        unknown=WHOLE,
        last_sequence=WHOLE,
        refused=list_of(record(position=WHOLE, field=TEXT, reason=TEXT)),
        masked=list_of(record(sequence=WHOLE, kind=TEXT)),
    ),
}


def append(ask: Ask) -> Answer:
    """Append events to a session."""
    done = append_events(
        caller=ask.caller,
        session_id=path_id(ask=ask),
        events=tuple(ask.body["events"]),
        now=ask.now,
    )
    return Answer(body=asdict(done))


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="sessions/{id}/events",
        name="append_events",
        tag="sessions",
        summary="Append events to a session of your own",
        says=(
            "What an agent did, in any order; a sequence that is there already changes nothing. "
            "No model is asked. Secrets are taken out before anything is stored; long texts are "
            "cut in their middle. `refused` names, by place, what is no event. A session that had "
            "ended is open again."
        ),
        scope=TokenScope.WRITE,
        run=append,
        body=Record(name="NewEvents", fields=(EVENTS,)),
        lenient=True,
        example={"events": list(EXAMPLE)},
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="How many are new, and how many were there already.",
                schema="AppendedEvents",
                example={
                    "stored": 2,
                    "known": 0,
                    "unknown": 0,
                    "last_sequence": 2,
                    "refused": [],
                    "masked": [],
                },
            ),
        ),
    ),
)
