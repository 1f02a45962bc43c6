"""The tool that tells which memories contradict each other."""

from typing import Any, Final

from accounts.api.schemas import ID, MOMENT, TEXT, record, several
from accounts.api.shapes import Record
from accounts.caller import TokenScope
from memory.mcp.shapes import BANNER, MEMORY, PROJECT, Call, Tool, limit, shown
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictState, ConflictView


def listed(call: Call) -> dict[str, Any]:
    """List open conflicts, the newest first, each with both sides."""
    page = conflicts.list_conflicts(
        caller=call.caller,
        project=call.arguments["project"] or call.project,
        state=ConflictState.OPEN,
        after=None,
        limit=call.arguments["limit"],
        now=call.now,
    )
    return {"notice": BANNER, "conflicts": [_told(one) for one in page.items]}


def _told(view: ConflictView) -> dict[str, Any]:
    return {
        "id": view.id,
        "older": shown(view=view.older),
        "newer": shown(view=view.newer),
        "cause": view.cause,
        "found_at": view.found_at,
        "may_settle": tuple(verdict.value for verdict in view.rights.allowed()),
    }


CHECK_CONFLICTS: Final = Tool(
    name="check_conflicts",
    title="What contradicts itself",
    says=(
        "Pairs of the team's memories that contradict each other and wait for a person, each with "
        "both sides. Look before you rely on one of them, and say which one you went by. People "
        "settle them, not agents: `may_settle` is empty unless your credential decides."
    ),
    scope=TokenScope.READ,
    takes=Record(name="check_conflicts", fields=(PROJECT, limit(default=20))),
    gives=record(
        notice=TEXT,
        conflicts=several(
            record(
                id=ID,
                older=MEMORY,
                newer=MEMORY,
                cause=TEXT,
                found_at=MOMENT,
                may_settle=several(TEXT),
            )
        ),
    ),
    run=listed,
)
