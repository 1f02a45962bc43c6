"""What was said, over REST: read turn by turn, and searched verbatim."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Answer, Call, get
from accounts.api.schemas import Body, Choice, Identifier, Name, Page, PageQuery, Result, Sent
from memory.api.schemas.memories import ProjectPageQuery
from memory.sessions import queries as sessions
from memory.sessions.actions import append_turns
from memory.sessions.actions.lifecycle import LONGEST
from memory.sessions.queries import HistoryPlace, HistoryQuestion, How
from memory.sessions.turns import Speaker


class SpokenTurn(Body):
    """A turn that somebody sends, also over MCP."""

    role: Choice[Speaker] = Field(description="Who said it.")
    text: str = Field(
        max_length=append_turns.LONGEST_TURN,
        description="What was said. Secrets are taken out before it is stored.",
    )
    sequence: int | None = Field(
        None,
        ge=1,
        le=append_turns.LARGEST_SEQUENCE,
        description="Its place in the session; sending the same place again changes nothing.",
    )


class HistoryWords(Sent):
    """Which words are searched in what was said; also for tools."""

    query: Name = Field(
        max_length=sessions.LONGEST_QUERY,
        description="Words that were said; their case does not matter.",
    )
    how: Choice[How] = Field(
        How.WORDS,
        description=(
            "Whether the words may stand anywhere in a turn, or exactly so beside each other."
        ),
    )
    session: Identifier | None = Field(None, description="Only in this session.")
    thread: Name | None = Field(
        None, max_length=LONGEST["thread"], description="Only in sessions of this thread."
    )
    role: Choice[Speaker] | None = Field(None, description="Only what this side said.")

    def question(self, *, project: str | None) -> HistoryQuestion:
        """Return the value of it, in a project."""
        return HistoryQuestion(
            query=self.query,
            how=self.how,
            project=project,
            session_id=self.session,
            thread=self.thread,
            role=self.role,
        )


class HistoryQuery(HistoryWords, ProjectPageQuery):
    """Which words are searched in what was said, page by page."""


class Turn(Result):
    """What was said."""

    sequence: int
    role: str
    text: str
    masked: int
    at: datetime


class Said(Result):
    """A piece of a turn that holds what was searched."""

    session_id: UUID
    sequence: int
    role: str
    text: str
    start: int
    whole: int
    masked: int
    at: datetime
    thread: str
    project: str | None
    agent: str


@get("sessions/{id}/turns", tag="sessions", answer=Page[Turn])
def list_turns(call: Call, query: PageQuery) -> Answer:
    """Read what was said in a session.

    In its order, for as long as turns are kept. `masked` counts the secrets that were taken out of
    a turn. A page ends early where turns are very long.
    """
    page = sessions.turns(
        caller=call.caller, session_id=call.id, after=call.after(int) or 0, limit=query.limit
    )
    return Answer(page.items, following=page.next_after)


@get("history", tag="sessions", answer=Page[Said])
def search_history(call: Call, query: HistoryQuery) -> Answer:
    """Search what was said, verbatim.

    In your own sessions and those shared with a project of yours, the newest first. `text` is a
    piece of the turn: from its character `start` on, of `whole` characters.
    """
    page = sessions.search_history(
        caller=call.caller,
        asked=query.question(project=query.project),
        after=call.after(HistoryPlace),
        limit=query.limit,
    )
    return Answer(page.items, following=page.next_place)
