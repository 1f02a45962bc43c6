"""Delete rows of memories for good, with all that repeats their words. In a unit of the caller."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import orjson

from accounts.audit import Actor
from accounts.messages import message
from memory import sql_queries
from memory.records import writes
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.sessions.models import GivenOut
from memory.taxonomy import LinkKind, Status
from memory.topics import actions as topics
from teams import changes

FILE: Final = "erasure/sql/erasure.sql"
REPLACEMENT_GONE: Final = message("what replaced it was deleted")
ORIGIN_GONE: Final = message("what it derives from was deleted")
GONE: Final = {  # what a repeated request is answered
    "type": "about:blank",
    "title": "Deleted",
    "status": 410,
    "detail": "What this request stored was deleted for good.",
    "code": "erased",
    "hint": "Send it with a new Idempotency-Key to store it again.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What went: how many memories and versions, copies that were emptied elsewhere; and to whom.

    `linked`: memories that one of them had a link with; `archived`: those that one of them had
    replaced; `derived`: those that derive from one of them and wait for a person now. They may be
    other people's.
    """

    memories: int = 0
    versions: int = 0
    copies: int = 0
    linked: frozenset[UUID] = frozenset()
    archived: frozenset[UUID] = frozenset()
    derived: frozenset[UUID] = frozenset()


def erase_rows(*, memory_ids: Iterable[UUID], actor: Actor, now: datetime) -> Erased:
    """Delete memories that are locked, and empty what repeats them elsewhere."""
    ids = tuple(memory_ids)
    if not ids:
        return Erased()
    archived = _archive_replaced(ids, actor, now)
    derived = _question_derived(ids, actor, now)
    versions = MemoryVersion.objects.filter(memory__in=ids).count()
    links = MemoryLink.objects.filter(source__in=ids) | MemoryLink.objects.filter(target__in=ids)
    linked = {one for pair in links.values_list("source_id", "target_id") for one in pair}
    sql_queries.execute("uncount_words", file=FILE, ids=list(ids))
    gone = orjson.dumps(GONE)
    names = [str(one) for one in ids]
    copies = sql_queries.execute("empty_answers", file=FILE, names=names, gone=gone)
    copies += sql_queries.execute("strip_verdicts", file=FILE, names=names)
    GivenOut.all_rows.filter(memory_id__in=ids).delete()
    changes.forget(object_ids=ids)
    Memory.objects.filter(pk__in=ids).delete()
    topics.queue()  # a topic is named by words of its memories
    return Erased(
        memories=len(ids),
        versions=versions,
        copies=copies,
        linked=frozenset(linked.difference(ids)),
        archived=archived,
        derived=derived,
    )


def strip_provenance(*, session_ids: tuple[UUID, ...]) -> int:
    """Have memories lose that they came from these sessions; return how many."""
    return sql_queries.execute(
        "strip_provenance",
        file=FILE,
        sessions=list(session_ids),
        origins=[f"session:{one}#%" for one in session_ids],
    )


def _archive_replaced(ids: tuple[UUID, ...], actor: Actor, now: datetime) -> frozenset[UUID]:
    """Archive what these replaced: it holds no longer, and nothing says any more what does."""
    replaced = Memory.objects.select_for_update().filter(superseded_by__in=ids)
    found = tuple(replaced.exclude(pk__in=ids).order_by("id"))
    for row in found:
        row.superseded_by, row.status = None, Status.ARCHIVED.value
        row.archived_reason = REPLACEMENT_GONE
        writes.save(row=row, fields=("superseded_by", "status", "archived_reason"), now=now)
    writes.announce(caller=actor, kind="memory.archived", rows=found)
    return frozenset(row.id for row in found)


def _question_derived(ids: tuple[UUID, ...], actor: Actor, now: datetime) -> frozenset[UUID]:
    """Let what derives from these wait for a person."""
    links = MemoryLink.objects.filter(target__in=ids, kind=LinkKind.DERIVE.value)
    derived = Memory.objects.select_for_update().filter(
        pk__in=links.values("source"), status=Status.ACTIVE.value
    )
    found = tuple(derived.exclude(pk__in=ids).order_by("id"))
    for row in found:
        row.stale_at, row.archived_reason = now, ORIGIN_GONE
        writes.save(row=row, fields=("stale_at", "archived_reason"), now=now)
    writes.announce(caller=actor, kind="memory.changed", rows=found)
    return frozenset(row.id for row in found)
