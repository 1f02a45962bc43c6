"""A memory as everything outside of storage sees it: one frozen value, one way to make it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.lookups import IsNull

from accounts.caller import Caller
from memory import sql_queries
from memory.customization import custom_type_rules
from memory.index.models import MemoryVector
from memory.records import formulas
from memory.records.models import Memory
from memory.taxonomy import Status, Verification
from teams import visibility
from teams.visibility import Sight

SAME_NAME = (
    "id", "project_id", "external_id", "type", "content", "citation", "structure", "attributes",
    "scope", "team_id", "reach", "phase", "methodology", "confidence", "confirmations",
    "last_confirmed_at", "verification", "verified_at", "needs_review", "user_verified",
    "taint_reason", "authority", "importance", "surprise", "tier", "governance", "pinned",
    "decay_half_life_days", "event_at", "created_at", "updated_at", "valid_from", "valid_until",
    "status", "stale_at", "archived_reason", "version", "source", "source_interface",
    "source_uri", "source_line", "commit_sha", "author_user", "author_agent",
)  # fmt: skip
VIEWS_FILE = "records/sql/views.sql"
PARTS = {"columns": ", ".join(f"(v.memory).{name}" for name in SAME_NAME)}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView:
    """One memory; times are UTC, confidences and importance 0..1.

    `own_type` is what a methodology of the organization calls its type, empty where none does.
    """

    id: UUID
    project_id: UUID | None
    project_slug: str
    external_id: str
    type: str
    own_type: str
    content: str
    citation: str
    tags: tuple[str, ...]
    related_files: tuple[str, ...]
    related_modules: tuple[str, ...]
    structure: str
    attributes: Mapping[str, Any]
    scope: str
    team_id: UUID | None
    reach: str
    phase: str
    methodology: str
    confidence: float
    effective_confidence: float
    confirmations: int
    last_confirmed_at: datetime | None
    verification: str
    verified_at: datetime | None
    needs_review: bool
    user_verified: bool
    taint_reason: str
    authority: int
    importance: float
    surprise: float
    tier: str
    governance: int
    pinned: bool
    decay_half_life_days: float | None
    event_at: datetime | None
    created_at: datetime
    updated_at: datetime
    valid_from: datetime
    valid_until: datetime | None
    status: str
    superseded_by: UUID | None
    stale_at: datetime | None
    archived_reason: str
    version: int
    source: str
    source_interface: str
    source_uri: str
    source_line: int | None
    commit_sha: str
    author_user: UUID | None
    author_agent: str
    access_count: int
    last_accessed_at: datetime | None
    embedded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPart:
    """Of a ranking for a project: whether the graph took part, and whether it changed the first."""

    project_id: UUID
    took_part: bool
    changed: bool


def countable(*, caller: Caller) -> QuerySet[Memory]:
    """Return the memories the caller may see, bare, for counts. In a unit."""
    rows = Memory.objects.filter(visibility.as_q(sight=visibility.sight_of(caller=caller)))
    return rows.exclude(status=Status.DELETED.value)


def visible(*, caller: Caller) -> QuerySet[Memory]:
    """Return the memories the caller may see, with all that a view needs. In a unit."""
    return with_details(rows=countable(caller=caller))


def with_details(*, rows: QuerySet[Memory]) -> QuerySet[Memory]:
    """Add what `to_view` needs to rows of `countable`.

    One vector is looked up a row: for EXISTS, Postgres reads the vectors of all memories at once.
    """
    vectors = MemoryVector.objects.filter(memory_id=OuterRef("pk"), model__active=True)
    first = Subquery(vectors.order_by().values("pk")[:1])
    return rows.select_related("project", "memoryusage").annotate(is_embedded=IsNull(first, False))


def views_of(
    *, memory_ids: tuple[UUID, ...], sight: Sight, now: datetime
) -> dict[UUID, MemoryView]:
    """Read the visible ones of these memories in one statement, by id. In a unit.

    The same view as `to_view`, without the cost of model instances.
    """
    return _read(memory_ids, sight, now, given_out=None)


def give_out(
    *, memory_ids: tuple[UUID, ...], sight: Sight, now: datetime, graph: GraphPart | None = None
) -> dict[UUID, MemoryView]:
    """Read memories like `views_of`, and note that a search gave them to somebody. In a unit.

    With what the graph did to its ranking, where that was for one project.
    """
    return _read(memory_ids, sight, now, given_out=now, graph=graph)


def to_view(row: Memory, *, now: datetime, is_new: bool = False) -> MemoryView:
    """Turn a row of `visible` into a view; one just made was not used yet, and nobody is asked."""
    usage = None if is_new else getattr(row, "memoryusage", None)
    rest = (
        row.project.slug if row.project else "",
        row.tags,
        row.related_files,
        row.related_modules,
        row.superseded_by_id,
        usage and usage.access_count,
        usage and usage.last_accessed_at,
        bool(getattr(row, "is_embedded", False)),
    )
    return _view({name: getattr(row, name) for name in SAME_NAME}, rest, now)


def _read(
    memory_ids: tuple[UUID, ...],
    sight: Sight,
    now: datetime,
    *,
    given_out: datetime | None,
    graph: GraphPart | None = None,
) -> dict[UUID, MemoryView]:
    rows = sql_queries.filled(
        "views",
        file=VIEWS_FILE,
        parts=PARTS,
        ids=list(memory_ids),
        given_out=given_out,
        reader=sight.person,
        reader_token=sight.token,
        ranked_for=graph and graph.project_id,
        took_part=graph and graph.took_part,
        changed=graph and graph.changed,
        **visibility.parameters(sight=sight),
    )
    own = len(SAME_NAME)
    return {
        row[0]: _view(dict(zip(SAME_NAME, row[:own], strict=True)), row[own:], now) for row in rows
    }


def _view(same: dict[str, Any], rest: tuple[Any, ...], now: datetime) -> MemoryView:
    """Make a view of the columns of one name and of the others, in the order of the statement."""
    if isinstance(same["attributes"], str):  # outside of the ORM, JSON arrives as text
        same["attributes"] = json.loads(same["attributes"])
    slug, tags, files, modules, superseded_by, access_count, accessed_at, embedded = rest
    times = (same["updated_at"], same["last_confirmed_at"], accessed_at)
    idle = now - max(one for one in times if one)
    return MemoryView(
        **same,
        own_type=custom_type_rules.named(tags=tags),
        project_slug=slug or "",
        tags=custom_type_rules.plain(tags=tuple(tags)),
        related_files=tuple(files),
        related_modules=tuple(modules),
        superseded_by=superseded_by,
        effective_confidence=formulas.effective_confidence(
            confidence=same["confidence"],
            verification=Verification(same["verification"]),
            half_life_days=same["decay_half_life_days"],
            pinned=same["pinned"],
            is_tainted=bool(same["taint_reason"]),
            days_since_access=max(0.0, idle.total_seconds() / 86_400),
        ),
        access_count=access_count or 0,
        last_accessed_at=accessed_at,
        embedded=embedded,
    )
