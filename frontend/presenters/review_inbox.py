"""The review inbox as a page shows it: groups, the list, the open item; and a conflict.

What a reader may not do about a conflict is shown as well, switched off, with who can do it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from accounts.caller import Caller, TokenScope, may
from accounts.queries import people
from frontend import labels
from frontend.labels import Name
from memory.documents import queries
from memory.documents.queries import ImportView
from memory.records.queries.pending import Group
from memory.records.queries.views import MemoryView
from memory.review.queries import inbox as reviews
from memory.review.queries.conflicts import REOPEN, Bar, ConflictVerdict, ConflictView
from memory.review.queries.inbox import InboxCounts, InboxItem, InboxPosition
from memory.taxonomy import Scope
from teams.permissions import Act, allows

PAGE_SIZE: Final = 50  # rows at first, and more at a time
ROWS_MOST: Final = 500  # what lies behind is reached by deciding
SESSIONS: Final = 6  # of which something waits, beside the list
BATCHES: Final = 12  # imports beside the list
CAUSES: Final = labels.names("causes")
OPTIONS: Final[Mapping[ConflictVerdict, tuple[Name, str]]] = {  # what is offered, and its key
    ConflictVerdict.KEEP_OLDER: (_("Keep the older one"), "1"),
    ConflictVerdict.KEEP_NEWER: (_("Keep the newer one"), "2"),
    ConflictVerdict.BOTH: (_("Both are true, each in its own case"), "b"),
    ConflictVerdict.EDIT: (_("Neither: write what is right"), "e"),
}
ENDED: Final[Mapping[str, Name]] = {
    ConflictVerdict.KEEP_OLDER.value: _("The older one was kept."),
    ConflictVerdict.KEEP_NEWER.value: _("The newer one was kept."),
    ConflictVerdict.BOTH.value: _("Both are true, each in its own case."),
    ConflictVerdict.EDIT.value: _("Another text took the place of both."),
}
WHO: Final[Mapping[Bar, Name]] = {
    Bar.VIEWER: _("Viewers read. Members and above decide."),
    Bar.AGENT: _("People decide, not agents."),
    Bar.OVER: _("This conflict is over: it was settled, or a memory has left."),
    Bar.OPEN: _("This conflict is open: there is nothing to take back."),
    Bar.OWN: _(
        "You wrote one of the two, so you may only withdraw it. Stewards, admins and owners who "
        "wrote neither decide; whoever wrote the other one may withdraw that."
    ),
    Bar.STEWARD: _("Stewards, admins and owners decide. Who wrote one of the two may withdraw it."),
    Bar.PERSONAL: _(
        "A personal memory does not take the place of one that others see. Share it first."
    ),
}
WHO_REOPENS: Final = _("Whoever settled it takes it back, or a steward, admin or owner.")


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxFilter:
    """To what the inbox is narrowed, a group or an import, and how many rows it shows."""

    group: Group | None
    batch: UUID | None
    rows: int = 0

    @property
    def query(self) -> str:
        """The end of an address that keeps all of it."""
        asked = {"import": self.batch, "rows": self.rows}
        narrowed = {name: str(value) for name, value in asked.items() if value}
        return urlencode({"group": self.group.value if self.group else "", **narrowed})

    def context(self) -> dict[str, str]:
        """Return the variables that templates make addresses of."""
        group = self.group.value if self.group else ""
        return {"group": group, "batch": str(self.batch or ""), "kept": self.query}


def _open_item(
    caller: Caller, peek: UUID | ConflictView | None, following: InboxItem | None, now: datetime
) -> dict[str, Any]:
    """Return the memory or the conflict that is open: what was asked for, else what follows."""
    if peek is None and following is not None:
        peek = following.conflict or following.memory.id
    memory = card = None
    if isinstance(peek, UUID):
        memory = opened(caller=caller, memory_id=peek, now=now)
    elif peek is not None:
        card = cards(caller=caller, views=(peek,))[0]
    return {"opened": memory, "card": card}


def read(
    *,
    caller: Caller,
    project: str,
    narrowed: InboxFilter,
    peek: UUID | ConflictView | None,
    behind: InboxPosition | None = None,
    now: datetime,
) -> dict[str, Any]:
    """Return what the page shows, with an item open.

    That is the memory or conflict asked for, else what waits behind what was just decided, else
    the first. Rows come the longest waiting first. Raises NotFound for a project, an import or an
    item that the caller cannot see.
    """
    group, batch = narrowed.group, narrowed.batch
    imported = queries.imported_memories(caller=caller, batch_id=batch)
    counts = reviews.count_waiting(caller=caller, project=project, imported=imported, now=now)
    page = reviews.list_waiting(
        caller=caller,
        project=project,
        group=group,
        imported=imported,
        after=None,
        limit=narrowed.rows or PAGE_SIZE,
        now=now,
    )
    rows = page.items
    names = people(caller=caller, ids=(one.memory.author_user for one in rows))
    groups = labels.REVIEW_GROUPS
    tabs = [(one.value, groups[one.value], counts.by_group[one]) for one in Group]
    has_more = page.next_place is not None and len(rows) < ROWS_MOST
    return {
        "inbox": {
            "batch": batch,
            "tabs": [("", labels.EVERY_GROUP, counts.total), *tabs],
            "rows": rows,
            "authors": {one.memory.id: _author(one.memory, names) for one in rows},
            "total": counts.total if group is None else counts.by_group[group],
            "decidable": _decidable(counts, group),
            "more": min(len(rows) + PAGE_SIZE, ROWS_MOST) if has_more else 0,
            "counts": counts,
            "decided": None
            if counts.total or batch
            else reviews.count_decided(caller=caller, project=project, now=now),
        },
        **_open_item(caller, peek, _next_item(rows, behind), now),
        "may_decide": may_decide(caller=caller),
        **narrowed.context(),
        "batches": _batches(caller, project, narrowed, counts, now),
        "of_sessions": _sessions(caller, project, narrowed, counts, now),
    }


def may_decide(*, caller: Caller) -> bool:
    """Say whether somebody decides at all; viewers read."""
    return may(caller=caller, scope=TokenScope.WRITE) and allows(role=caller.role, act=Act.CONFIRM)


def count_decidable(*, caller: Caller, project: str, narrowed: InboxFilter, now: datetime) -> int:
    """Return how many memories of what is shown can be decided about at once. Raises NotFound."""
    imported = queries.imported_memories(caller=caller, batch_id=narrowed.batch)
    counts = reviews.count_waiting(caller=caller, project=project, imported=imported, now=now)
    return _decidable(counts, narrowed.group)


def opened(*, caller: Caller, memory_id: UUID, now: datetime) -> dict[str, Any]:
    """Return one item: who proposed it, what a reader may do, on what it rests. Raises NotFound.

    `proof` is what it rests on in a session, None where that is gone or hidden.
    """
    item = reviews.waiting_memory(caller=caller, memory_id=memory_id, now=now)
    memory = item["memory"]
    return {
        "item": item,
        "author": _author(memory, people(caller=caller, ids=(memory.author_user,))),
        "may_merge": memory.scope == Scope.PERSONAL or allows(role=caller.role, act=Act.MERGE),
        "details": tuple(
            (name.replace("_", " "), str(value))
            for name, value in memory.attributes.items()
            if isinstance(value, str | int | float)
        ),
        "is_of_session": reviews.is_of_session(memory=memory),
        "proof": reviews.find_origin(caller=caller, memory=memory),
    }


def _next_item(rows: tuple[InboxItem, ...], behind: InboxPosition | None) -> InboxItem | None:
    """Return what stands behind what was just decided, else the first that waits."""
    if behind is None:
        return next(iter(rows), None)
    others = [one for one in rows if one.place.item_id != behind.item_id]
    decided = (behind.since, behind.item_id)
    later = (one for one in others if (one.place.since, one.place.item_id) > decided)
    return next(later, next(iter(others), None))


def _decidable(counts: InboxCounts, group: Group | None) -> int:
    """Return how many can be decided about at once; conflicts are settled one by one."""
    if group is None:
        return counts.total - counts.by_group[Group.CONFLICTS]
    return 0 if group is Group.CONFLICTS else counts.by_group[group]


def _batches(
    caller: Caller, project: str, narrowed: InboxFilter, counts: InboxCounts, now: datetime
) -> tuple[tuple[ImportView, int], ...]:
    """Return the newest imports of which something waits, and the one that is shown."""
    batch = narrowed.batch
    if narrowed.group is not Group.IMPORTS and batch is None:
        return ()
    found = tuple(
        queries.list_waiting_imports(caller=caller, project=project, limit=BATCHES, now=now)
    )
    if batch is None or any(view.id == batch for view, _count in found):
        return found
    return ((queries.get_import(caller=caller, batch_id=batch, now=now), counts.total), *found)


def _sessions(
    caller: Caller, project: str, narrowed: InboxFilter, counts: InboxCounts, now: datetime
) -> tuple[dict[str, Any], ...]:
    """Return the newest sessions of which something waits; each is decided about on its page."""
    if narrowed.batch is not None or not counts.total:
        return ()
    return reviews.waiting_sessions(caller=caller, project=project, limit=SESSIONS, now=now)


def _author(memory: MemoryView, names: Mapping[UUID | None, str]) -> str:
    return memory.author_agent or names.get(memory.author_user, "")


def cards(*, caller: Caller, views: tuple[ConflictView, ...]) -> list[dict[str, Any]]:
    """Return conflicts that the caller sees, with what a page says of each."""
    sides = [side for view in views for side in (view.older, view.newer)]
    named = (*(side.author_user for side in sides), *(view.settled_by for view in views))
    names = people(caller=caller, ids=named)
    return [_card(view, names) for view in views]


def _card(view: ConflictView, names: Mapping[UUID | None, str]) -> dict[str, Any]:
    """Return one conflict with what a page says of it.

    An option is a verdict with its name and key, and the bar that keeps the reader from it, empty
    where they may; `whys` says what each bar means. `reopen_why` is empty where they may reopen.
    """
    bars = {verdict: view.barred[verdict] for verdict in ConflictVerdict}
    reopen = view.barred[REOPEN]
    return {
        "view": view,
        "older_by": _writer(view.older, names),
        "newer_by": _writer(view.newer, names),
        "settled_by": names.get(view.settled_by, ""),
        "cause": CAUSES.get(view.cause, view.cause),
        "options": [(verdict.value, *OPTIONS[verdict], bar.value) for verdict, bar in bars.items()],
        "whys": {bar.value: WHO[bar] for bar in bars.values() if bar},
        "may_settle": not all(bars.values()),
        "may_edit": not bars[ConflictVerdict.EDIT],
        "reopen_why": WHO_REOPENS if reopen is Bar.STEWARD else WHO[reopen] if reopen else "",
        "ended": ENDED.get(view.verdict, ""),
    }


def _writer(side: MemoryView, names: Mapping[UUID | None, str]) -> str:
    return " · ".join(filter(None, (side.author_agent, names.get(side.author_user))))
