"""Read memories: one, a page of them, how one changed, and what it is related to."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from memory import sql_queries
from memory.customization import custom_type_rules
from memory.customization.queries import check_custom_types
from memory.index import queries as index_queries
from memory.records.filters import Filters, states_of
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.records.queries import views as memory_views
from memory.records.queries.views import FILE, MemoryView, countable, to_view, views_of, visible
from memory.taxonomy import MemoryType, Status
from memory.text import text as texts
from memory.topics import queries as topics_queries
from teams import queries as places
from teams import visibility

LARGEST_PAGE: Final = 200
FEW: Final = 1_000  # memories that a filter leaves and that are all looked at; not measured
AUDIENCE: Final = "audience"  # of a version: who could see it then
UNIQUE_COLUMNS: Final = ("id", "audience", "project_id", "type", "content_hash", "external_id")
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """Where a page starts: after this memory, in the order newest first."""

    created_at: datetime
    memory_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """Some memories, newest first, and where the next page starts.

    `sides`: what contradicts one of them, by its id.
    """

    items: tuple[MemoryView, ...]
    sides: memory_views.Sides
    next_cursor: Cursor | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionView:
    """What a memory said at some time."""

    number: int
    content: str
    fields: Mapping[str, Any]
    reason: str
    changed_by: UUID | None
    changed_agent: str
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkView:
    """A relation of a memory, seen from that memory."""

    kind: str
    outgoing: bool
    other_id: UUID
    citation: str
    type: str
    own_type: str
    confidence: float
    automatic: bool
    description: str

    @property
    def may_end(self) -> bool:
        """Say whether it can be taken back by itself."""
        return self.kind not in memory_views.BOUND


def get(*, caller: Caller, memory_id: UUID, now: datetime) -> MemoryView:
    """Return one memory. Raises NotFound, also for one the caller may not see."""
    with tenancy.unit():
        return to_view(find_memory(caller=caller, memory_id=memory_id), now=now)


def sides(*, caller: Caller, memory: MemoryView) -> tuple[memory_views.Contradiction, ...]:
    """Return what contradicts a memory, of what the caller may see: no side is shown alone."""
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        return memory_views.sides_of(views=(memory,), sight=sight).get(memory.id, ())


def get_together(
    *, caller: Caller, memory_id: UUID, now: datetime
) -> tuple[MemoryView, tuple[memory_views.Contradiction, ...]]:
    """Return one memory with what contradicts it. Raises NotFound as `get` does."""
    with tenancy.unit():
        view = get(caller=caller, memory_id=memory_id, now=now)
        return view, sides(caller=caller, memory=view)


def find_memory(*, caller: Caller, memory_id: UUID) -> Memory:
    """Return the row of a memory, for actions. Raises NotFound."""
    return _first(visible(caller=caller).filter(pk=memory_id))


def lock_memory(*, caller: Caller, memory_id: UUID) -> Memory:
    """Return the row of a memory as it is now, locked until the unit ends. Raises NotFound."""
    rows = visible(caller=caller).select_for_update(of=("self",))
    return _first(rows.filter(pk=memory_id))


def page(
    *, caller: Caller, filters: Filters, cursor: Cursor | None, limit: int, now: datetime
) -> MemoryPage:
    """Return at most `limit` memories, newest first, from the cursor on."""
    size = min(limit, LARGEST_PAGE)
    with tenancy.unit():
        rows = matching(caller=caller, filters=filters).order_by("-created_at", "id")
        if cursor is not None:
            later = Q(created_at=cursor.created_at, id__gt=cursor.memory_id)
            rows = rows.filter(Q(created_at__lt=cursor.created_at) | later)
        found = list(rows.values_list("id", flat=True)[: size + 1])
        seen = by_ids(caller=caller, memory_ids=tuple(found[:size]), now=now)
        sight = visibility.sight_of(caller=caller)
        beside = memory_views.sides_of(views=seen.values(), sight=sight)
    views = tuple(seen[key] for key in found[:size] if key in seen)
    following = None
    if len(found) > size:
        following = Cursor(created_at=views[-1].created_at, memory_id=views[-1].id)
    return MemoryPage(items=views, sides=beside, next_cursor=following)


def count(*, caller: Caller, filters: Filters) -> int:
    """Count the memories a filter lets through."""
    with tenancy.unit():
        return matching(caller=caller, filters=filters).count()


def by_ids(
    *, caller: Caller, memory_ids: tuple[UUID, ...], now: datetime
) -> Mapping[UUID, MemoryView]:
    """Return the visible ones of these memories, by id."""
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        return views_of(memory_ids=memory_ids, sight=sight, now=now)


def matching(*, caller: Caller, filters: Filters) -> QuerySet[Memory]:
    """Return the rows that a filter lets through. In a unit. Raises NotFound, InvalidInput."""
    words = (*filters.tags, *filters.files, *filters.modules, *filters.types, filters.author or "")
    if any(texts.check_text(text=word) for word in words):
        return Memory.objects.none()  # no memory has such words, and Postgres compares none
    check_custom_types(caller=caller, names=filters.types)
    rows = visible(caller=caller).filter(_condition(filters))
    project = None
    if filters.project is not None:
        project = places.find_project(caller=caller, ref=filters.project).id
        rows = rows.filter(project_id=project)
    few = _few(caller, filters, project)
    if few is not None:
        rows = rows.filter(id__in=few)
    if filters.topics:
        meant = topics_queries.named_by(caller=caller, refs=filters.topics)
        rows = rows.filter(topic_member__topic_id__in=meant)
    for file in filters.files:
        inside = Q(related_files__icontains=file.rstrip("*") if file.endswith("*") else file)
        rows = rows.filter(inside | Q(related_files__contains=[file]))
    return rows


def history(*, caller: Caller, memory_id: UUID) -> tuple[VersionView, ...]:
    """Return the versions of a memory, the present one first, each with who made it and why.

    What it said while it was shared with others is theirs: a note that became everybody's shows
    nobody what stood in it before.
    """
    with tenancy.unit():
        row = find_memory(caller=caller, memory_id=memory_id)
        ended = tuple(row.versions.order_by("-number", "id"))
        sight = visibility.sight_of(caller=caller)
    # who ended a version made the next one
    names = ("reason", "changed_by", "changed_agent", "changed_at")
    makers = [{name: getattr(one, name) for name in names} for one in ended]
    first = ("", row.author_user, row.author_agent, row.created_at)
    makers.append(dict(zip(names, first, strict=True)))
    return (
        VersionView(number=row.version, content=row.content, fields={}, **makers[0]),
        *(
            VersionView(number=one.number, content=one.content, fields=shown_fields(one), **maker)
            for one, maker in zip(ended, makers[1:], strict=True)
            if was_seen(version=one, sight=sight)
        ),
    )


def was_seen(*, version: MemoryVersion, sight: visibility.Sight) -> bool:
    """Say whether a version was for the eyes of someone with this sight."""
    return UUID(version.fields[AUDIENCE]) in sight.audiences


def shown_fields(version: MemoryVersion) -> dict[str, Any]:
    """Return the fields that a version keeps, without the id of its audience."""
    return {name: value for name, value in version.fields.items() if name != AUDIENCE}


def links(*, caller: Caller, memory_id: UUID) -> tuple[LinkView, ...]:
    """Return the relations of a memory whose other end the caller may see."""
    with tenancy.unit():
        row = find_memory(caller=caller, memory_id=memory_id)
        rows = MemoryLink.objects.filter(Q(source=row) | Q(target=row)).order_by("kind", "id")
        pairs = [
            (link, link.target_id if link.source_id == row.id else link.source_id) for link in rows
        ]
        others = {other for _, other in pairs}
        seen = {other.id: other for other in visible(caller=caller).filter(pk__in=others)}
    return tuple(
        LinkView(
            kind=link.kind,
            outgoing=link.source_id == row.id,
            other_id=other,
            citation=seen[other].citation,
            type=seen[other].type,
            own_type=custom_type_rules.named(tags=seen[other].tags),
            confidence=link.confidence,
            automatic=link.automatic,
            description=link.description,
        )
        for link, other in pairs
        if other in seen
    )


def memories_of_topic(
    *, caller: Caller, topic_id: UUID, limit: int, now: datetime
) -> tuple[MemoryView, ...]:
    """Return memories of a topic that the caller may see, the most central first."""
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        rows = sql_queries.filled(
            "of_topic",
            file=FILE,
            parts={"visible": visibility.as_sql(alias="k")},
            topic=topic_id,
            limit=limit,
            **visibility.parameters(sight=sight),
        )
        ids = tuple(row[0] for row in rows)
        views = views_of(memory_ids=ids, sight=sight, now=now)
    return tuple(views[one] for one in ids if one in views)


def count_by_custom_type(*, caller: Caller, names: tuple[str, ...]) -> Mapping[str, int]:
    """Count the active memories of some types that the caller may see, by name."""
    if not names:
        return {}
    marks = [custom_type_rules.mark(name=name) for name in names]
    sums = {
        f"of_{place}": Count("pk", filter=Q(tags__contains=[mark]))
        for place, mark in enumerate(marks)
    }
    with tenancy.unit():
        rows = countable(caller=caller).filter(status=Status.ACTIVE.value, tags__overlap=marks)
        found = rows.aggregate(**sums)
    return {name: found[f"of_{place}"] for place, name in enumerate(names)}


def _first(rows: QuerySet[Memory]) -> Memory:
    row = rows.exclude(status="deleted").first()
    if row is None:
        raise missing()
    return row


def missing() -> NotFound:
    """Return the refusal of a memory that is not there, or that the caller may not see."""
    return NotFound(
        detail="There is no such memory.",
        hint="It may have been deleted, or belong to a scope you cannot see.",
    )


def _condition(filters: Filters) -> Q:
    bounds = {
        "confidence__gte": filters.minimum_confidence,
        "confidence__lte": filters.maximum_confidence,
        "pinned": filters.pinned,
        "needs_review": filters.needs_review,
        "stale_at__isnull": None if filters.stale is None else not filters.stale,
        "tags__contains": list(filters.tags) or None,
        "related_modules__overlap": list(filters.modules) or None,
    }
    wanted = Q(**{name: value for name, value in bounds.items() if value is not None})
    wanted &= Q(status__in=filters.status) & ~Q(status="deleted")
    if filters.types:
        marks = _marks(filters)
        is_own = Q(tags__overlap=marks) if marks else Q()
        wanted &= Q(type__in=filters.types) | is_own
    if filters.author is not None:
        wanted &= Q(source_interface=filters.author) | Q(author_agent__iexact=filters.author)
    return wanted


def _marks(filters: Filters) -> list[str]:
    return [
        custom_type_rules.mark(name=name)
        for name in filters.types
        if custom_type_rules.is_own(name=name)
    ]


def _few(caller: Caller, filters: Filters, project: UUID | None) -> tuple[UUID, ...] | None:
    """Return the memories that a rare tag, module or state leaves, None where they are many.

    Without, Postgres goes through all memories from the newest on until it has a page of them.
    """
    modules = filters.modules if len(filters.modules) == 1 else ()
    marks = _marks(filters) if len(filters.types) == 1 else []
    facets = (
        *(("tag", tag) for tag in (*filters.tags, *marks)),
        *(("module", module) for module in modules),
        *(("is", state) for state in states_of(filters=filters).all_of),
    )
    if not facets:
        return None
    sight = visibility.sight_of(caller=caller)
    few = index_queries.list_holders(facets=facets, project=project, limit=FEW + 1, sight=sight)
    return few if len(few) <= FEW else None


def claim_of(*, row: Memory, version: MemoryVersion | None = None) -> frozenset[Key]:
    """Return what a memory has alone where it stands, or would have by saying a version again."""
    type, digest, name = row.type, row.content_hash, row.external_id
    if version is not None:
        type, name = version.fields.get("type", type), version.fields.get("external_id", name)
        digest = texts.content_hash(content=version.content)
    place: tuple[UUID, UUID | None] = (row.audience, row.project_id)
    keys = {(*place, "text", digest)} if type != MemoryType.EPISODE else set()
    return frozenset(keys | ({(*place, "name", name)} if name else set()))


class Taken:
    """Who has what in their places, as far as it was asked for, while memories come and change."""

    def __init__(self, *, wanted: Iterable[frozenset[Key]], leaving: Collection[UUID] = ()) -> None:
        """Look who has what is wanted, but for those that leave. In a unit."""
        keys = frozenset[Key]().union(*wanted)
        said, names = ({key[-1] for key in keys if key[-2] == kind} for kind in ("text", "name"))
        rows = Memory.objects.filter(
            Q(content_hash__in=said) | Q(external_id__in=names), status=Status.ACTIVE.value
        )
        self._owners: dict[Key, UUID] = {}
        for row in rows.only(*UNIQUE_COLUMNS).order_by("id"):
            if row.id not in leaving:
                self._owners |= dict.fromkeys(claim_of(row=row), row.id)

    def take(self, *, claims: Mapping[UUID, frozenset[Key]]) -> frozenset[UUID]:
        """Let memories have what they claim, and nothing else; return those that could.

        One after the other: of two that claim the same the first one has it.
        """
        fitting = set[UUID]()
        for id, keys in claims.items():
            if all(self._owners.get(key, id) == id for key in keys):
                others = {key: owner for key, owner in self._owners.items() if owner != id}
                self._owners = others | dict.fromkeys(keys, id)
                fitting.add(id)
        return frozenset(fitting)
