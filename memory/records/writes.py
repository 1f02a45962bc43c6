"""Write rows of memories: the row, its words, what it names, and what others are told.

Of two memories that contradict each other those are told who see both, and nobody else. One that
only its author sees is told of to its author alone, with its own citation: that somebody privately
contradicts what all see is nothing that others learn, neither from the feed nor from a log.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts import bulk_insert
from accounts.audit import Actor
from accounts.caller import Caller, principal
from accounts.errors import Conflict
from memory.entities import queries as entities
from memory.index import queries as index_queries
from memory.index.actions import embedding
from memory.records.models import Conflict as ConflictRow
from memory.records.models import Memory
from memory.taxonomy import Scope
from memory.text import text as texts
from teams import audit, changes
from teams.models import Change

FEED_KINDS: Final = ("memory.contradicted", "memory.conflict_settled", "memory.conflict_reopened")
ORDER: Final = (Scope.PERSONAL, Scope.TEAM, Scope.PROJECT, Scope.ORGANIZATION)


def insert(*, caller: Caller, rows: tuple[Memory, ...]) -> None:
    """Insert memories with their words, and tell the feed. In a unit.

    All writers insert in one order, so that two of them never wait for each other.
    Raises Conflict when one of them exists already.
    """
    in_order = sorted(rows, key=lambda row: row.content_hash)
    try:
        bulk_insert.insert_rows(rows=in_order)
    except IntegrityError as error:
        raise not_unique() from error
    index_words(rows=rows)
    entities.write(rows=rows)
    announce(caller=caller, kind="memory.created", rows=rows)


def insert_settled(*, caller: Caller, rows: tuple[Memory, ...]) -> None:
    """Insert memories that have a state already, and queue their vectors. In a unit."""
    insert(caller=caller, rows=rows)
    index_queries.sync_filters(memory_ids=tuple(row.id for row in rows))
    layers = {row.id: row.governance for row in rows}
    embedding.enqueue(layers=layers, name="memory.embed_bulk", created_by=caller.user_id)


def index_words(*, rows: tuple[Memory, ...]) -> None:
    """Make memories findable by their words. In a unit."""
    found = []
    for row in rows:
        words = texts.keyword_text(
            content=texts.visible_text(text=row.content),
            files=tuple(row.related_files),
            tags=tuple(row.tags),
            day=row.event_at and row.event_at.astimezone(UTC).date(),
        )
        found.append((row.id, embedding.code_of(row.type), words))
    index_queries.write_keywords(rows=tuple(found))


def index_missing_days(*, after: UUID, limit: int) -> tuple[UUID, ...]:
    """Make memories behind an id that lack their day among their words findable by it. In a unit.

    Return which they were; those from before days were words lack it.
    """
    ids = index_queries.lock_without_day(after=after, limit=limit)
    if ids:
        index_words(rows=tuple(Memory.objects.filter(pk__in=ids).order_by("id")))
    return ids


def save(*, row: Memory, fields: tuple[str, ...], now: datetime) -> None:
    """Save changed fields of a memory and repeat its filters where searches look. In a unit."""
    row.updated_at = now
    row.version += 1
    row.save(update_fields=[*fields, "updated_at", "version"])
    index_queries.sync_filters(memory_ids=(row.id,))
    index_queries.follow_topics(memory_ids=(row.id,))


def save_unique(*, row: Memory, fields: tuple[str, ...], now: datetime) -> None:
    """Save fields that make a memory one of a kind. In a unit.

    Raises Conflict when another active memory of the place has the same text or external id.
    """
    try:
        with transaction.atomic():
            save(row=row, fields=fields, now=now)
    except IntegrityError as error:
        raise not_unique() from error


def reindex(*, caller: Caller, row: Memory, is_same_text: bool) -> None:
    """Let searches find a changed memory: words, names, topic and vector. In a unit.

    Where only its place has changed, what it names moves with it.
    """
    index_words(rows=(row,))
    if is_same_text:
        entities.move(row=row)
    else:
        entities.rewrite(rows=(row,))
    index_queries.leave_topics(memory_ids=(row.id,))
    embedding.enqueue(layers={row.id: row.governance}, created_by=principal(caller=caller))


def narrow(*, row: Memory) -> None:
    """Let what was told of a memory, and what it names, follow it to fewer people. In a unit."""
    changes.leave_to(object_id=row.id, audience=row.audience)
    entities.move(row=row)
    move_conflicts(row=row, is_taken=True)


def announce(
    *, caller: Actor, kind: str, rows: tuple[Memory, ...], audience: UUID | None = None
) -> None:
    """Tell the change feed what happened to memories: who sees each, or one audience. In a unit."""
    entries = tuple(
        Change(
            kind=kind,
            object_id=row.id,
            project_id=row.project_id,
            audience=audience or row.audience,
            summary={"citation": row.citation, "type": row.type},
        )
        for row in rows
    )
    changes.append_all(caller=caller, entries=entries)


def record(
    *,
    caller: Caller,
    act: str,
    memory_id: UUID,
    details: Mapping[str, Any] | None = None,
    fields: tuple[str, ...] = (),
) -> None:
    """Append to the audit log what one call did, whatever it took to do it. In a unit."""
    audit.append(act, "memory", str(memory_id), caller=caller, details=details, fields=fields)


def record_bulk(*, caller: Caller, act: str, memory_ids: Mapping[str, tuple[UUID, ...]]) -> None:
    """Append one entry for a call that did something to several memories, at least one. In a unit.

    `memory_ids` says by verb what was done to which.
    """
    by_verb = {verb: [str(one) for one in ids] for verb, ids in memory_ids.items() if ids}
    listed = [one for ids in by_verb.values() for one in ids]
    audit.append(
        act, "memory", listed[0], caller=caller, details={"memories": len(listed), **by_verb}
    )


def not_unique() -> Conflict:
    """Return the refusal of what another active memory of the place has already."""
    return Conflict(
        detail="Another memory has the same text or the same external id.",
        hint="Confirm that memory instead, or change this one first.",
    )


def find_narrower_side(
    *, older: Memory, newer: Memory, otherwise: UUID | None
) -> tuple[Memory, UUID]:
    """Return the side that fewer people see, and the audience that is told. In a unit.

    Where those who see one do not all see the other, `otherwise` alone is told, or nobody.
    """
    if older.audience == newer.audience:
        return newer, newer.audience
    few, many = sorted((newer, older), key=lambda side: ORDER.index(Scope(side.scope)))
    are_two_peoples = many.scope == Scope.PERSONAL
    if not are_two_peoples and (few.scope == Scope.PERSONAL or _is_for_all(many)):
        return few, few.audience
    if not are_two_peoples and _is_for_all(few):
        return many, many.audience
    return newer, otherwise or newer.id


def have_different_audiences(*, older: Memory, newer: Memory) -> bool:
    """Say whether the two are seen by different people: no log of others names both then."""
    return older.audience != newer.audience


def move_conflicts(*, row: Memory, is_taken: bool) -> None:
    """Let the conflicts of a memory follow it to its new audience. In a unit.

    `is_taken`: others saw it before. What the feed said of a conflict under the name of the other
    side is then left to those who see both.
    """
    for conflict in ConflictRow.objects.filter(Q(older=row) | Q(newer=row)).order_by("id"):
        other = conflict.older if conflict.newer_id == row.id else conflict.newer
        _, audience = find_narrower_side(older=other, newer=row, otherwise=None)
        # one that is being settled waits for this memory, and is told anew when it has it
        free = ConflictRow.objects.select_for_update(skip_locked=True).filter(pk=conflict.pk)
        ConflictRow.objects.filter(pk__in=[one.pk for one in free]).update(audience=audience)
        if is_taken and audience != other.audience:
            changes.leave_to(
                object_id=other.id, audience=audience, kinds=FEED_KINDS, of=other.audience
            )


def _is_for_all(side: Memory) -> bool:
    if side.scope == Scope.ORGANIZATION:
        return True
    return side.scope == Scope.PROJECT and side.project is not None and side.project.open_to_all
