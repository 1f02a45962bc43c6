"""The tool that tells what memories are about."""

from typing import Any, Final

from accounts.api.schemas import ID, TEXT, WHOLE, maybe, record, several
from accounts.api.shapes import Record
from accounts.caller import TokenScope
from memory.mcp.shapes import BANNER, PROJECT, Call, Tool, limit
from memory.topics.queries import topics


def listed(call: Call) -> dict[str, Any]:
    """List topics, the largest first."""
    page = topics(
        caller=call.caller,
        project=call.arguments["project"] or call.project,
        after=None,
        limit=call.arguments["limit"],
    )
    found = [
        {
            "id": one.id,
            "topic": one.label,
            "words": list(one.words),
            "memories": one.memories,
            "project": one.project or None,
        }
        for one in page.items
    ]
    return {"notice": BANNER, "topics": found}


LIST_TOPICS: Final = Tool(
    name="list_topics",
    title="What the memories are about",
    says=(
        "The topics of the team's memories, the largest first, with how many memories each has. "
        "Use it to see what is known at all; `search` takes a topic in `topics`."
    ),
    scope=TokenScope.READ,
    takes=Record(name="list_topics", fields=(PROJECT, limit(default=20))),
    gives=record(
        notice=TEXT,
        topics=several(
            record(id=ID, topic=TEXT, words=several(TEXT), memories=WHOLE, project=maybe(TEXT))
        ),
    ),
    run=listed,
)
