"""The tools that ask without words: about a file, what is alike, what happened."""

from typing import Any, Final

from accounts.api.schemas import MOMENT, NUMBER, TEXT, maybe, record, several
from accounts.api.shapes import Field, Identifier, Moment, Record, Text
from accounts.caller import TokenScope
from memory.mcp.shapes import (
    BANNER,
    MEMORY,
    NARROWING,
    Call,
    Tool,
    limit,
    narrowing,
    option,
    shown,
)
from memory.search.lookups import Closeness, recall, similar, timeline
from memory.text.globs import LONGEST


def about(call: Call) -> dict[str, Any]:
    """Recall what is known about a file."""
    found = recall(
        caller=call.caller,
        path=call.arguments["path"],
        closeness=Closeness(call.arguments["closeness"]),
        narrowing=narrowing(call=call),
        now=call.now,
    )
    results = [
        {**shown(view=one, sides=found.sides.get(one.id, ())), "closeness": closeness}
        for one, closeness in found.items
    ]
    return {"notice": BANNER, "results": results}


def alike(call: Call) -> dict[str, Any]:
    """Find what is like a memory."""
    found = similar(
        caller=call.caller,
        memory_id=call.arguments["id"],
        narrowing=narrowing(call=call),
        now=call.now,
    )
    results = [
        {**shown(view=one, sides=found.sides.get(one.id, ())), "similarity": similarity}
        for one, similarity in found.items
    ]
    return {"notice": BANNER, "results": results, "degraded": list(found.degraded)}


def story(call: Call) -> dict[str, Any]:
    """Tell what happened, oldest first."""
    found = timeline(
        caller=call.caller,
        narrowing=narrowing(call=call),
        after=None,
        limit=call.arguments["limit"],
        now=call.now,
    )
    results = [
        {**shown(view=one, sides=found.sides.get(one.id, ())), "at": at} for one, at in found.items
    ]
    last = found.next_place
    return {"notice": BANNER, "results": results, "more_since": last[0] if last else None}


def _with(name: str, schema: Any) -> dict[str, Any]:
    return {**MEMORY, "properties": {**MEMORY["properties"], name: schema}}


ABOUT_FILE: Final = Tool(
    name="about_file",
    title="What is known about a file",
    says="What the team knows about a file: its traps and decisions. Call it before you edit one.",
    scope=TokenScope.READ,
    takes=Record(
        name="about_file",
        fields=(
            Field(
                name="path",
                shape=Text(largest=LONGEST, smallest=1),
                says="The file's path in the repository.",
                required=True,
            ),
            option(
                name="closeness",
                shape=Text(largest=8, choices=tuple(Closeness)),
                says="How far from it: the file, paths that end alike, or its folder.",
                default=Closeness.NAME.value,
            ),
            *NARROWING,
            limit(default=10),
        ),
    ),
    gives=record(notice=TEXT, results=several(_with("closeness", TEXT))),
    run=about,
)
FIND_SIMILAR: Final = Tool(
    name="find_similar",
    title="Find what is like a memory",
    says="Memories that are like one you have the id of: related cases, and doubles to merge.",
    scope=TokenScope.READ,
    takes=Record(
        name="find_similar",
        fields=(
            Field(name="id", shape=Identifier(), says="The memory's id.", required=True),
            *NARROWING,
            limit(default=8),
        ),
    ),
    gives=record(notice=TEXT, results=several(_with("similarity", NUMBER)), degraded=several(TEXT)),
    run=alike,
)
GET_TIMELINE: Final = Tool(
    name="get_timeline",
    title="Tell what happened",
    says=(
        "What happened and what was learned, oldest first. Use it to see how something came "
        "about. When there is more, ask again with `since` set to `more_since`."
    ),
    scope=TokenScope.READ,
    takes=Record(
        name="get_timeline",
        fields=(
            *NARROWING,
            option(name="since", shape=Moment(), says="Happened at that moment or later."),
            option(name="until", shape=Moment(), says="Happened before that moment."),
            limit(default=20),
        ),
    ),
    gives=record(notice=TEXT, results=several(_with("at", MOMENT)), more_since=maybe(MOMENT)),
    run=story,
)
