"""The tool that searches what was said in sessions, word for word."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from accounts.api.schemas import ID, MOMENT, TEXT, TRUTH, WHOLE, maybe, record, several
from accounts.api.shapes import Field, Identifier, Record, Text
from accounts.caller import TokenScope
from memory.mcp.shapes import BANNER, PROJECT, Call, Tool, limit
from memory.sessions.actions.open_session import LONGEST
from memory.sessions.queries import history
from memory.sessions.queries.history import HistoryQuestion, How
from memory.sessions.turns import Speaker

ROLE: Final = Text(largest=12, choices=tuple(speaker.value for speaker in Speaker))
ASKED: Final = (  # of a search in what was said
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
    PROJECT,
    Field(name="session", shape=Identifier(), says="Only in this session."),
    Field(
        name="thread",
        shape=Text(largest=LONGEST["thread"], smallest=1),
        says="Only in sessions of this thread.",
    ),
    Field(name="role", shape=ROLE, says="Only what this side said."),
)
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


def search(call: Call) -> dict[str, Any]:
    """Search what was said."""
    given = call.arguments
    asked = HistoryQuestion(
        query=given["query"],
        how=How(given["how"]),
        project=given["project"] or call.project,
        session_id=given["session"],
        thread=given["thread"],
        role=given["role"],
    )
    page = history.search_history(
        caller=call.caller,
        asked=asked,
        after=None,
        limit=given["limit"],
    )
    said = [asdict(one) for one in page.items]
    return {"notice": BANNER, "said": said, "has_more": page.next_place is not None}


SEARCH_HISTORY: Final = Tool(
    name="search_history",
    title="Search what was said in sessions, word for word",
    says=(
        "Finds turns of your own sessions and of shared ones that hold the words, the newest "
        "first. Use it to look up how something was said; use `search` for what is known."
    ),
    scope=TokenScope.READ,
    takes=Record(name="search_history", fields=(*ASKED, limit(default=10))),
    gives=record(notice=TEXT, said=several(SAID), has_more=TRUTH),
    run=search,
)
