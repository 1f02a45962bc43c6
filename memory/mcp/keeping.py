"""The tools that keep: a statement, a conversation, a document."""

from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import AliasPath, BeforeValidator, Field

from accounts.api import jobs
from accounts.api.schemas import Choice, Moment, Name, Result, Several
from accounts.caller import TokenScope
from memory.api.documents import RefusedStatement
from memory.api.schemas.memories import Content, ConversationId, Files, Kind, Position
from memory.api.sessions import SpokenTurn
from memory.documents.actions import note_push
from memory.errors import RefusedByGate
from memory.intake.actions.remember import NewMemory, Outcome, remember
from memory.mcp.declaration import Call, Noticed, ProjectArgument, ShownMemory, tool
from memory.sessions import queries as sessions
from memory.sessions.actions import answers, binding
from memory.sessions.actions.append_turns import MOST, NewTurn, take_conversation
from memory.sessions.actions.lifecycle import LONGEST, NewSession
from memory.taxonomy import Scope, Source

LONGEST_WAIT: Final = 20  # seconds; an agent's own limit is near
REFUSED_MOST: Final = 50  # refused statements of a document an answer; the counts are of all


class NewStatement(ProjectArgument):
    """A statement to keep."""

    content: Content = Field(min_length=1, description="The statement, 20 to 20,000 characters.")
    type: Kind | None = Field(
        None, description="What it is. Name it: left out, nearly every text is kept as a fact."
    )
    tags: Files = Field((), description="A few words to find it by.")
    related_files: Files = Field((), description="Paths it is about.")
    external_id: str = Field(
        "",
        max_length=200,
        description="Your own id for it, unique in the project; sending it again updates it.",
    )
    event_at: Moment | None = Field(None, description="When it happened.")
    thread: ConversationId = Field("", description="Conversation it is of.")
    session: ConversationId = Field("", description="Sitting of that.")
    position: Position | None = Field(None, description="Its place there.")


class KeptMemory(Noticed):
    """What became of a statement."""

    outcome: Literal["added", "confirmed", "known", "updated", "proposed"]
    reason: str
    memory: ShownMemory
    operation: str
    related_id: UUID | None
    conflict_id: UUID | None


@tool(title="Remember for the team", scope=TokenScope.WRITE, answer=KeptMemory, is_idempotent=False)
def add_memory(call: Call, arguments: NewStatement) -> Outcome:
    """Keep one thing worth knowing next time.

    A decision and why, a trap, the fix of an error, a convention, an approach that failed. One
    statement a call, understandable without this conversation, no secrets. Known things are
    confirmed, not stored twice. What would replace a person's word is proposed, and waits.
    """
    new = NewMemory(**dict(arguments), source=Source.AGENT_EXPLICIT.value)
    new = binding.bind(caller=call.caller, new=new)
    new = answers.as_answer(caller=call.caller, new=new, now=call.now)
    outcome = remember(caller=call.caller, new=new, now=call.now)
    if outcome.memory is None:
        raise RefusedByGate(gate=outcome.gate, detail=outcome.reason, hint=outcome.hint)
    return outcome


class Conversation(ProjectArgument):
    """A conversation that is over."""

    turns: Annotated[Several[SpokenTurn], Field(min_length=1)] = Field(
        max_length=MOST, description="The turns in their order."
    )
    external_id: str = Field(
        "",
        max_length=LONGEST["external_id"],
        description="Your own id of the conversation; sent again, only new turns count.",
    )
    shared: bool = Field(
        False, description="Whether the project's members see it; otherwise it is yours alone."
    )
    wait: int = Field(0, ge=0, le=LONGEST_WAIT, description="Seconds to wait for what comes of it.")


class MaskedSecret(Result):
    """A secret that was taken out of a turn."""

    sequence: int
    kind: str


class TakenConversation(Result):
    """What became of a conversation; `result` is what its job came to, as far as it is."""

    session_id: UUID
    job_id: UUID | None
    state: str
    stored: int
    known: int
    masked: tuple[MaskedSecret, ...]
    result: dict[str, Any]


@tool(
    title="Take what is worth keeping from a conversation",
    scope=TokenScope.WRITE,
    answer=TakenConversation,
    is_idempotent=False,
)
def extract_from_conversation(call: Call, arguments: Conversation) -> dict[str, Any]:
    """Send the turns of a conversation once it is over.

    Decisions, preferences, corrections, errors with their fix and traps become candidates that a
    person reviews. Memories that were given to you are not learned again. Takes no model call in
    this request.
    """
    new = NewSession(
        project=arguments.project, external_id=arguments.external_id, shared=arguments.shared
    )
    turns = tuple(NewTurn(**dict(one)) for one in arguments.turns)
    session_id, job_id, taken = take_conversation(
        caller=call.caller,
        new=new,
        turns=turns,
        now=call.now,
        taint=binding.taint_of_caller(caller=call.caller, project=arguments.project),
    )
    jobs.until_done(caller=call.caller, job_id=job_id, seconds=arguments.wait)
    found = sessions.session(caller=call.caller, session_id=session_id)
    return {
        "session_id": session_id,
        "job_id": job_id,
        "state": found.state,
        "stored": taken.stored,
        "known": taken.known,
        "masked": taken.masked,
        "result": dict(found.result),
    }


class NoteArguments(ProjectArgument):
    """A document as it is now."""

    path: Name = Field(
        max_length=note_push.LONGEST_PATH,
        description="Its path in the project; with the project it names the document.",
    )
    text: str = Field(max_length=note_push.LARGEST, description="The whole document as it is now.")
    scope: Choice[Scope] | None = Field(None, description="Who sees it.")


class KeptNote(Result):
    """What became of a document; `refused` counts the statements that were not stored."""

    note_id: UUID = Field(validation_alias=AliasPath("note", "id"))
    path: str = Field(validation_alias=AliasPath("note", "path"))
    version: int = Field(validation_alias=AliasPath("note", "version"))
    added: int
    updated: int
    proposed: int
    kept: int
    stale: int
    held: int
    refused: Annotated[int, BeforeValidator(len)]
    refusals: Annotated[
        tuple[RefusedStatement, ...], BeforeValidator(lambda every: every[:REFUSED_MOST])
    ] = Field(validation_alias="refused")


@tool(title="Hand in a document that memories come from", scope=TokenScope.WRITE, answer=KeptNote)
def push_note(call: Call, arguments: NoteArguments) -> note_push.NotePushed:
    """Send a document that stays the source, such as CLAUDE.md, AGENTS.md or an ADR, as it is now.

    New statements become memories that wait for review, reworded ones update theirs, those that are
    gone become stale. Send it again whenever it changes. A document with a secret is refused whole.
    """
    taint = binding.taint_of_caller(caller=call.caller, project=arguments.project)
    given = {**dict(arguments), "project": arguments.project or "", "taint": taint}
    new = note_push.NewNote(**given)
    return note_push.push_note(caller=call.caller, new=new, now=call.now)
