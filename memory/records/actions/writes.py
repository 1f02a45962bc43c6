"""Write rows of memories: the row, its words, what it names, and what others are told."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from accounts import bulk_insert
from accounts.audit import Actor
from accounts.caller import Caller
from accounts.errors import Conflict
from memory.entities import accurate, names
from memory.entities.sql import entities
from memory.index.actions import embedding
from memory.index.sql import search_rows
from memory.records import importance
from memory.records.actions.candidate import Draft, Place
from memory.records.models import Memory
from memory.taxonomy import DEFAULT_CONFIDENCE, MemoryType, Source, source_row, type_row
from memory.text import text as texts
from teams import audit, changes
from teams.models import Change

ORIGIN: Final = (
    "source", "source_uri", "source_hash", "source_line", "commit_sha", "taint_reason",
)  # fmt: skip


def new_row(
    *, caller: Caller, draft: Draft, place: Place, surprise: float, now: datetime
) -> Memory:
    """Compose the row of an accepted draft; it is not saved."""
    new, seen = draft.new, draft.classification
    confidence = DEFAULT_CONFIDENCE if new.confidence is None else new.confidence
    value = importance.importance_at_intake(surprise=surprise, confidence=confidence)
    source = source_row(source=Source(new.source))
    row = Memory(
        project=place.project,
        external_id=new.external_id,
        type=seen.type.value,
        content=new.content,
        citation=seen.citation,
        content_hash=draft.content_hash,
        tags=list(dict.fromkeys(new.tags)),
        related_files=list(seen.files),
        related_modules=list(seen.modules),
        structure=seen.structure.value,
        attributes=dict(new.attributes),
        scope=place.scope.value,
        audience=place.audience,
        team_id=place.team_id,
        reach=new.reach,
        phase=new.phase,
        methodology=new.methodology,
        confidence=confidence,
        authority=source.authority,
        importance=value,
        surprise=surprise,
        tier=importance.tier(importance=value).value,
        governance=seen.governance,
        pinned=new.pinned,
        decay_half_life_days=type_row(type=seen.type).half_life_days,
        event_at=new.event_at,
        created_at=now,
        updated_at=now,
        valid_from=new.event_at or now,
        needs_review=new.needs_review,
        session_id=new.session_id,
        provenance_sessions=[] if new.session_id is None else [new.session_id],
        source_interface=caller.source_interface,
        author_user=caller.user_id,
        author_agent=caller.agent,
        **{name: getattr(new, name) for name in ORIGIN},
    )
    row.names = names.names_of(spans=seen.entities)
    row.names_version = names.VERSION
    row.enriched_by = accurate.enriched_by(named=row.names)
    return row


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


def index_words(*, rows: tuple[Memory, ...]) -> None:
    """Make memories findable by their words. In a unit."""
    search_rows.write_keywords(
        rows=tuple((row.id, embedding.code_of(row.type), _words(row)) for row in rows)
    )


def save(*, row: Memory, fields: tuple[str, ...], now: datetime) -> None:
    """Save changed fields of a memory and repeat its filters where searches look. In a unit."""
    row.updated_at = now
    row.version += 1
    row.save(update_fields=[*fields, "updated_at", "version"])
    search_rows.sync_filters(memory_ids=(row.id,))
    search_rows.follow_topics(memory_ids=(row.id,))


def save_unique(*, row: Memory, fields: tuple[str, ...], now: datetime) -> None:
    """Save fields that make a memory one of a kind. In a unit.

    Raises Conflict when another active memory of the place has the same text or external id.
    """
    try:
        with transaction.atomic():
            save(row=row, fields=fields, now=now)
    except IntegrityError as error:
        raise not_unique() from error


def announce(
    *, caller: Actor, kind: str, rows: tuple[Memory, ...], audience: UUID | None = None
) -> None:
    """Tell the change feed what happened to memories: who sees each, or one audience. In a unit."""
    entries = tuple(_entry(kind, row, audience or row.audience) for row in rows)
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
    audit.append(
        act=act,
        object_type="memory",
        object_id=str(memory_id),
        caller=caller,
        details=details,
        fields=fields,
    )


def record_together(
    *, caller: Caller, act: str, memory_ids: Mapping[str, tuple[UUID, ...]]
) -> None:
    """Append one entry for a call that did something to several memories, at least one. In a unit.

    `memory_ids` says by verb what was done to which.
    """
    by_verb = {verb: [str(one) for one in ids] for verb, ids in memory_ids.items() if ids}
    listed = [one for ids in by_verb.values() for one in ids]
    audit.append(
        act=act,
        object_type="memory",
        object_id=listed[0],
        caller=caller,
        details={"memories": len(listed), **by_verb},
    )


def exact_duplicate(*, place: Place, content_hash: str) -> UUID | None:
    """Return the active memory of the same place with the same normalized content."""
    twins = _active(place).filter(content_hash=content_hash).exclude(type=MemoryType.EPISODE.value)
    return twins.order_by("id").values_list("id", flat=True).first()


def same_external(*, place: Place, external_id: str) -> Memory | None:
    """Return the active memory of the place that carries this external id."""
    if not external_id:
        return None
    return _active(place).filter(external_id=external_id).order_by("id").first()


def lock_active(*, place: Place, hashes: set[str], external_ids: set[str]) -> tuple[Memory, ...]:
    """Lock the active memories of a place with one of these texts or external ids, by id.

    Episodes may say the same, so they are found by their external ids alone. Each half is asked in
    the words of its unique index; without, Postgres reads the whole project.
    """
    same_text = Q(content_hash__in=hashes) & ~Q(type=MemoryType.EPISODE.value)
    same_id = Q(external_id__in=external_ids) & ~Q(external_id="")
    rows = _active(place).filter(same_text | same_id)
    return tuple(rows.select_for_update().order_by("id"))


def _active(place: Place) -> QuerySet[Memory]:
    return Memory.objects.filter(audience=place.audience, project=place.project, status="active")


def not_unique() -> Conflict:
    """Return the refusal of what another active memory of the place has already."""
    return Conflict(
        detail="Another memory has the same text or the same external id.",
        hint="Confirm that memory instead, or change this one first.",
    )


def _words(row: Memory) -> str:
    return texts.keyword_text(
        content=texts.visible_text(text=row.content),
        files=tuple(row.related_files),
        tags=tuple(row.tags),
    )


def _entry(kind: str, row: Memory, audience: UUID) -> Change:
    return Change(
        kind=kind,
        object_id=row.id,
        project_id=row.project_id,
        audience=audience,
        summary={"citation": row.citation, "type": row.type},
    )
