"""What is given back to a session, over REST: between its steps, and its ledger."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Call, get, post
from accounts.api.schemas import Body, Result
from accounts.caller import TokenScope
from memory.api.schemas.injections import LARGEST_STEP, GivenBack
from memory.api.schemas.memories import Files
from memory.experiments.points import Point
from memory.injection.actions.between_steps import deliver_at_step
from memory.injection.queries import DeliveryLog, delivery_log


class AgentStep(Body):
    """Where an agent is."""

    step: int = Field(
        ge=1,
        le=LARGEST_STEP,
        description="The step that comes next; before the fifth, nothing is given.",
        examples=[7],
    )
    files: Files = Field(
        (),
        description="The files just touched; those of the last events, when left out.",
        examples=[["src/cart/prices.py"]],
    )


class LedgerEntry(Result):
    """A memory that a session was given; its place among the events is for our own pages."""

    memory_id: UUID
    point: str
    tokens: int
    at: datetime
    outcome: str
    agent: str


class Ledger(Result):
    """The ledger."""

    items: tuple[LedgerEntry, ...] = Field(validation_alias="entries")
    memories: int
    beside: int
    tokens: int


@post(
    "sessions/{id}/step", tag="sessions", scope=TokenScope.READ, answer=GivenBack, idempotent=False
)
def step(call: Call, body: AgentStep) -> GivenBack:
    """Ask for warnings between two steps.

    Warnings of files that were just touched, at most four, never the same memory twice in a
    session; where the project asks for it, what is known of an entry just recorded, or what answers
    the last searches. Most often the text is empty.
    """
    delivery = deliver_at_step(
        caller=call.caller, session_id=call.id, step=body.step, files=body.files, now=call.now
    )
    return GivenBack.of(delivery, point=Point.STEP)


@get("sessions/{id}/injections", tag="sessions", answer=Ledger)
def list_injections(call: Call) -> DeliveryLog:
    """List what a session was given back.

    In its order, with the tokens that each memory took and, from the session's end on, what came of
    it; only memories that you may see. An agent beside the first one is named. What was said beside
    memories took the tokens of `beside`.
    """
    return delivery_log(caller=call.caller, session_id=call.id)
