"""What is given back to a session, over REST: between its steps, and its ledger."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import ID, MOMENT, NUMBER, TEXT, TRUTH, WHOLE, maybe, record, ref
from accounts.api.schemas import several as list_of
from accounts.api.shapes import Field, Record, Whole
from accounts.caller import TokenScope
from memory.api import inputs
from memory.injection.actions.deliver import Delivery
from memory.injection.actions.trigger_points import PointDelivery, deliver_at_step
from memory.injection.queries import DeliveryEntry, delivery_log
from memory.sessions.points import Point

STEP: Final = Record(
    name="AgentStep",
    fields=(
        Field(
            name="step",
            shape=Whole(smallest=1, largest=inputs.LARGEST_STEP),
            says="The step that comes next; before the fifth, nothing is given.",
            required=True,
        ),
        Field(
            name="files",
            shape=inputs.FILES,
            says="The files just touched; those of the last events, when left out.",
            default=(),
        ),
    ),
)
_MEMORY: Final = "01936f2e-7a10-7c3e-9a53-2f8f2f3c1b10"
_GIVEN: Final[Mapping[str, Any]] = {
    "text": "Recorded memories of your team. …",
    "memories": [{"id": _MEMORY, "tokens": 61}],
    "tokens": 61,
    "point": "step",
}
_LEDGER: Final[Mapping[str, Any]] = {
    "items": [
        {
            "memory_id": _MEMORY,
            "point": "step",
            "tokens": 61,
            "at": "2026-11-20T12:00:00Z",
            "outcome": "used",
            "agent": "",
        },
    ],
    "memories": 1,
    "beside": 0,
    "tokens": 61,
}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "GivenBack": record(
        text=TEXT, memories=list_of(record(id=ID, tokens=WHOLE)), tokens=WHOLE, point=TEXT
    ),
    "GivenAtPoint": record(
        text=TEXT,
        memories=list_of(record(id=ID, tokens=WHOLE)),
        tokens=WHOLE,
        point={"type": "string", "enum": list(Point)},
        prefetch=maybe(
            record(
                files=list_of(record(path=TEXT, tokens=WHOLE, always=TRUTH)),
                tokens=WHOLE,
                left_out=list_of(TEXT),
            )
        ),
        work_state=maybe(
            record(
                task=TEXT,
                files=list_of(TEXT),
                last_error=TEXT,
                step=WHOLE,
                branch=TEXT,
                at=MOMENT,
            )
        ),
        advice=maybe(
            record(
                calibration=maybe(NUMBER),
                planned_steps=maybe(WHOLE),
                step_limit=maybe(WHOLE),
                also_in_scope=list_of(TEXT),
                rests_on=list_of(ID),
                checklist=list_of(ID),
            )
        ),
    ),
    "ContextAnswer": {"anyOf": [ref("Context"), ref("GivenAtPoint")]},
    "Ledger": record(
        items=list_of(
            record(memory_id=ID, point=TEXT, tokens=WHOLE, at=MOMENT, outcome=TEXT, agent=TEXT)
        ),
        memories=WHOLE,
        beside=WHOLE,
        tokens=WHOLE,
    ),
}


def step(ask: Ask) -> Answer:
    """Return what the first trigger with an answer gives."""
    delivery = deliver_at_step(
        caller=ask.caller,
        session_id=path_id(ask=ask),
        step=ask.body["step"],
        files=ask.body["files"],
        now=ask.now,
    )
    return Answer(body=shown(delivery, point=Point.STEP))


def ledger(ask: Ask) -> Answer:
    """Return what a session was given."""
    found = delivery_log(caller=ask.caller, session_id=path_id(ask=ask))
    body = {
        "items": [_entry(one) for one in found.entries],
        "memories": found.memories,
        "beside": found.beside,
        "tokens": found.tokens,
    }
    return Answer(body=body)


def _entry(one: DeliveryEntry) -> dict[str, Any]:
    """Return a row of the ledger; its place among the events is for our own pages."""
    return {name: value for name, value in asdict(one).items() if name != "after_event"}


def at_point(given: PointDelivery, *, point: Point) -> dict[str, Any]:
    """Return what a point gives as callers see it; null is what that point does not have."""
    left = given.unfinished
    return {
        **shown(given.delivery, point=point),
        "prefetch": None if given.prefetch is None else asdict(given.prefetch),
        "work_state": None
        if left is None
        else {**asdict(left.state), "branch": left.branch, "at": left.at},
        "advice": None if given.advice is None else asdict(given.advice),
    }


def shown(delivery: Delivery, *, point: Point) -> dict[str, Any]:
    """Return what is given back as callers see it."""
    return {
        "text": delivery.text,
        "memories": [{"id": one.memory.id, "tokens": one.tokens} for one in delivery.memories],
        "tokens": delivery.tokens,
        "point": point.value,
    }


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="sessions/{id}/step",
        name="step",
        tag="sessions",
        summary="Ask for warnings between two steps",
        says=(
            "Warnings of files that were just touched, at most four, never the same memory twice "
            "in a session; where the project asks for it, what is known of an entry just recorded, "
            "or what answers the last searches. Most often the text is empty."
        ),
        scope=TokenScope.READ,
        run=step,
        body=STEP,
        example={"step": 7, "files": ["src/cart/prices.py"]},
        replies=(
            Reply(status=200, says="What to tell the agent.", schema="GivenBack", example=_GIVEN),
        ),
    ),
    Endpoint(
        method="GET",
        path="sessions/{id}/injections",
        name="list_injections",
        tag="sessions",
        summary="List what a session was given back",
        says=(
            "In its order, with the tokens that each memory took and, from the session's end on, "
            "what came of it; only memories that you may see. An agent beside the first one is "
            "named. What was said beside memories took the tokens of `beside`."
        ),
        scope=TokenScope.READ,
        run=ledger,
        replies=(Reply(status=200, says="The ledger.", schema="Ledger", example=_LEDGER),),
    ),
)
