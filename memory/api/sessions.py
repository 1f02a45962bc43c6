"""Sessions over REST: open, look, end; what was said in them, and what agents did."""

from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import Field
from pydantic.config import JsonDict

from accounts.api import jobs, schemas
from accounts.api.endpoints import Answer, Call, delete, get, post
from memory.api.schemas.memories import ProjectPageQuery, Slug
from memory.erasure.actions import delete_session as deleting
from memory.sessions import queries as sessions
from memory.sessions.actions import append_events as recording
from memory.sessions.actions import append_turns as appending
from memory.sessions.actions import lifecycle
from memory.sessions.actions.lifecycle import LONGEST, LONGEST_PART, MOST_STEPS, UNIT_PARTS
from memory.sessions.turns import Speaker

UNIT: Final[JsonDict] = {  # what the action refuses, in better words
    "properties": {name: {"type": "string", "maxLength": LONGEST_PART} for name in UNIT_PARTS},
    "additionalProperties": False,
}


def _text(name: str, description: str, example: str = "") -> Any:
    examples = [example] if example else None
    return Field("", max_length=LONGEST[name], description=description, examples=examples)


class SpokenTurn(schemas.Body):
    """A turn that somebody sends, also over MCP."""

    role: schemas.Choice[Speaker] = Field(description="Who said it.")
    text: str = Field(
        max_length=appending.LONGEST_TURN,
        description="What was said. Secrets are taken out before it is stored.",
    )
    sequence: int | None = Field(
        None,
        ge=1,
        le=appending.LARGEST_SEQUENCE,
        description="Its place in the session; sending the same place again changes nothing.",
    )


class NewTurn(SpokenTurn):
    """A turn to append."""

    at: schemas.Moment | None = Field(None, description="When it was said; now, when left out.")


class NewTurns(schemas.Body):
    """Turns in their order."""

    turns: schemas.Several[NewTurn] = Field(
        min_length=1,
        max_length=appending.MOST,
        description="Turns in their order.",
        examples=[[{"role": "user", "text": "We decided to deploy on Tuesdays only."}]],
    )


class NewSession(schemas.Body):
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
    work_unit: schemas.Free = Field(
        {}, description="The unit of work: methodology, hierarchy, label.", json_schema_extra=UNIT
    )
    plan: schemas.Several[Annotated[schemas.Name, Field(max_length=LONGEST_PART)]] = Field(
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

    state: Annotated[str, schemas.OneOf(sessions.STATES)] | None = Field(
        None, description="Only in this state."
    )
    external_id: str | None = Field(
        None, max_length=LONGEST["external_id"], description="Only of this external id."
    )


class DeleteQuery(schemas.Query):
    """How a session is deleted."""

    memories: schemas.Choice[deleting.Fate] = Field(
        deleting.Fate.KEEP, description="What becomes of the memories that were taken from it."
    )


@schemas.fields_of(sessions.SessionView, hidden={"task"})
class Session(schemas.Result):
    """The session."""

    state: Annotated[str, schemas.OneOf(sessions.STATES)]


class MaskedSecret(schemas.Result):
    """Where a secret was taken out, and of which kind."""

    sequence: int
    kind: str


@schemas.fields_of(appending.Appended)
class AppendedTurns(schemas.Result):
    """How many are new, and how many were there already."""

    masked: tuple[MaskedSecret, ...]


class EndedSession(schemas.Result):
    """The session, and the job."""

    session: Session
    job_id: UUID | None


@schemas.fields_of(deleting.Receipt)
class DeletedSession(schemas.Result):
    """The receipt."""


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


@get("sessions", tag="sessions", answer=schemas.Page[Session])
def list_sessions(call: Call, query: SessionQuery) -> Answer:
    """List sessions.

    Your own, and those shared with a project of yours; the newest first.
    """
    page = sessions.sessions(
        caller=call.caller,
        project=query.project,
        state=query.state,
        external_id=query.external_id,
        after=call.after(sessions.SessionPlace),
        limit=query.limit,
    )
    return Answer(page.items, following=page.next_place)


@get("sessions/{id}", tag="sessions", answer=Session)
def get_session(call: Call) -> sessions.SessionView:
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
def end_session(call: Call, body: schemas.Nothing, query: jobs.WaitQuery) -> dict[str, Any]:
    """End a session.

    Queues the job that takes what is worth keeping; `result` of the session tells it.
    """
    session, job_id = lifecycle.end_session(caller=call.caller, session_id=call.id, now=call.now)
    if jobs.until_done(caller=call.caller, job_id=job_id, seconds=query.wait):
        session = sessions.session(caller=call.caller, session_id=session.id)
    return {"session": session, "job_id": job_id}


@delete("sessions/{id}", tag="sessions", answer=DeletedSession)
def delete_session(call: Call, query: DeleteQuery) -> object:
    """Delete a session for good.

    What was said and done in it, and what points back at it. Its opener may, and an admin in person
    one that is shared. Memories keep their text and lose their origin, or go too, for which a token
    needs the scope `review`: those that came from it alone, still stand where it stands, and are
    neither pinned, verified by a person, nor in layer 1 or 2 (decisions and other rules).
    """
    return deleting.delete_session(
        caller=call.caller, session_id=call.id, memories=query.memories, now=call.now
    )


class HistoryWords(schemas.Sent):
    """Which words are searched in what was said; also for tools."""

    query: schemas.Name = Field(
        max_length=sessions.LONGEST_QUERY,
        description="Words that were said; their case does not matter.",
    )
    how: schemas.Choice[sessions.How] = Field(
        sessions.How.WORDS,
        description=(
            "Whether the words may stand anywhere in a turn, or exactly so beside each other."
        ),
    )
    session: schemas.Identifier | None = Field(None, description="Only in this session.")
    thread: schemas.Name | None = Field(
        None, max_length=LONGEST["thread"], description="Only in sessions of this thread."
    )
    role: schemas.Choice[Speaker] | None = Field(None, description="Only what this side said.")

    def question(self, *, project: str | None) -> sessions.HistoryQuestion:
        """Return the value of it, in a project."""
        return sessions.HistoryQuestion(
            query=self.query,
            how=self.how,
            project=project,
            session_id=self.session,
            thread=self.thread,
            role=self.role,
        )


class HistoryQuery(HistoryWords, ProjectPageQuery):
    """Which words are searched in what was said, page by page."""


@schemas.fields_of(sessions.TurnView)
class Turn(schemas.Result):
    """What was said."""


@schemas.fields_of(sessions.HistoryHit)
class Said(schemas.Result):
    """A piece of a turn that holds what was searched."""


@get("sessions/{id}/turns", tag="sessions", answer=schemas.Page[Turn])
def list_turns(call: Call, query: schemas.PageQuery) -> Answer:
    """Read what was said in a session.

    In its order, for as long as turns are kept. `masked` counts the secrets that were taken out of
    a turn. A page ends early where turns are very long.
    """
    page = sessions.turns(
        caller=call.caller, session_id=call.id, after=call.after(int) or 0, limit=query.limit
    )
    return Answer(page.items, following=page.next_place)


@get("history", tag="sessions", answer=schemas.Page[Said])
def search_history(call: Call, query: HistoryQuery) -> Answer:
    """Search what was said, verbatim.

    In your own sessions and those shared with a project of yours, the newest first. `text` is a
    piece of the turn: from its character `start` on, of `whole` characters.
    """
    page = sessions.search_history(
        caller=call.caller,
        asked=query.question(project=query.project),
        after=call.after(sessions.HistoryPlace),
        limit=query.limit,
    )
    return Answer(page.items, following=page.next_place)


LARGEST: Final = 500_000  # characters of one event as Python writes it; a body has 1 MiB


class NewEvents(schemas.Body):
    """Events of a session."""

    events: schemas.Several[Annotated[dict[str, Any], schemas.Largest(LARGEST)]] = Field(
        min_length=1,
        max_length=recording.MOST,
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


class RefusedEvent(schemas.Result):
    """What is no event, by its place."""

    position: int
    field: str
    reason: str


@schemas.fields_of(recording.AppendedEvents)
class AppendedEvents(schemas.Result):
    """How many are new, and how many were there already."""

    refused: tuple[RefusedEvent, ...]
    masked: tuple[MaskedSecret, ...]


@post("sessions/{id}/events", tag="sessions", answer=AppendedEvents, lenient=True)
def append_events(call: Call, body: NewEvents) -> object:
    """Append events to a session of your own.

    What an agent did, in any order; a sequence that is there already changes nothing. No model is
    asked. Secrets are taken out before anything is stored; long texts are cut in their middle.
    `refused` names, by place, what is no event. A session that had ended is open again.
    """
    return recording.append_events(
        caller=call.caller, session_id=call.id, events=body.events, now=call.now
    )
