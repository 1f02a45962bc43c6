"""The tool that tells what is known about a named thing."""

from typing import Any, Final

from accounts.api.schemas import TEXT, WHOLE, maybe, record, several
from accounts.api.shapes import Field, Record, Text, Truth
from accounts.caller import TokenScope
from memory.mcp.shapes import BANNER, MEMORY, NARROWING, Call, Tool, limit, narrowing, option, shown
from memory.search.entity_profile import TYPES, about, close_names_of


def profile(call: Call) -> dict[str, Any]:
    """Tell what is known about a thing."""
    found = about(
        caller=call.caller,
        name=call.arguments["name"],
        type=call.arguments["kind"],
        narrowing=narrowing(call=call),
        now=call.now,
    )
    thing = found.thing
    return {
        "notice": BANNER,
        "entity": None
        if thing is None
        else {
            "kind": thing.type,
            "name": thing.name,
            "aliases": list(thing.spellings),
            "memories": thing.memories,
            "read_by": "model" if found.is_only_read else "patterns",
        },
        "close": _close(call) if call.arguments["close"] else [],
        "neighbors": [one.name for one in found.neighbors],
        "results": [shown(view=one, sides=found.sides.get(one.id, ())) for one in found.memories],
    }


def _close(call: Call) -> list[dict[str, Any]]:
    """Return other names that are most likely the same thing, and why."""
    found = close_names_of(
        caller=call.caller,
        name=call.arguments["name"],
        type=call.arguments["kind"],
        narrowing=narrowing(call=call),
    )
    return [
        {"name": one.thing.name, "memories": one.thing.memories, "reason": one.reason}
        for one in found.suggestions
    ]


GET_ENTITY_INFO: Final = Tool(
    name="get_entity_info",
    title="What is known about a named thing",
    says=(
        "Everything known about one person, service, tool, error code or other name, in any "
        "spelling. Use it when you know the name; `search` when you know the question."
    ),
    scope=TokenScope.READ,
    takes=Record(
        name="get_entity_info",
        fields=(
            Field(
                name="name",
                shape=Text(largest=120, smallest=1),
                says="The name, such as AuthService or @maria.",
                required=True,
            ),
            option(name="kind", shape=Text(largest=12, choices=TYPES), says="What the thing is."),
            Field(
                name="close",
                shape=Truth(),
                says="Also tell other names that are most likely the same thing.",
                default=False,
            ),
            *NARROWING,
            limit(default=10),
        ),
    ),
    gives=record(
        notice=TEXT,
        entity=maybe(
            record(kind=TEXT, name=TEXT, aliases=several(TEXT), memories=WHOLE, read_by=TEXT)
        ),
        close=several(record(name=TEXT, memories=WHOLE, reason=TEXT)),
        neighbors=several(TEXT),
        results=several(MEMORY),
    ),
    run=profile,
)
