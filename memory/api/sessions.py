"""Sessions over REST: open, look, append turns, end."""

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import Field
from pydantic.config import JsonDict

from accounts.api import jobs
from accounts.api.endpoints import Answer, Call, delete, get, post
from accounts.api.jobs import WaitQuery
from accounts.api.schemas import (
    Body,
    Choice,
    Free,
    Moment,
    Name,
    Nothing,
    OneOf,
    Page,
    Query,
    Result,
    Several,
)
from accounts.caller import TokenScope
from memory.api.events import MaskedSecret
from memory.api.schemas.memories import ProjectPageQuery, Slug
from memory.api.turns import SpokenTurn
from memory.observer.actions import delete_session as deleting
from memory.sessions import queries as sessions
from memory.sessions.actions import append_turns as appending
from memory.sessions.actions import lifecycle
from memory.sessions.actions.lifecycle import LONGEST, LONGEST_PART, MOST_STEPS, UNIT_PARTS
from memory.sessions.queries import STATES, SessionPlace, SessionView

UNIT: Final[JsonDict] = {  # what the action refuses, in better words
    "properties": {name: {"type": "string", "maxLength": LONGEST_PART} for name in UNIT_PARTS},
    "additionalProperties": False,
}


def _text(name: str, description: str, example: str = "") -> Any:
    examples = [example] if example else None
    return Field("", max_length=LONGEST[name], description=description, examples=examples)


class NewTurn(SpokenTurn):
    """A turn to append."""

    at: Moment | None = Field(None, description="When it was said; now, when left out.")


class NewTurns(Body):
    """Turns in their order."""

    turns: Several[NewTurn] = Field(
        min_length=1,
        max_length=appending.MOST,
        description="Turns in their order.",
        examples=[[{"role": "user", "text": "We decided to deploy on Tuesdays only."}]],
    )


class NewSession(Body):
    """A session to open."""

    project: Slug | None = Field(None, description="A project's slug or id.", examples=["shop"])
    external_id: str = _text(
        "external_id", "Your own id of it; opening it again finds it.", "run-41"
    )
    thread: str = _text("thread", "The piece of work that several sessions belong to.", "checkout")
    type: str = _text("type", "What kind of session it is, in your words.")
    phase: str = _text("phase", "The phase of the work.")
    methodology: str = _text("methodology", "The methodology of the work.")
    agent: str = _text("agent", "The agent; your client's own name when left out.")
    cwd: str = _text("cwd", "The folder in which the agent works; relative paths begin there.")
    root: str = _text(
        "root", "The folder of its repository, where that is another: files have names in it."
    )
    branch: str = _text("branch", "The branch of the repository.")
    commit: str = _text("commit", "The commit that the work begins from.")
    work_unit: Free = Field(
        {}, description="The unit of work: methodology, hierarchy, label.", json_schema_extra=UNIT
    )
    plan: Several[Annotated[Name, Field(max_length=LONGEST_PART)]] = Field(
        (), max_length=MOST_STEPS, description="The steps that are planned, in their order."
    )
    shared: bool = Field(
        False, description="Whether the members of its project see it, and what is taken from it."
    )
    memory_eligible: bool = Field(True, description="Whether memories may be taken from it at all.")
    models_agreed: bool = Field(
        False, description="Whether models of other companies may read it, though it is personal."
    )


class SessionQuery(ProjectPageQuery):
    """Which sessions to list."""

    state: Annotated[str, OneOf(STATES)] | None = Field(None, description="Only in this state.")


class DeleteQuery(Query):
    """How a session is deleted."""

    memories: Choice[deleting.Fate] = Field(
        deleting.Fate.KEEP, description="What becomes of the memories that were taken from it."
    )


class Session(Result):
    """The session."""

    id: UUID
    project: str | None
    external_id: str
    thread: str
    scope: str
    opened_by: UUID | None
    agent: str
    source_interface: str
    type: str
    phase: str
    methodology: str
    work_unit: dict[str, Any]
    cwd: str
    root: str
    branch: str
    commit: str
    plan: tuple[str, ...]
    memory_eligible: bool
    models_agreed: bool
    state: Annotated[str, OneOf(STATES)]
    turns: int
    events: int
    last_sequence: int
    opened_at: datetime
    active_at: datetime
    ended_at: datetime | None
    consolidated_at: datetime | None
    finalized_at: datetime | None
    group: str
    result: dict[str, Any]


class AppendedTurns(Result):
    """How many are new, and how many were there already."""

    stored: int
    known: int
    last_sequence: int
    masked: tuple[MaskedSecret, ...]


class EndedSession(Result):
    """The session, and the job."""

    session: Session
    job_id: UUID | None


class DeletedSession(Result):
    """The receipt."""

    session_id: UUID
    turns: int
    events: int
    memories_deleted: int
    memories_kept: int
    given_back: int
    deleted_at: datetime


@post(
    "sessions",
    tag="sessions",
    answer=Session,
    status=201,
    also={200: "The one of that external id."},
)
def open_session(call: Call, body: NewSession) -> Answer:
    """Open a session.

    One run of an agent or one conversation. It is yours alone unless it is shared with its project.
    Open sessions of the same agent and credential there end by it.
    """
    new = lifecycle.NewSession(**dict(body))
    opened = lifecycle.open_session(caller=call.caller, new=new, now=call.now)
    return Answer(
        opened.session,
        status=201 if opened.is_new else 200,
        location=f"/api/v1/sessions/{opened.session.id}",
    )


@get("sessions", tag="sessions", answer=Page[Session])
def list_sessions(call: Call, query: SessionQuery) -> Answer:
    """List sessions.

    Your own, and those shared with a project of yours; the newest first.
    """
    page = sessions.sessions(
        caller=call.caller,
        project=query.project,
        state=query.state,
        after=call.after(SessionPlace),
        limit=query.limit,
    )
    return Answer(page.items, following=page.next_place)


@get("sessions/{id}", tag="sessions", answer=Session)
def get_session(call: Call) -> SessionView:
    """Look at one session.

    With what its consolidation came to, once it was consolidated.
    """
    return sessions.session(caller=call.caller, session_id=call.id)


@post("sessions/{id}/turns", tag="sessions", answer=AppendedTurns)
def append_turns(call: Call, body: NewTurns) -> object:
    """Append turns to a session.

    No model is asked. Secrets are taken out before anything is stored; `masked` says in which turn,
    and of which kind. A session that had ended is open again.
    """
    said = tuple(appending.NewTurn(**dict(one)) for one in body.turns)
    return appending.append_turns(caller=call.caller, session_id=call.id, turns=said, now=call.now)


@post("sessions/{id}/end", tag="sessions", answer=EndedSession, status=202)
def end_session(call: Call, body: Nothing, query: WaitQuery) -> dict[str, Any]:
    """End a session.

    Queues the job that takes what is worth keeping; `result` of the session tells it.
    """
    ended = lifecycle.end_session(caller=call.caller, session_id=call.id, now=call.now)
    session = ended.session
    if jobs.until_done(caller=call.caller, job_id=ended.job_id, seconds=query.wait):
        session = sessions.session(caller=call.caller, session_id=session.id)
    return {"session": session, "job_id": ended.job_id}


@delete("sessions/{id}", tag="sessions", scope=TokenScope.ADMIN, answer=DeletedSession)
def delete_session(call: Call, query: DeleteQuery) -> object:
    """Delete a session for good.

    What was said and done in it, and what points back at it. Its opener may, and an admin in person
    one that is shared. Memories keep their text and lose their origin, or go too: those that came
    from it alone, still stand where it stands, and are neither pinned, verified by a person, nor in
    layer 1 or 2 (decisions and other rules).
    """
    return deleting.delete_session(
        caller=call.caller, session_id=call.id, memories=query.memories, now=call.now
    )
