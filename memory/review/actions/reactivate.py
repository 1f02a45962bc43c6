"""Put memories away together, and let what they had taken the place of stand again.

What was replaced is as it was before; the edge that said so goes. What another active memory says
by now, or whose external id it has, stays replaced.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q

from accounts.caller import Caller
from memory.documents.formats import cairn
from memory.index.sql import search_rows
from memory.intake.actions import apply_decision
from memory.intake.actions.apply_decision import LOWERED
from memory.records.actions import writes
from memory.records.conflict_models import Conflict
from memory.records.models import Memory, MemoryLink
from memory.records.queries import uniqueness
from memory.records.queries.uniqueness import Taken
from memory.taxonomy import LinkKind, Status


def put_away(*, caller: Caller, rows: tuple[Memory, ...], reason: str, now: datetime) -> None:
    """Archive held memories, all at once. In a unit."""
    for row in rows:
        row.status, row.archived_reason = Status.ARCHIVED.value, reason
        row.valid_until = row.updated_at = now
        row.version += 1
    save_all(
        rows=rows, fields=("status", "archived_reason", "valid_until", "updated_at", "version")
    )
    writes.announce(caller=caller, kind="memory.archived", rows=rows)


def bring_back(
    *, caller: Caller, rows: tuple[Memory, ...], now: datetime
) -> tuple[Mapping[str, Any], ...]:
    """Restore held memories that were replaced; return the edges that go. In a unit."""
    links = MemoryLink.objects.filter(
        source__in={row.superseded_by_id for row in rows},
        target__in=[row.id for row in rows],
        kind=LinkKind.SUPERSEDES.value,
    )
    edges = tuple(apply_decision.edge_of(link=link) for link in links.order_by("id"))
    before = {**_before_settling(rows), **_before_replaced(edges)}
    links.delete()
    for row in rows:
        kept = before.get(str(row.id), {})
        row.status, row.superseded_by = Status.ACTIVE.value, None
        row.archived_reason = kept.get("archived_reason", "")
        row.confidence = kept.get("confidence", row.confidence)
        row.valid_until, row.updated_at = cairn.moment(text=kept.get("valid_until")), now
        row.version += 1
    save_all(rows=rows, fields=("status", "superseded_by", *LOWERED, "updated_at", "version"))
    writes.announce(caller=caller, kind="memory.restored", rows=rows)
    return edges


def without_twins(*, rows: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """Leave out those of which an active memory has the text or the external id. In a unit."""
    claims = tuple(uniqueness.claim_of(row=row) for row in rows)
    taken = Taken(wanted=claims)
    free = {one.memory_id for one in claims if taken.take(claim=one)}
    return tuple(row for row in rows if row.id in free)


def _before_replaced(edges: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {edge["target_id"]: edge["before"] for edge in edges if edge["before"]}


def _before_settling(rows: tuple[Memory, ...]) -> dict[str, Mapping[str, Any]]:
    """Return what settling a conflict has changed of memories, by their ids."""
    ids = [row.id for row in rows]
    settled = Conflict.objects.filter(Q(older__in=ids) | Q(newer__in=ids)).exclude(verdict="")
    found: dict[str, Mapping[str, Any]] = {}
    for before in settled.order_by("settled_at", "id").values_list("before", flat=True):
        found |= before.get("memories", {})
    return found


def save_all(*, rows: tuple[Memory, ...], fields: tuple[str, ...]) -> None:
    """Save fields of held memories and repeat their filters where searches look. In a unit."""
    if not rows:
        return
    ids = tuple(row.id for row in rows)
    Memory.objects.bulk_update(rows, fields, batch_size=1_000)
    search_rows.sync_filters(memory_ids=ids)
    search_rows.follow_topics(memory_ids=ids)
