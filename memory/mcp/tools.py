"""The tools an agent can hold in its head, in the order in which they are offered."""

from collections.abc import Mapping
from typing import Final

from memory.mcp import browsing, checking, finding, keeping
from memory.mcp.declaration import Tool

TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for tool in (
        finding.search,
        finding.context,
        browsing.about_file,
        browsing.get_entity_info,
        browsing.find_similar,
        browsing.get_timeline,
        keeping.add_memory,
        browsing.get,
        browsing.list_recent,
        browsing.list_topics,
        checking.check_conflicts,
        checking.check_plan,
        checking.check_diff,
        keeping.extract_from_conversation,
        keeping.push_note,
        finding.search_history,
    )
}
