"""Delete rows of memories for good, with all that repeats their words. In a unit of the caller."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import orjson

from accounts.messages import message
from memory import sql_queries
from memory.index import queries as index_queries
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
    """How much went: memories, their versions and links, and copies that were emptied elsewhere.

    `archived`: memories that one of them had replaced; `derived`: memories that derive from one of
    them and wait for a person now.
    """

    memories: int = 0
    versions: int = 0
    links: int = 0
    copies: int = 0
    archived: int = 0
    derived: int = 0


def erase_rows(*, memory_ids: Iterable[UUID], now: datetime) -> Erased:
    """Delete memories that the caller has locked, and empty what repeats them elsewhere."""
    ids = tuple(memory_ids)
    if not ids:
        return Erased()
    archived = _archive_replaced(ids, now)
    derived = _question_derived(ids, now)
    versions = MemoryVersion.objects.filter(memory__in=ids).count()
    links = MemoryLink.objects.filter(source__in=ids) | MemoryLink.objects.filter(target__in=ids)
    linked = links.count()
    sql_queries.execute("uncount_words", file=FILE, ids=list(ids))
    copies = sql_queries.execute("empty_answers", file=FILE, ids=list(ids), gone=orjson.dumps(GONE))
    copies += sql_queries.execute("strip_verdicts", file=FILE, names=[str(one) for one in ids])
    GivenOut.all_rows.filter(memory_id__in=ids).delete()
    changes.forget(object_ids=ids)
    Memory.objects.filter(pk__in=ids).delete()
    index_queries.sync_filters(memory_ids=archived + derived)
    topics.queue()  # a topic is named by words of its memories
    return Erased(
        memories=len(ids),
        versions=versions,
        links=linked,
        copies=copies,
        archived=len(archived),
        derived=len(derived),
    )


def strip_provenance(*, session_ids: tuple[UUID, ...]) -> int:
    """Have memories lose that they came from these sessions; return how many."""
    return sql_queries.execute(
        "strip_provenance",
        file=FILE,
        sessions=list(session_ids),
        origins=[f"session:{one}#%" for one in session_ids],
    )


def _archive_replaced(ids: tuple[UUID, ...], now: datetime) -> tuple[UUID, ...]:
    """Archive what these replaced: it holds no longer, and nothing says any more what does."""
    replaced = Memory.objects.filter(superseded_by__in=ids).exclude(pk__in=ids)
    left = tuple(replaced.order_by("id").values_list("id", flat=True))
    Memory.objects.filter(pk__in=left).update(
        superseded_by=None,
        status=Status.ARCHIVED.value,
        archived_reason=REPLACEMENT_GONE,
        updated_at=now,
    )
    return left


def _question_derived(ids: tuple[UUID, ...], now: datetime) -> tuple[UUID, ...]:
    """Let what derives from these wait for a person."""
    derived = Memory.objects.filter(
        links_out__target__in=ids, links_out__kind=LinkKind.DERIVE.value, status=Status.ACTIVE.value
    ).exclude(pk__in=ids)
    left = tuple(derived.order_by("id").distinct().values_list("id", flat=True))
    Memory.objects.filter(pk__in=left).update(
        stale_at=now, archived_reason=ORIGIN_GONE, updated_at=now
    )
    return left
