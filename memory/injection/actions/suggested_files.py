"""Which files a session was told of, and behind which of its events.

Those of the plan at its beginning are noted with the session; those of memories that it was given
follow from its ledger.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from django.db.models import Min

from memory.injection.queries import injections
from memory.injection.suggested_files_rules import Named
from memory.records.models import Memory
from memory.sessions.models import GivenOut, Session

KEPT: Final = "named"  # in what a session has shown
PLANNED: Final = ("always_read", "often_read")  # of a pattern that was given


def note(*, row: Session, paths: Iterable[str]) -> None:
    """Note on a held session which files its plan names now; the first time counts. In a unit."""
    before = (row.observed or {}).get(KEPT, {})
    reached = injections.reached(session_id=row.id).event
    row.observed = {**(row.observed or {}), KEPT: {**dict.fromkeys(paths, reached), **before}}
    row.save(update_fields=["observed"])


def named(*, row: Session) -> Named:
    """Return by file the last event of a session before it was named. In a unit."""
    given = GivenOut.objects.filter(session_id=row.id, after_event__isnull=False).order_by()
    firsts = given.values_list("memory_id").annotate(first=Min("after_event"))
    behind: dict[UUID, int] = dict(firsts)  # of several agents, and of one that forgot
    rows = Memory.objects.filter(pk__in=behind).order_by()
    found: dict[str, int] = dict((row.observed or {}).get(KEPT, {}))
    for memory_id, files, attributes in rows.values_list("id", "related_files", "attributes"):
        for path in (*files, *_planned(attributes)):
            found[path] = min(found.get(path, behind[memory_id]), behind[memory_id])
    return found


def _planned(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    lists = (attributes.get(name) or () for name in PLANNED)
    return tuple(path for paths in lists for path in paths if isinstance(path, str))
