"""Memories as records of an export: every field, versions, links and topics, as far as one may see.

What stands in a record is decided in `memory.documents.formats.cairn`. A version that was another
audience's, a link to a memory that the caller may not see, and the name of a topic they could not
read are not in it.
"""

from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import RateLimited
from accounts.messages import message
from memory.documents.formats import cairn
from memory.documents.formats.cairn import FieldRule
from memory.records.filters import Filters
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.records.queries.memories import matching, shown_fields, was_seen
from memory.records.queries.views import countable
from memory.secrets import scanner
from memory.topics import queries as topics_queries
from memory.topics.models import TopicMember
from teams import visibility

PAGE: Final = 500
AT_ONCE: Final = 3  # exports an organization writes at once, each a connection; not measured
AGAIN_SECONDS: Final = 30  # until one of them may be done: 20,000 memories; not measured
LOCK_SPACE: Final = 0x0CA2  # of advisory locks, one a place; 0x0CA1 is the feed's
TOPICS: Final = 200  # names of topics looked up
WRITTEN: Final = tuple(
    name for name, (rule, _) in cairn.FIELDS.items() if rule is not FieldRule.LEFT
)
OF_USAGE: Final = frozenset({"access_count", "last_accessed_at"})
Record = dict[str, Any]


def count(*, caller: Caller, filters: Filters) -> int:
    """Count what an export would hold. Raises NotFound for a hidden project."""
    with tenancy.unit():
        return matching(caller=caller, filters=filters).count()


def records(*, caller: Caller, filters: Filters) -> Generator[Record, None, None]:
    """Yield the records of what a filter lets through, oldest first, without secrets.

    All of them are of one moment; a transaction is open from the first until the last, or until
    the iterator is closed. Raises NotFound for a hidden project, and RateLimited where as many as
    an organization may write at once are being written.
    """
    with tenancy.snapshot():
        _take_place()
        rows = matching(caller=caller, filters=filters).order_by("created_at", "id")
        labels = _labels(caller, filters.project)
        places = rows.values_list("created_at", "id")
        page = tuple(places[:PAGE])
        while page:
            for record in _page(caller, tuple(id for _, id in page), labels):
                yield _clean(record)
            created_at, id = page[-1]
            same = Q(created_at=created_at, id__gt=id)
            page = tuple(places.filter(Q(created_at__gt=created_at) | same)[:PAGE])


def _take_place() -> None:
    """Hold one of the places until the transaction ends, however it does. Raises RateLimited.

    The lock is the database's, so an export whose process died holds none.
    """
    if any(tenancy.holds(space=LOCK_SPACE + place) for place in range(AT_ONCE)):
        return
    raise RateLimited(
        detail=message("{count} exports of this organization are being written.", count=AT_ONCE),
        retry_after_seconds=AGAIN_SECONDS,
    )


def _page(caller: Caller, ids: tuple[UUID, ...], labels: Mapping[UUID, str]) -> tuple[Record, ...]:
    rows = {row.id: row for row in _rows(caller, ids)}
    links, versions = _links(caller, tuple(rows)), _versions(caller, tuple(rows))
    told = TopicMember.objects.filter(memory_id__in=rows).values_list("memory_id", "topic_id")
    topic = dict(told)
    successors = {row.superseded_by_id for row in rows.values() if row.superseded_by_id}
    seen = set(countable(caller=caller).filter(pk__in=successors).values_list("id", flat=True))
    found = []
    for id in ids:
        label = labels.get(topic.get(id, id))
        beside = {
            cairn.VERSIONS: versions[id],
            cairn.LINKS: links[id],
            cairn.TOPICS: [label] if label else [],
        }
        found.append({**_fields(rows[id], seen), **beside})
    return tuple(found)


def _rows(caller: Caller, ids: tuple[UUID, ...]) -> Iterator[Memory]:
    rows = countable(caller=caller).filter(pk__in=ids)
    yield from rows.select_related("project", "memoryusage").order_by("id")


def _fields(row: Memory, seen: set[UUID]) -> Record:
    usage = getattr(row, "memoryusage", None)
    told = {
        "project": row.project.slug if row.project else None,
        "superseded_by": row.superseded_by_id if row.superseded_by_id in seen else None,
        "access_count": usage.access_count if usage else 0,
        "last_accessed_at": usage.last_accessed_at if usage else None,
    }
    return {name: _plain(told[name] if name in told else getattr(row, name)) for name in WRITTEN}


def _links(caller: Caller, ids: tuple[UUID, ...]) -> dict[UUID, list[Record]]:
    visible = countable(caller=caller).order_by().values("id")
    rows = MemoryLink.objects.filter(source_id__in=ids, target_id__in=visible)
    found: dict[UUID, list[Record]] = defaultdict(list)
    for link in rows.order_by("kind", "target_id"):
        names = ("kind", "confidence", "automatic", "cosine", "description", "created_at")
        told = {name: _plain(getattr(link, name)) for name in names}
        found[link.source_id].append({"target": str(link.target_id), **told})
    return found


def _versions(caller: Caller, ids: tuple[UUID, ...]) -> dict[UUID, list[Record]]:
    sight = visibility.sight_of(caller=caller)
    found: dict[UUID, list[Record]] = defaultdict(list)
    rows = MemoryVersion.objects.filter(memory_id__in=ids).order_by("memory_id", "number")
    for version in rows:
        if not was_seen(version=version, sight=sight):
            continue
        names = ("number", "content", "reason", "changed_by", "changed_agent", "changed_at")
        told = {name: _plain(getattr(version, name)) for name in names}
        found[version.memory_id].append({**told, "fields": shown_fields(version)})
    return found


def _labels(caller: Caller, project: str | None) -> dict[UUID, str]:
    page = topics_queries.topics(caller=caller, project=project, after=None, limit=TOPICS)
    return {one.id: one.label for one in page.items}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _clean(record: Record) -> Record:
    """Return a record without what looks like a secret by the rules of today."""
    whole = "\n\n\n\n".join(cairn.texts_in(value=record))
    return _redacted(record) if scanner.find_secrets(text=whole) else record


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return scanner.without_secrets(text=value)
    if isinstance(value, Mapping):
        return {name: _redacted(inner) for name, inner in value.items()}
    return [_redacted(inner) for inner in value] if isinstance(value, list) else value
