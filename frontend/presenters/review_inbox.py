"""The review inbox as a page shows it: groups, the list, the open item."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts.caller import Caller, TokenScope, may
from accounts.queries.directory import people
from frontend.labels import memory_labels, session_labels
from frontend.labels.memory_labels import Name, name_of
from frontend.presenters import conflict_card
from frontend.presenters.conflict_card import Card
from memory.documents.queries import imports
from memory.documents.queries.imports import ImportView
from memory.records.queries.pending import Group
from memory.records.queries.views import MemoryView
from memory.review.queries import inbox as reviews
from memory.review.queries import session_summary
from memory.review.queries.conflicts import ConflictView
from memory.review.queries.inbox import (
    InboxCounts,
    InboxItem,
    InboxPage,
    InboxPosition,
    WaitingMemory,
    WeeklyVerdicts,
)
from memory.review.queries.session_summary import MemoryOrigin
from memory.taxonomy import Scope
from teams.permissions import Act, allows

PAGE_SIZE: Final = 50  # rows at first, and more at a time
ROWS_MOST: Final = 500  # what lies behind is reached by deciding


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """A group with how many wait in it; `key` is empty for all of them."""

    key: str
    name: Name
    count: int
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """An import with how many of its memories wait for the reader."""

    view: ImportView
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The open item: who proposed it, what a reader may do, and what its payload says.

    `proof` is what it rests on in a session, None where that is gone or hidden; `signal` in words.
    """

    item: WaitingMemory
    author: str
    may_merge: bool
    details: tuple[tuple[str, str], ...]
    is_of_session: bool
    proof: MemoryOrigin | None
    signal: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """What the page shows; `decided` is what the week brought, when nothing waits.

    Open is a memory or a conflict (`card`). `together` can be decided about at once. With `batch`
    all of it is of one import.
    """

    group: Group | None
    batch: UUID | None
    tabs: tuple[Tab, ...]
    rows: tuple[InboxItem, ...]
    authors: dict[UUID, str]
    total: int
    together: int
    more: int
    counts: InboxCounts
    opened: Opened | None
    card: Card | None
    decided: WeeklyVerdicts | None
    may_decide: bool


def group_named(text: str) -> Group | None:
    """Return the group of an address, None for all of them."""
    return Group(text) if text in set(Group) else None


def read(
    *,
    caller: Caller,
    project: str,
    group: Group | None,
    batch: UUID | None,
    peek: UUID | ConflictView | None,
    now: datetime,
    most: int = PAGE_SIZE,
) -> Inbox:
    """Return the inbox with an item open: the memory or conflict asked for, else the first.

    At most `most` rows, the longest waiting first.

    Raises NotFound for a project, an import or an item that the caller cannot see.
    """
    imported = imports.imported_memories(caller=caller, batch_id=batch)
    counts = reviews.count_waiting(caller=caller, project=project, imported=imported, now=now)
    page = reviews.list_waiting(
        caller=caller,
        project=project,
        group=group,
        imported=imported,
        after=None,
        limit=min(most, ROWS_MOST),
        now=now,
    )
    first = next((one.conflict or one.memory.id for one in page.items), None)
    shown = peek or first
    names = _names(caller, tuple(one.memory for one in page.items))
    return Inbox(
        group=group,
        batch=batch,
        tabs=_tabs(counts, group),
        rows=page.items,
        authors={one.memory.id: _author(one.memory, names) for one in page.items},
        total=counts.total if group is None else counts.by_group[group],
        together=_together(counts, group),
        more=_more(page),
        counts=counts,
        opened=opened(caller=caller, memory_id=shown, now=now) if isinstance(shown, UUID) else None,
        card=conflict_card.of(caller=caller, views=(shown,))[0]
        if isinstance(shown, ConflictView)
        else None,
        decided=None
        if counts.total or batch
        else reviews.count_decided(caller=caller, project=project, now=now),
        may_decide=may_decide(caller=caller),
    )


def may_decide(*, caller: Caller) -> bool:
    """Say whether somebody decides at all; viewers read."""
    return may(caller=caller, scope=TokenScope.WRITE) and allows(role=caller.role, act=Act.CONFIRM)


def waiting(
    *, caller: Caller, project: str, group: Group | None, batch: UUID | None, now: datetime
) -> int:
    """Return how many memories wait in a group, or in all, maybe of an import. Raises NotFound."""
    imported = imports.imported_memories(caller=caller, batch_id=batch)
    counts = reviews.count_waiting(caller=caller, project=project, imported=imported, now=now)
    return _together(counts, group)


def opened(*, caller: Caller, memory_id: UUID, now: datetime) -> Opened:
    """Return one item with what a page says of it. Raises NotFound."""
    item = reviews.waiting_memory(caller=caller, memory_id=memory_id, now=now)
    is_own = item.memory.scope == Scope.PERSONAL
    proof = session_summary.find_origin(caller=caller, memory=item.memory)
    return Opened(
        item=item,
        is_of_session=session_summary.is_of_session(memory=item.memory),
        proof=proof,
        signal="" if proof is None else name_of(session_labels.SIGNALS, proof.signal),
        author=_author(item.memory, _names(caller, (item.memory,))),
        may_merge=is_own or allows(role=caller.role, act=Act.MERGE),
        details=tuple(
            (name.replace("_", " "), str(value))
            for name, value in item.memory.attributes.items()
            if isinstance(value, str | int | float)
        ),
    )


def next_of(*, inbox: Inbox, after: InboxPosition) -> InboxItem | None:
    """Return what stands behind what was just decided, else the first that waits."""
    rows = [one for one in inbox.rows if one.place.item_id != after.item_id]
    behind = (after.since, after.item_id)
    later = (one for one in rows if (one.place.since, one.place.item_id) > behind)
    return next(later, next(iter(rows), None))


def _more(page: InboxPage) -> int:
    """Return how many rows to show next, 0 where there are no more or too many."""
    shown = len(page.items)
    has_more = page.next_place is not None and shown < ROWS_MOST
    return min(shown + PAGE_SIZE, ROWS_MOST) if has_more else 0


def _together(counts: InboxCounts, group: Group | None) -> int:
    """Return how many can be decided about at once; conflicts are settled one by one."""
    if group is None:
        return counts.total - counts.by_group[Group.CONFLICTS]
    return 0 if group is Group.CONFLICTS else counts.by_group[group]


def _tabs(counts: InboxCounts, group: Group | None) -> tuple[Tab, ...]:
    every = Tab(key="", name=memory_labels.EVERY_GROUP, count=counts.total, is_open=group is None)
    return (
        every,
        *(
            Tab(
                key=one.value,
                name=memory_labels.REVIEW_GROUPS[one.value],
                count=counts.by_group[one],
                is_open=one is group,
            )
            for one in Group
        ),
    )


def _names(caller: Caller, memories: tuple[MemoryView, ...]) -> dict[UUID, str]:
    ids = {one.author_user for one in memories if one.author_user is not None}
    return dict(people(caller=caller, ids=ids)) if ids else {}


def _author(memory: MemoryView, names: dict[UUID, str]) -> str:
    person = names.get(memory.author_user, "") if memory.author_user else ""
    return memory.author_agent or person
