"""Sessions over REST: open, look, append turns, end."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts.api import waiting
from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import FREE, ID, MOMENT, TEXT, TRUTH, WHOLE, maybe, page_of, record, ref
from accounts.api.schemas import several as list_of
from accounts.api.shapes import Field, Free, Moment, Record, Several, Text, Truth
from accounts.caller import TokenScope
from memory.api import inputs, turns
from memory.observer.actions.delete_session import Fate, delete_session
from memory.sessions.actions import append_turns as appending
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.end_session import end_session
from memory.sessions.actions.open_session import (
    LONGEST,
    LONGEST_PART,
    MOST_STEPS,
    UNIT_PARTS,
    NewSession,
    open_session,
)
from memory.sessions.queries import sessions
from memory.sessions.queries.sessions import STATES, SessionPlace, SessionView

TURN: Final = Record(
    name="NewTurn",
    fields=(
        *turns.SPOKEN,
        Field(name="at", shape=Moment(), says="When it was said; now, when left out."),
    ),
)
TURNS: Final = Field(
    name="turns",
    shape=Several(of=TURN, largest=appending.MOST, smallest=1),
    says="Turns in their order.",
    required=True,
)


def _text(name: str, says: str) -> Field:
    return Field(name=name, shape=Text(largest=LONGEST[name]), says=says, default="")


ABOUT: Final = (
    _text("external_id", "Your own id of it; opening it again finds it."),
    _text("thread", "The piece of work that several sessions belong to."),
    _text("type", "What kind of session it is, in your words."),
    _text("phase", "The phase of the work."),
    _text("methodology", "The methodology of the work."),
    _text("agent", "The agent; your client's own name when left out."),
    _text("cwd", "The folder in which the agent works; relative paths begin there."),
    _text("root", "The folder of its repository, where that is another: files have names in it."),
    _text("branch", "The branch of the repository."),
    _text("commit", "The commit that the work begins from."),
)
UNIT: Final = {
    "properties": {name: {"type": "string", "maxLength": LONGEST_PART} for name in UNIT_PARTS},
    "additionalProperties": False,
}
NEW_SESSION: Final = Record(
    name="NewSession",
    fields=(
        inputs.PROJECT,
        *ABOUT,
        Field(
            name="work_unit",
            shape=Free(form=UNIT),
            says="The unit of work: methodology, hierarchy, label.",
            default={},
        ),
        Field(
            name="plan",
            shape=Several(of=Text(largest=LONGEST_PART, smallest=1), largest=MOST_STEPS),
            says="The steps that are planned, in their order.",
            default=(),
        ),
        Field(
            name="shared",
            shape=Truth(),
            says="Whether the members of its project see it, and what is taken from it.",
            default=False,
        ),
        Field(
            name="memory_eligible",
            shape=Truth(),
            says="Whether memories may be taken from it at all.",
            default=True,
        ),
        Field(
            name="models_agreed",
            shape=Truth(),
            says="Whether models of other companies may read it, though it is personal.",
            default=False,
        ),
    ),
)
SESSION: Final[Mapping[str, Any]] = {
    "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1b11",
    "project": "shop",
    "external_id": "run-41",
    "thread": "checkout",
    "scope": "personal",
    "opened_by": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1b01",
    "agent": "claude-code",
    "source_interface": "claude-code",
    "type": "",
    "phase": "implement",
    "methodology": "",
    "work_unit": {},
    "cwd": "/home/ana/shop",
    "root": "",
    "branch": "checkout",
    "commit": "",
    "plan": [],
    "memory_eligible": True,
    "models_agreed": False,
    "state": "open",
    "turns": 0,
    "events": 0,
    "last_sequence": 0,
    "opened_at": "2026-11-20T12:00:00Z",
    "active_at": "2026-11-20T12:00:00Z",
    "ended_at": None,
    "consolidated_at": None,
    "finalized_at": None,
    "group": "",
    "result": {},
}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Session": record(
        id=ID,
        project=maybe(TEXT),
        external_id=TEXT,
        thread=TEXT,
        scope=TEXT,
        opened_by=maybe(ID),
        agent=TEXT,
        source_interface=TEXT,
        type=TEXT,
        phase=TEXT,
        methodology=TEXT,
        work_unit=FREE,
        cwd=TEXT,
        root=TEXT,
        branch=TEXT,
        commit=TEXT,
        plan=list_of(TEXT),
        memory_eligible=TRUTH,
        models_agreed=TRUTH,
        state={"type": "string", "enum": [*STATES]},
        turns=WHOLE,
        events=WHOLE,
        last_sequence=WHOLE,
        opened_at=MOMENT,
        active_at=MOMENT,
        ended_at=maybe(MOMENT),
        consolidated_at=maybe(MOMENT),
        finalized_at=maybe(MOMENT),
        group=TEXT,
        result=FREE,
    ),
    "SessionPage": page_of("Session"),
    "AppendedTurns": record(
        stored=WHOLE,
        known=WHOLE,
        last_sequence=WHOLE,
        masked=list_of(record(sequence=WHOLE, kind=TEXT)),
    ),
    "EndedSession": record(session=ref("Session"), job_id=maybe(ID)),
    "DeletedSession": record(
        session_id=ID,
        turns=WHOLE,
        events=WHOLE,
        memories_deleted=WHOLE,
        memories_kept=WHOLE,
        given_back=WHOLE,
        deleted_at=MOMENT,
    ),
}


def create(ask: Ask) -> Answer:
    """Open a session, or find the one of that external id."""
    opened = open_session(caller=ask.caller, new=NewSession(**ask.body), now=ask.now)
    where = f"/api/v1/sessions/{opened.session.id}"
    status = 201 if opened.is_new else 200
    return Answer(status=status, body=asdict(opened.session), location=where)


def index(ask: Ask) -> Answer:
    """Return a page of sessions, the newest first."""
    page = sessions.sessions(
        caller=ask.caller,
        project=ask.query["project"],
        state=ask.query["state"],
        after=_place(ask.cursor),
        limit=ask.query["limit"],
    )
    last = page.next_place
    written = None if last is None else f"{last.opened_at.isoformat()}|{last.session_id}"
    return Answer(body={"items": [asdict(one) for one in page.items]}, next_cursor=written)


def look(ask: Ask) -> Answer:
    """Return one session."""
    return Answer(body=shown(sessions.session(caller=ask.caller, session_id=path_id(ask=ask))))


def append(ask: Ask) -> Answer:
    """Append turns to a session."""
    said = tuple(NewTurn(**one) for one in ask.body["turns"])
    done = append_turns(caller=ask.caller, session_id=path_id(ask=ask), turns=said, now=ask.now)
    return Answer(body=asdict(done))


def end(ask: Ask) -> Answer:
    """End a session."""
    ended = end_session(caller=ask.caller, session_id=path_id(ask=ask), now=ask.now)
    seconds = ask.query["wait"]
    session = ended.session
    if waiting.until_done(caller=ask.caller, job_id=ended.job_id, seconds=seconds):
        session = sessions.session(caller=ask.caller, session_id=session.id)
    return Answer(status=202, body={"session": shown(session), "job_id": ended.job_id})


def delete(ask: Ask) -> Answer:
    """Delete a session for good; answer with the receipt."""
    done = delete_session(
        caller=ask.caller,
        session_id=path_id(ask=ask),
        memories=Fate(ask.query["memories"]),
        now=ask.now,
    )
    return Answer(body=asdict(done))


def shown(session: SessionView) -> dict[str, Any]:
    """Return a session as callers see it."""
    return asdict(session)


def _place(inner: str | None) -> SessionPlace | None:
    if inner is None:
        return None
    moment, _, last = inner.partition("|")
    return SessionPlace(opened_at=datetime.fromisoformat(moment), session_id=UUID(last))


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="sessions",
        name="open_session",
        tag="sessions",
        summary="Open a session",
        says=(
            "One run of an agent or one conversation. It is yours alone unless it is shared with "
            "its project. Open sessions of the same agent and credential there end by it."
        ),
        scope=TokenScope.WRITE,
        run=create,
        body=NEW_SESSION,
        example={"project": "shop", "external_id": "run-41", "thread": "checkout"},
        idempotent=True,
        replies=(
            Reply(status=201, says="The session.", schema="Session", example=SESSION),
            Reply(status=200, says="The one of that external id.", schema="Session"),
        ),
    ),
    Endpoint(
        method="GET",
        path="sessions",
        name="list_sessions",
        tag="sessions",
        summary="List sessions",
        says="Your own, and those shared with a project of yours; the newest first.",
        scope=TokenScope.READ,
        run=index,
        query=(
            inputs.PROJECT,
            Field(name="state", shape=Text(largest=12, choices=STATES), says="Only in this state."),
        ),
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of sessions.",
                schema="SessionPage",
                example={"items": [SESSION], "next_cursor": None},
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="sessions/{id}",
        name="get_session",
        tag="sessions",
        summary="Look at one session",
        says="With what its consolidation came to, once it was consolidated.",
        scope=TokenScope.READ,
        run=look,
        replies=(Reply(status=200, says="The session.", schema="Session", example=SESSION),),
    ),
    Endpoint(
        method="POST",
        path="sessions/{id}/turns",
        name="append_turns",
        tag="sessions",
        summary="Append turns to a session",
        says=(
            "No model is asked. Secrets are taken out before anything is stored; `masked` says in "
            "which turn, and of which kind. A session that had ended is open again."
        ),
        scope=TokenScope.WRITE,
        run=append,
        body=Record(name="NewTurns", fields=(TURNS,)),
        example={"turns": [{"role": "user", "text": "We decided to deploy on Tuesdays only."}]},
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="How many are new, and how many were there already.",
                schema="AppendedTurns",
                example={"stored": 1, "known": 0, "last_sequence": 1, "masked": []},
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="sessions/{id}/end",
        name="end_session",
        tag="sessions",
        summary="End a session",
        says="Queues the job that takes what is worth keeping; `result` of the session tells it.",
        scope=TokenScope.WRITE,
        run=end,
        body=inputs.NOTHING,
        query=(waiting.WAIT,),
        idempotent=True,
        replies=(
            Reply(
                status=202,
                says="The session, and the job.",
                schema="EndedSession",
                example={"session": SESSION, "job_id": None},
            ),
        ),
    ),
    Endpoint(
        method="DELETE",
        path="sessions/{id}",
        name="delete_session",
        tag="sessions",
        summary="Delete a session for good",
        says=(
            "What was said and done in it, and what points back at it. Its opener may, and an "
            "admin in person one that is shared. Memories keep their text and lose their origin, "
            "or go too: those that came from it alone, still stand where it stands, and are "
            "neither pinned, verified by a person, nor in layer 1 or 2 (decisions and other rules)."
        ),
        scope=TokenScope.ADMIN,
        run=delete,
        query=(
            Field(
                name="memories",
                shape=Text(largest=8, choices=tuple(Fate)),
                says="What becomes of the memories that were taken from it.",
                default=Fate.KEEP.value,
            ),
        ),
        replies=(
            Reply(
                status=200,
                says="The receipt.",
                schema="DeletedSession",
                example={
                    "session_id": SESSION["id"],
                    "turns": 12,
                    "events": 0,
                    "memories_deleted": 0,
                    "memories_kept": 2,
                    "given_back": 1,
                    "deleted_at": "2026-11-20T12:00:00Z",
                },
            ),
        ),
    ),
)
