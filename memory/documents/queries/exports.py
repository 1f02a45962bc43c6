"""Memories as records of an export: every field, versions, links and topics, as far as one may see.

What stands in a record is decided in `memory.documents.formats.cairn`. A version that was another
audience's, a link to a memory that the caller may not see, and the name of a topic they could not
read are not in it.
"""

from collections.abc import Generator, Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from django.db.models import Model, Q

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import RateLimited
from accounts.messages import message
from memory.documents.formats import cairn
from memory.documents.formats.cairn import FieldRule
from memory.records import versions as versions_of
from memory.records.filters import Filters
from memory.records.models import MemoryLink, MemoryVersion
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
OF_OTHERS: Final = ("project", "superseded_by", "access_count", "last_accessed_at")
ORDER: Final = tuple(name for name, (rule, _) in cairn.FIELDS.items() if rule is not FieldRule.LEFT)
WRITTEN: Final = tuple(name for name in ORDER if name not in OF_OTHERS)
OF_LINKS: Final = ("kind", "confidence", "automatic", "cosine", "description", "created_at")
OF_VERSIONS: Final = (
    "number", "content", "reason", "changed_by", "changed_agent", "changed_at",
)  # fmt: skip
Record = dict[str, Any]


def count(*, caller: Caller, filters: Filters) -> int:
    """Count what an export would hold. Raises NotFound for a hidden project."""
    with tenancy.unit():
        return matching(caller=caller, filters=filters).count()


def records(*, caller: Caller, filters: Filters) -> Generator[Record, None, None]:
    """Yield the records of what a filter lets through, oldest first, without secrets.

    All of them are of one moment; a transaction is open from the first until the last, or until
    the iterator is closed. Raises NotFound for a hidden project, and RateLimited where as many as
    an organization may write at once are being written: each holds a lock of the database, so an
    export whose process died holds none.
    """
    with tenancy.snapshot():
        if not any(tenancy.holds(space=LOCK_SPACE + place) for place in range(AT_ONCE)):
            raise RateLimited(
                detail=message("{count} exports of this organization are being written.",
                               count=AT_ONCE),
                retry_after_seconds=AGAIN_SECONDS,
            )  # fmt: skip
        rows = matching(caller=caller, filters=filters).order_by("created_at", "id")
        named = topics_queries.topics(
            caller=caller, project=filters.project, after=None, limit=TOPICS
        )
        labels = {one.id: one.label for one in named.items}
        places = rows.values_list("created_at", "id")
        page = tuple(places[:PAGE])
        while page:
            for record in _page(caller, tuple(id for _, id in page), labels):
                yield _clean(record)
            created_at, id = page[-1]
            same = Q(created_at=created_at, id__gt=id)
            page = tuple(places.filter(Q(created_at__gt=created_at) | same)[:PAGE])


def _page(caller: Caller, ids: tuple[UUID, ...], labels: Mapping[UUID, str]) -> tuple[Record, ...]:
    seen = countable(caller=caller)
    found = seen.filter(pk__in=ids).select_related("project", "memoryusage").order_by("id")
    rows = {row.id: row for row in found}
    topics = TopicMember.objects.filter(memory_id__in=rows).values_list("memory_id", "topic_id")
    topic = dict(topics)
    replaced_by = {row.superseded_by_id for row in rows.values() if row.superseded_by_id}
    successors = set(seen.filter(pk__in=replaced_by).values_list("id", flat=True))
    beside: dict[UUID, Record] = {id: {cairn.VERSIONS: [], cairn.LINKS: []} for id in ids}
    links = MemoryLink.objects.filter(
        source_id__in=rows, target_id__in=seen.order_by().values("id")
    )
    for link in links.order_by("kind", "target_id"):
        told = {"target": str(link.target_id), **_fields(link, OF_LINKS)}
        beside[link.source_id][cairn.LINKS].append(told)
    sight = visibility.sight_of(caller=caller)
    versions = MemoryVersion.objects.filter(memory_id__in=rows).order_by("memory_id", "number")
    for version in versions:
        if was_seen(version=version, sight=sight):
            told = {**_fields(version, OF_VERSIONS), "fields": shown_fields(version)}
            beside[version.memory_id][cairn.VERSIONS].append(told)
    records = []
    for id in ids:
        row, label = rows[id], labels.get(topic.get(id, id))
        usage = getattr(row, "memoryusage", None)
        superseded_by = row.superseded_by_id if row.superseded_by_id in successors else None
        record = {
            **_fields(row, WRITTEN),
            "project": row.project.slug if row.project else None,
            "superseded_by": versions_of.plain(value=superseded_by),
            "access_count": usage.access_count if usage else 0,
            "last_accessed_at": versions_of.plain(value=usage.last_accessed_at) if usage else None,
            **beside[id],
            cairn.TOPICS: [label] if label else [],
        }
        records.append({name: record[name] for name in (*ORDER, *cairn.BESIDE)})
    return tuple(records)


def _fields(row: Model, names: Iterable[str]) -> Record:
    return {name: versions_of.plain(value=getattr(row, name)) for name in names}


def _clean(record: Record) -> Record:
    """Return a record without what looks like a secret by the rules of today."""
    whole = "\n\n\n\n".join(cairn.texts_in(value=record))
    redacted: Record = _redacted(record) if scanner.find_secrets(text=whole) else record
    return redacted


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return scanner.without_secrets(text=value)
    if isinstance(value, Mapping):
        return {name: _redacted(inner) for name, inner in value.items()}
    return [_redacted(inner) for inner in value] if isinstance(value, list) else value
