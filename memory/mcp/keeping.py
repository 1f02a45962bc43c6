"""The tools that keep and read single memories: add_memory, get, list_recent."""

from typing import Any, Final
from uuid import UUID

from accounts.api.schemas import ID, TEXT, maybe, record, several
from accounts.api.shapes import Field, Identifier, Record, Text
from accounts.caller import TokenScope
from memory.errors import RefusedByGate
from memory.intake.actions.remember import NewMemory, remember
from memory.mcp.shapes import (
    BANNER,
    MEMORY,
    PROJECT,
    TYPE,
    WORDS,
    Call,
    Tool,
    limit,
    shown,
    types,
)
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.taxonomy import Source


def add(call: Call) -> dict[str, Any]:
    """Remember one statement. Raises RefusedByGate."""
    given = dict(call.arguments)
    new = NewMemory(
        **{**given, "project": given["project"] or call.project},
        source=Source.AGENT_EXPLICIT.value,
    )
    outcome = remember(caller=call.caller, new=new, now=call.now)
    if outcome.memory is None:
        raise RefusedByGate(gate=outcome.gate, detail=outcome.reason, hint=outcome.hint)
    return {
        "notice": BANNER,
        "outcome": outcome.outcome,
        "reason": outcome.reason,
        "memory": shown(view=outcome.memory),
        "operation": outcome.operation,
        "related_id": outcome.related_id,
        "conflict_id": outcome.conflict_id,
    }


def get(call: Call) -> dict[str, Any]:
    """Read one memory."""
    memory_id: UUID = call.arguments["id"]
    view, sides = memories.get_together(caller=call.caller, memory_id=memory_id, now=call.now)
    return {"notice": BANNER, "memory": shown(view=view, sides=sides)}


def list_recent(call: Call) -> dict[str, Any]:
    """Read the newest memories."""
    given = call.arguments
    page = memories.page(
        caller=call.caller,
        filters=Filters(project=given["project"] or call.project, types=given["types"]),
        cursor=None,
        limit=given["limit"],
        now=call.now,
    )
    return {
        "notice": BANNER,
        "results": [shown(view=view, sides=page.sides.get(view.id, ())) for view in page.items],
    }


ADD_MEMORY: Final = Tool(
    name="add_memory",
    title="Remember for the team",
    says=(
        "Keep one thing worth knowing next time: a decision and why, a trap, the fix of an "
        "error, a convention, an approach that failed. One statement a call, understandable "
        "without this conversation, no secrets. Known things are confirmed, not stored twice."
    ),
    scope=TokenScope.WRITE,
    takes=Record(
        name="add_memory",
        fields=(
            Field(
                name="content",
                shape=Text(largest=100_000, smallest=1),
                says="The statement, 20 to 20,000 characters.",
                required=True,
            ),
            Field(name="type", shape=TYPE, says="What it is; found by itself when left out."),
            PROJECT,
            Field(name="tags", shape=WORDS, says="A few words to find it by.", default=()),
            Field(name="related_files", shape=WORDS, says="Paths it is about.", default=()),
            Field(
                name="external_id",
                shape=Text(largest=200),
                says="Your own id for it, unique in the project; sending it again updates it.",
                default="",
            ),
        ),
    ),
    gives=record(
        notice=TEXT,
        outcome=TEXT,
        reason=TEXT,
        memory=MEMORY,
        operation=TEXT,
        related_id=maybe(ID),
        conflict_id=maybe(ID),
    ),
    run=add,
    is_idempotent=False,
)
GET: Final = Tool(
    name="get",
    title="Read one memory",
    says="Read one memory in full when you have its id, for instance from a citation.",
    scope=TokenScope.READ,
    takes=Record(
        name="get",
        fields=(Field(name="id", shape=Identifier(), says="The memory's id.", required=True),),
    ),
    gives=record(notice=TEXT, memory=MEMORY),
    run=get,
)
LIST_RECENT: Final = Tool(
    name="list_recent",
    title="List recent memories",
    says="See what was remembered last, newest first. Use it to catch up when a session begins.",
    scope=TokenScope.READ,
    takes=Record(
        name="list_recent",
        fields=(PROJECT, limit(default=10), types(says="Only these types of memory.")),
    ),
    gives=record(notice=TEXT, results=several(MEMORY)),
    run=list_recent,
)
