"""The tool that searches what was said in sessions, word for word."""

from dataclasses import asdict
from typing import Any, Final

from accounts.api.schemas import TEXT, TRUTH, record, several
from accounts.api.shapes import Record
from accounts.caller import TokenScope
from memory.api import turns
from memory.mcp.shapes import BANNER, Call, Tool, limit
from memory.sessions.queries import history


def search(call: Call) -> dict[str, Any]:
    """Search what was said."""
    page = history.search_history(
        caller=call.caller,
        asked=turns.question(given=call.arguments, project=call.project),
        after=None,
        limit=call.arguments["limit"],
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
    takes=Record(name="search_history", fields=(*turns.ASKED, limit(default=10))),
    gives=record(notice=TEXT, said=several(turns.SAID), has_more=TRUTH),
    run=search,
)
