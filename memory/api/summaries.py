"""What a session came to, over REST: look at it, and decide about it."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import AliasPath, Field

from accounts.api.endpoints import Call, get, post
from accounts.api.schemas import Body, Identifier, OneOf, Result, Several
from memory.api.schemas.memories import Content, Memory
from memory.api.sessions import Session
from memory.records.protection import LONGEST_REASON
from memory.review.actions import bulk
from memory.review.queries import session_summary
from memory.review.queries.session_summary import SessionSummary as SummaryValue


class SessionVerdict(Body):
    """What is decided about a memory of a session."""

    memory_id: Identifier = Field(description="A memory that the session came to.")
    verdict: Annotated[str, OneOf(bulk.SESSION_VERDICTS)] = Field(
        description="What becomes of it; later: it waits again in a week, for you."
    )
    content: Content = Field("", description="What is right instead; an edit needs it.")
    reason: str = Field("", max_length=LONGEST_REASON, description="Why.")


class SessionVerdicts(Body):
    """What is decided about a session."""

    verdicts: Several[SessionVerdict] = Field(
        (), max_length=bulk.MOST_VERDICTS, description="What is decided, memory by memory."
    )
    save_all: bool = Field(
        False, description="Whether the others that wait for you are kept.", examples=[True]
    )
    count: int | None = Field(
        None,
        ge=0,
        le=session_summary.MOST,
        description="How many others you saw waiting; refused with 409 when it is not so any more.",
        examples=[1],
    )


class SessionCandidate(Result):
    """A memory that a session came to."""

    memory: Memory
    waits: bool
    may_keep: bool
    why: str
    tier: str
    sessions: int
    evidence: tuple[dict[str, Any], ...]


class EnteredDeadEnd(Result):
    """A known dead end that a session entered."""

    memory_id: UUID = Field(validation_alias=AliasPath("memory", "id"))
    citation: str = Field(validation_alias=AliasPath("memory", "citation"))
    sequence: int
    how: str
    told: bool


class SessionSummary(Result):
    """What it came to."""

    session: Session
    shown: dict[str, Any]
    candidates: tuple[SessionCandidate, ...]
    waiting: int
    asking: str
    dead_ends_entered: tuple[EnteredDeadEnd, ...] = Field(validation_alias="again")


class SessionDecided(Result):
    """How many were decided how, and what is left."""

    decided: dict[str, Any]
    summary: SessionSummary


@get("sessions/{id}/summary", tag="sessions", answer=SessionSummary)
def get_session_summary(call: Call) -> SummaryValue:
    """Look at what a session came to.

    The signals that its agent showed, with the events they rest on and, of those that became
    nothing, why; the memories that wait because of it; and known dead ends that it entered, with
    whether it had been told of them.
    """
    return session_summary.get_summary(caller=call.caller, session_id=call.id, now=call.now)


@post("sessions/{id}/summary", tag="sessions", answer=SessionDecided)
def decide_session(call: Call, body: SessionVerdicts) -> object:
    """Decide about what a session came to.

    All verdicts stand, or none. They are those of the review inbox, with its rules: who proposed
    does not approve, and only a person lifts a taint.
    """
    return bulk.decide_session(
        caller=call.caller,
        session_id=call.id,
        verdicts=tuple(bulk.SessionVerdict(**dict(one)) for one in body.verdicts),
        others=bulk.OtherMemories(count=body.count) if body.save_all else None,
        now=call.now,
    )
