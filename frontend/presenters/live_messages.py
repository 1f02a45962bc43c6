"""Live messages: changes of the feed with the fragments that show them.

The socket and the polling page send the same. A message says what changed and carries the rendered
feed line, and for a memory its row; whoever may not see a change never gets its message, because
both come through the visibility predicate.
"""

from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from accounts.caller import Caller
from accounts.errors import NotFound
from frontend.presenters import activity_feed, list_rows
from frontend.presenters.memory_list import Row
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.sessions.queries import sessions
from teams.queries import ChangeView, changes_since

PAGE: Final = 50  # messages a read
LONGEST_CURSOR: Final = 19  # digits of the largest id


def messages(*, caller: Caller, after: int, project: str | None) -> list[dict[str, Any]]:
    """Return the messages after a cursor, oldest first. Raises NotFound for a foreign project."""
    changes = changes_since(caller=caller, after=after, limit=PAGE, project=project)
    if not changes:
        return []
    entries = activity_feed.entries(caller=caller, changes=changes)
    ids = tuple({change.object_id for change in changes if change.kind.startswith("memory.")})
    found = memories.by_ids(caller=caller, memory_ids=ids, now=timezone.now()) if ids else {}
    return [
        _message(caller, change, entry, found.get(change.object_id))
        for change, entry in zip(changes, entries, strict=True)
    ]


def pulse(*, caller: Caller, session_id: UUID) -> str:
    """Return how far a session of an agent is, to be compared; empty for one not to be seen."""
    try:
        return sessions.pulse(caller=caller, session_id=session_id)
    except NotFound:
        return ""


def _message(
    caller: Caller, change: ChangeView, entry: activity_feed.Entry, memory: MemoryView | None
) -> dict[str, Any]:
    fragments: dict[str, str] = {"feed": list_rows.change(entry=entry, is_new=True)}
    if memory is not None and memory.project_slug:
        fragments["row"] = _row(caller, memory)
    return {
        "type": "change",
        "id": change.id,
        "kind": change.kind,
        "object": str(change.object_id),
        "html": fragments,
    }


def _row(caller: Caller, memory: MemoryView) -> str:
    row = Row(memory=memory)
    org, now = caller.organization_slug, timezone.now()
    return list_rows.memory(row=row, org=org, now=now, why=False)
