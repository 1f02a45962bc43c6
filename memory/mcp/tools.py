"""The tools an agent can hold in its head, and how their arguments are read."""

import json
from collections.abc import Mapping
from typing import Any, Final

from accounts.api import shapes
from accounts.api.shapes import Several
from memory.mcp.browsing import ABOUT_FILE, FIND_SIMILAR, GET_TIMELINE
from memory.mcp.checking import CHECK_DIFF, CHECK_PLAN
from memory.mcp.conflicts import CHECK_CONFLICTS
from memory.mcp.entities import GET_ENTITY_INFO
from memory.mcp.extraction import EXTRACT_FROM_CONVERSATION
from memory.mcp.finding import CONTEXT, SEARCH
from memory.mcp.history import SEARCH_HISTORY
from memory.mcp.keeping import ADD_MEMORY, GET, LIST_RECENT
from memory.mcp.notes import PUSH_NOTE
from memory.mcp.shapes import BANNER, Call, Tool
from memory.mcp.topics import LIST_TOPICS

__all__ = ["BANNER", "TOOLS", "Call", "Tool", "arguments"]

TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for tool in (
        SEARCH,
        CONTEXT,
        ABOUT_FILE,
        GET_ENTITY_INFO,
        FIND_SIMILAR,
        GET_TIMELINE,
        ADD_MEMORY,
        GET,
        LIST_RECENT,
        LIST_TOPICS,
        CHECK_CONFLICTS,
        CHECK_PLAN,
        CHECK_DIFF,
        EXTRACT_FROM_CONVERSATION,
        PUSH_NOTE,
        SEARCH_HISTORY,
    )
}


def arguments(*, tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked arguments of a tool. Raises InvalidInput with every fault.

    A list that a client sent as JSON text is taken for the list it is; some clients do that.
    """
    several_of = {part.name for part in tool.takes.fields if isinstance(part.shape, Several)}
    value = {
        name: _list_in(one) if name in several_of and isinstance(one, str) else one
        for name, one in given.items()
    }
    return dict(shapes.check(shape=tool.takes, value=value))


def _list_in(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
