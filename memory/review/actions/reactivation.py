"""Archive memories in bulk, and restore what they had replaced.

What was replaced is as it was before; the link that said so goes. Where another active memory has
its text or its external id by now, it stays replaced.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q

from accounts.caller import Caller
from memory.index import queries as index_queries
from memory.intake.actions import apply_decision
from memory.intake.actions.apply_decision import LOWERED
from memory.records import writes
from memory.records.models import Conflict, Memory, MemoryLink
from memory.records.queries import memories
from memory.records.queries.memories import Taken
from memory.taxonomy import LinkKind, Status


def archive_held(*, caller: Caller, rows: tuple[Memory, ...], reason: str, now: datetime) -> None:
    """Archive held memories, all at once. In a unit."""
    for row in rows:
        row.status, row.archived_reason = Status.ARCHIVED.value, reason
        row.valid_until = row.updated_at = now
        row.version += 1
    save_held(
        rows=rows, fields=("status", "archived_reason", "valid_until", "updated_at", "version")
    )
    writes.announce(caller=caller, kind="memory.archived", rows=rows)


def restore_held(
    *, caller: Caller, rows: tuple[Memory, ...], now: datetime
) -> tuple[Mapping[str, Any], ...]:
    """Restore held memories that were replaced; return the links that go. In a unit."""
    ids = [row.id for row in rows]
    links = MemoryLink.objects.filter(
        source__in={row.superseded_by_id for row in rows},
        target__in=ids,
        kind=LinkKind.SUPERSEDES.value,
    )
    edges = tuple(apply_decision.edge_of(link=link) for link in links.order_by("id"))
    before: dict[str, Mapping[str, Any]] = {}
    settled = Conflict.objects.filter(Q(older__in=ids) | Q(newer__in=ids)).exclude(verdict="")
    for kept in settled.order_by("settled_at", "id").values_list("before", flat=True):
        before |= kept.get("memories", {})
    before |= {edge["target_id"]: edge["before"] for edge in edges if edge["before"]}
    links.delete()
    for row in rows:
        was = before.get(str(row.id), {})
        until = was.get("valid_until")
        row.status, row.superseded_by = Status.ACTIVE.value, None
        row.archived_reason = was.get("archived_reason", "")
        row.confidence = was.get("confidence", row.confidence)
        row.valid_until = datetime.fromisoformat(until) if until else None
        row.updated_at = now
        row.version += 1
    save_held(rows=rows, fields=("status", "superseded_by", *LOWERED, "updated_at", "version"))
    writes.announce(caller=caller, kind="memory.restored", rows=rows)
    return edges


def without_twins(*, rows: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """Leave out those of which an active memory has the text or the external id. In a unit."""
    claims = tuple(memories.claim_of(row=row) for row in rows)
    taken = Taken(wanted=claims)
    free = {one.memory_id for one in claims if taken.take(claim=one)}
    return tuple(row for row in rows if row.id in free)


def save_held(*, rows: tuple[Memory, ...], fields: tuple[str, ...]) -> None:
    """Save fields of held memories and repeat their filters where searches look. In a unit."""
    if not rows:
        return
    ids = tuple(row.id for row in rows)
    Memory.objects.bulk_update(rows, fields, batch_size=1_000)
    index_queries.sync_filters(memory_ids=ids)
    index_queries.follow_topics(memory_ids=ids)
