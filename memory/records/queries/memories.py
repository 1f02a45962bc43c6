"""Read memories: one, a page of them, how one changed, and what it is related to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from memory import sql_queries
from memory.customization import custom_type_rules
from memory.customization.queries import check_custom_types
from memory.index.sql import search_rows
from memory.records.filters import Filters, states_of
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.records.queries import relations
from memory.records.queries.relations import Contradiction, Sides
from memory.records.queries.views import (
    VIEWS_FILE,
    MemoryView,
    countable,
    to_view,
    views_of,
    visible,
)
from memory.taxonomy import Status
from memory.text.text import check_text
from memory.topics import queries as topics_queries
from teams import queries as places
from teams import visibility
from teams.visibility import parameters

LARGEST_PAGE = 200
FEW = 1_000  # memories that a filter leaves and that are all looked at; ours
AUDIENCE = "audience"  # of a version: who could see it then


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
    sides: Sides
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
        return self.kind not in relations.BOUND


def get(*, caller: Caller, memory_id: UUID, now: datetime) -> MemoryView:
    """Return one memory. Raises NotFound, also for one the caller may not see."""
    with tenancy.unit():
        return to_view(find_memory(caller=caller, memory_id=memory_id), now=now)


def sides(*, caller: Caller, memory: MemoryView) -> tuple[Contradiction, ...]:
    """Return what contradicts a memory, of what the caller may see: no side is told alone."""
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        return relations.sides_of(views=(memory,), sight=sight).get(memory.id, ())


def get_together(
    *, caller: Caller, memory_id: UUID, now: datetime
) -> tuple[MemoryView, tuple[Contradiction, ...]]:
    """Return one memory with what contradicts it. Raises NotFound as `get` does."""
    with tenancy.unit():
        view = get(caller=caller, memory_id=memory_id, now=now)
        return view, sides(caller=caller, memory=view)


def find_memory(*, caller: Caller, memory_id: UUID) -> Memory:
    """Return the row of a memory, for actions. Raises NotFound."""
    return _found(visible(caller=caller).filter(pk=memory_id))


def lock_memory(*, caller: Caller, memory_id: UUID) -> Memory:
    """Return the row of a memory as it is now, locked until the unit ends. Raises NotFound."""
    rows = visible(caller=caller).select_for_update(of=("self",))
    return _found(rows.filter(pk=memory_id))


def page(
    *, caller: Caller, filters: Filters, cursor: Cursor | None, limit: int, now: datetime
) -> MemoryPage:
    """Return at most `limit` memories, newest first, from the cursor on."""
    size = min(limit, LARGEST_PAGE)
    with tenancy.unit():
        rows = _filtered(caller, filters).order_by("-created_at", "id")
        if cursor is not None:
            later = Q(created_at=cursor.created_at, id__gt=cursor.memory_id)
            rows = rows.filter(Q(created_at__lt=cursor.created_at) | later)
        found = list(rows.values_list("id", flat=True)[: size + 1])
        seen = by_ids(caller=caller, memory_ids=tuple(found[:size]), now=now)
        sight = visibility.sight_of(caller=caller)
        beside = relations.sides_of(views=seen.values(), sight=sight)
    views = tuple(seen[key] for key in found[:size] if key in seen)
    last = views[-1] if len(found) > size else None
    return MemoryPage(
        items=views,
        sides=beside,
        next_cursor=None if last is None else _cursor_at(last),
    )


def matching(*, caller: Caller, filters: Filters) -> QuerySet[Memory]:
    """Return the rows that a filter lets through, for other queries. In a unit."""
    return _filtered(caller, filters)


def count(*, caller: Caller, filters: Filters) -> int:
    """Count the memories a filter lets through."""
    with tenancy.unit():
        return _filtered(caller, filters).count()


def by_ids(
    *, caller: Caller, memory_ids: tuple[UUID, ...], now: datetime
) -> Mapping[UUID, MemoryView]:
    """Return the visible ones of these memories, by id."""
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        return views_of(memory_ids=memory_ids, sight=sight, now=now)


def history(*, caller: Caller, memory_id: UUID) -> tuple[VersionView, ...]:
    """Return the versions of a memory, the present one first, each with who made it and why.

    What it said while it was shared with others is theirs: a note that became everybody's tells
    nobody what stood in it before.
    """
    with tenancy.unit():
        row = find_memory(caller=caller, memory_id=memory_id)
        ended = tuple(row.versions.order_by("-number", "id"))
        sight = visibility.sight_of(caller=caller)
    made = (*(_made_by(version) for version in ended), _first(row))
    earlier = tuple(
        VersionView(number=version.number, content=version.content, fields=_kept(version), **who)
        for version, who in zip(ended, made[1:], strict=True)
        if _could_see(version, sight)
    )
    return (VersionView(number=row.version, content=row.content, fields={}, **made[0]), *earlier)


def links(*, caller: Caller, memory_id: UUID) -> tuple[LinkView, ...]:
    """Return the relations of a memory whose other end the caller may see."""
    with tenancy.unit():
        row = find_memory(caller=caller, memory_id=memory_id)
        rows = MemoryLink.objects.filter(Q(source=row) | Q(target=row)).order_by("kind", "id")
        pairs = [(link, link.source_id == row.id) for link in rows]
        others = {link.target_id if out else link.source_id for link, out in pairs}
        seen = {other.id: other for other in visible(caller=caller).filter(pk__in=others)}
        views = (_link(link, out, seen) for link, out in pairs)
        return tuple(view for view in views if view is not None)


def _found(rows: QuerySet[Memory]) -> Memory:
    row = rows.exclude(status="deleted").first()
    if row is None:
        raise NotFound(
            detail="There is no such memory.",
            hint="It may have been deleted, or belong to a scope you cannot see.",
        )
    return row


def _filtered(caller: Caller, filters: Filters) -> QuerySet[Memory]:
    if not _can_be_stored(filters):
        return Memory.objects.none()
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
        rows = rows.filter(_any_file(file))
    return rows


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
    few = search_rows.holding(facets=facets, project=project, limit=FEW + 1, sight=sight)
    return few if len(few) <= FEW else None


def _can_be_stored(filters: Filters) -> bool:
    """Say whether a memory could have these words at all; Postgres refuses to compare others."""
    words = (*filters.tags, *filters.files, *filters.modules, *filters.types, filters.author or "")
    return not any(check_text(text=word) for word in words)


def _condition(filters: Filters) -> Q:
    wanted = Q(status__in=filters.status) & ~Q(status="deleted")
    if filters.types:
        marks = _marks(filters)
        is_own = Q(tags__overlap=marks) if marks else Q()
        wanted &= Q(type__in=filters.types) | is_own
    if filters.tags:
        wanted &= Q(tags__contains=list(filters.tags))
    if filters.modules:
        wanted &= Q(related_modules__overlap=list(filters.modules))
    if filters.author is not None:
        wanted &= Q(source_interface=filters.author) | Q(author_agent__iexact=filters.author)
    return wanted & _beliefs(filters)


def _beliefs(filters: Filters) -> Q:
    wanted = Q()
    if filters.minimum_confidence is not None:
        wanted &= Q(confidence__gte=filters.minimum_confidence)
    if filters.maximum_confidence is not None:
        wanted &= Q(confidence__lte=filters.maximum_confidence)
    if filters.pinned is not None:
        wanted &= Q(pinned=filters.pinned)
    if filters.needs_review is not None:
        wanted &= Q(needs_review=filters.needs_review)
    if filters.stale is not None:
        wanted &= Q(stale_at__isnull=not filters.stale)
    return wanted


def _any_file(pattern: str) -> Q:
    if pattern.endswith("*"):
        return Q(related_files__icontains=pattern.rstrip("*"))
    return Q(related_files__contains=[pattern]) | Q(related_files__icontains=pattern)


def _cursor_at(last: MemoryView) -> Cursor:
    return Cursor(created_at=last.created_at, memory_id=last.id)


def was_seen(*, version: MemoryVersion, sight: visibility.Sight) -> bool:
    """Say whether a version was for the eyes of someone with this sight."""
    return _could_see(version, sight)


def _could_see(version: MemoryVersion, sight: visibility.Sight) -> bool:
    return UUID(version.fields[AUDIENCE]) in sight.audiences


def _kept(version: MemoryVersion) -> dict[str, Any]:
    return {name: value for name, value in version.fields.items() if name != AUDIENCE}


def _made_by(before: MemoryVersion) -> dict[str, Any]:
    """Return who ended a version, when and why: that made the next one."""
    return {
        "reason": before.reason,
        "changed_by": before.changed_by,
        "changed_agent": before.changed_agent,
        "changed_at": before.changed_at,
    }


def _first(row: Memory) -> dict[str, Any]:
    return {
        "reason": "",
        "changed_by": row.author_user,
        "changed_agent": row.author_agent,
        "changed_at": row.created_at,
    }


def _link(link: MemoryLink, outgoing: bool, seen: Mapping[UUID, Memory]) -> LinkView | None:
    other = seen.get(link.target_id if outgoing else link.source_id)
    if other is None:
        return None
    return LinkView(
        kind=link.kind,
        outgoing=outgoing,
        other_id=other.id,
        citation=other.citation,
        type=other.type,
        own_type=custom_type_rules.named(tags=other.tags),
        confidence=link.confidence,
        automatic=link.automatic,
        description=link.description,
    )


def memories_of_topic(
    *, caller: Caller, topic_id: UUID, limit: int, now: datetime
) -> tuple[MemoryView, ...]:
    """Return memories of a topic that the caller may see, the most central first."""
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        rows = sql_queries.filled(
            "of_topic",
            file=VIEWS_FILE,
            parts={"visible": visibility.as_sql(alias="k")},
            topic=topic_id,
            limit=limit,
            **parameters(sight=sight),
        )
        ids = tuple(row[0] for row in rows)
        views = views_of(memory_ids=ids, sight=sight, now=now)
    return tuple(views[one] for one in ids if one in views)


def count_by_custom_type(*, caller: Caller, names: tuple[str, ...]) -> Mapping[str, int]:
    """Count the active memories of some types that the caller may see, by name."""
    if not names:
        return {}
    marks = {name: [custom_type_rules.mark(name=name)] for name in names}
    held = [mark for (mark,) in marks.values()]
    sums = {
        f"of_{place}": Count("pk", filter=Q(tags__contains=mark))
        for place, mark in enumerate(marks.values())
    }
    with tenancy.unit():
        rows = countable(caller=caller).filter(status=Status.ACTIVE.value, tags__overlap=held)
        found = rows.aggregate(**sums)
    return {name: found[f"of_{place}"] for place, name in enumerate(names)}
