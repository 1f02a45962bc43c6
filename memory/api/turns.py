"""What was said, over REST: read turn by turn, and searched verbatim."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import ID, MOMENT, TEXT, WHOLE, maybe, page_of, record
from accounts.api.shapes import Field, Identifier, Text, Whole
from accounts.caller import TokenScope
from memory.api import inputs
from memory.sessions.actions import append_turns
from memory.sessions.actions.open_session import LONGEST
from memory.sessions.queries import history
from memory.sessions.queries.history import HistoryPlace, HistoryQuestion, How
from memory.sessions.queries.sessions import turns
from memory.sessions.turns import Speaker

ROLE: Final = Text(largest=12, choices=tuple(speaker.value for speaker in Speaker))
SPOKEN: Final = (  # of a turn that somebody sends, also over MCP
    Field(name="role", shape=ROLE, says="Who said it.", required=True),
    Field(
        name="text",
        shape=Text(largest=append_turns.LONGEST_TURN),
        says="What was said. Secrets are taken out before it is stored.",
        required=True,
    ),
    Field(
        name="sequence",
        shape=Whole(smallest=1, largest=append_turns.LARGEST_SEQUENCE),
        says="Its place in the session; sending the same place again changes nothing.",
    ),
)
ASKED: Final = (  # of a search in what was said, also over MCP
    Field(
        name="query",
        shape=Text(largest=history.LONGEST_QUERY, smallest=1),
        says="Words that were said; their case does not matter.",
        required=True,
    ),
    Field(
        name="how",
        shape=Text(largest=8, choices=tuple(How)),
        says="Whether the words may stand anywhere in a turn, or exactly so beside each other.",
        default=How.WORDS.value,
    ),
    inputs.PROJECT,
    Field(name="session", shape=Identifier(), says="Only in this session."),
    Field(
        name="thread",
        shape=Text(largest=LONGEST["thread"], smallest=1),
        says="Only in sessions of this thread.",
    ),
    Field(name="role", shape=ROLE, says="Only what this side said."),
)
_TURN: Final[Mapping[str, Any]] = {
    "sequence": 1,
    "role": "user",
    "text": "We decided to deploy on Tuesdays only.",
    "masked": 0,
    "at": "2026-11-20T12:00:00Z",
}
SAID: Final[Mapping[str, Any]] = record(
    session_id=ID,
    sequence=WHOLE,
    role=TEXT,
    text=TEXT,
    start=WHOLE,
    whole=WHOLE,
    masked=WHOLE,
    at=MOMENT,
    thread=TEXT,
    project=maybe(TEXT),
    agent=TEXT,
)
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Turn": record(sequence=WHOLE, role=TEXT, text=TEXT, masked=WHOLE, at=MOMENT),
    "TurnPage": page_of("Turn"),
    "Said": SAID,
    "SaidPage": page_of("Said"),
}


def index(ask: Ask) -> Answer:
    """Return a page of a session's turns, in their order."""
    page = turns(
        caller=ask.caller,
        session_id=path_id(ask=ask),
        after=int(ask.cursor or 0),
        limit=ask.query["limit"],
    )
    written = None if page.next_after is None else str(page.next_after)
    return Answer(body={"items": [asdict(one) for one in page.items]}, next_cursor=written)


def search(ask: Ask) -> Answer:
    """Return a page of turns that hold some words, the newest first."""
    page = history.search_history(
        caller=ask.caller,
        asked=question(given=ask.query, project=None),
        after=_place(ask.cursor),
        limit=ask.query["limit"],
    )
    last = page.next_place
    written = None if last is None else f"{last.at.isoformat()}|{last.id}"
    return Answer(body={"items": [asdict(one) for one in page.items]}, next_cursor=written)


def question(*, given: Mapping[str, Any], project: str | None) -> HistoryQuestion:
    """Make the value of checked ASKED; `project` stands in when it names none."""
    return HistoryQuestion(
        query=given["query"],
        how=How(given["how"]),
        project=given["project"] or project,
        session_id=given["session"],
        thread=given["thread"],
        role=given["role"],
    )


def _place(inner: str | None) -> HistoryPlace | None:
    if inner is None:
        return None
    moment, _, last = inner.partition("|")
    return HistoryPlace(at=datetime.fromisoformat(moment), id=int(last))


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="sessions/{id}/turns",
        name="list_turns",
        tag="sessions",
        summary="Read what was said in a session",
        says=(
            "In its order, for as long as turns are kept. `masked` counts the secrets that were "
            "taken out of a turn. A page ends early where turns are very long."
        ),
        scope=TokenScope.READ,
        run=index,
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of turns.",
                schema="TurnPage",
                example={"items": [_TURN], "next_cursor": None},
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="history",
        name="search_history",
        tag="sessions",
        summary="Search what was said, verbatim",
        says=(
            "In your own sessions and those shared with a project of yours, the newest first. "
            "`text` is a piece of the turn: from its character `start` on, of `whole` characters."
        ),
        scope=TokenScope.READ,
        run=search,
        query=ASKED,
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of turns that hold it.",
                schema="SaidPage",
                example={
                    "items": [
                        {
                            "session_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1b11",
                            **_TURN,
                            "start": 1,
                            "whole": 38,
                            "thread": "checkout",
                            "project": "shop",
                            "agent": "claude-code",
                        }
                    ],
                    "next_cursor": None,
                },
            ),
        ),
    ),
)
