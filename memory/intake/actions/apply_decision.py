"""Carry out what integration decided about a memory that has just been stored, and log it.

What is replaced stays readable: it names its successor and why, its confidence falls and it is true
until the new one began to be. A contradiction leaves both as they are, with an edge and a conflict.

The action log says what became of each candidate: when, from whom, how it ended and why; never what
it said. A refused one is known to its sender alone; where no person stands behind the credential,
to who may see the place it was meant for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from accounts import bulk_insert, tenancy
from accounts.caller import Caller, principal
from accounts.errors import Conflict as Changed
from memory.intake.actions.candidate import Placement
from memory.intake.integrate import SUPERSEDED_CONFIDENCE, Decision, Operation
from memory.intake.models import ActionLog
from memory.records import versions, writes
from memory.records.models import Conflict, Memory, MemoryLink
from memory.taxonomy import LinkKind, Source, Status

REPLACES = frozenset({Operation.UPDATE, Operation.DELETE})
ENDS: Final = ("source_id", "target_id", "kind")
EDGE: Final = (
    *ENDS, "confidence", "automatic", "cosine", "description", "before", "created_at",
)  # fmt: skip
SOURCES: Final = frozenset(Source)
LOWERED: Final = ("confidence", "valid_until", "archived_reason")  # of what is replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrated:
    """What came of a decision: the memory it concerns, whether it was replaced, the conflict."""

    other_id: UUID
    replaced: bool
    conflict_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """What became of one candidate; `place` is None where it found none.

    `memory_id` is what was stored or confirmed, `other_id` what it replaced or contradicts.
    """

    source: str
    place: Placement | None
    outcome: str
    gate: str = ""
    cause: str = ""
    memory_id: UUID | None = None
    other_id: UUID | None = None


def hold(*, decision: Decision) -> Memory | None:
    """Lock the memory a decision concerns, None where it concerns none. In a unit.

    Taken before anything is inserted, so that writers wait for each other in one order. Raises
    Conflict where it has left or changed meanwhile.
    """
    if decision.target_id is None:
        return None
    rows = Memory.objects.select_for_update(of=("self",)).filter(
        pk=decision.target_id, status=Status.ACTIVE.value
    )
    old = rows.first()
    if old is None or not is_as_read(row=old, decision=decision):
        raise Changed(
            detail="The memories that this refers to have changed meanwhile.", hint="Send it again."
        )
    return old


def is_as_read(*, row: Memory, decision: Decision) -> bool:
    """Say whether a held memory still is the version that the decision compared."""
    return decision.target_version in {None, row.version}


def carry_out(
    *, caller: Caller, row: Memory, old: Memory | None, decision: Decision, now: datetime
) -> Integrated | None:
    """Write what follows for a stored memory and a held one. In a unit."""
    if old is None or decision.link is None:
        return None
    replaced = decision.operation in REPLACES
    before = None
    if replaced:
        before = retire(caller=caller, old=old, successor=row, reason=decision.reason, now=now)
    link(source=row, target=old, decision=decision, before=before)
    conflict_id = open_conflict(older=old, newer=row, decision=decision, now=now)
    if conflict_id is not None:
        side, audience = writes.find_narrower_side(older=old, newer=row, otherwise=row.author_user)
        writes.announce(caller=caller, kind="memory.contradicted", rows=(side,), audience=audience)
    return Integrated(other_id=old.id, replaced=replaced, conflict_id=conflict_id)


def retire(
    *, caller: Caller, old: Memory, successor: Memory, reason: str, now: datetime
) -> dict[str, Any]:
    """Let a held memory be replaced by another; it stays readable. In a unit.

    Return what it was before, for the edge between the two.
    """
    before = lowered(row=old)
    old.status = Status.SUPERSEDED.value
    old.superseded_by_id = successor.id
    old.confidence = min(old.confidence, SUPERSEDED_CONFIDENCE)
    old.valid_until = max(old.valid_from, successor.valid_from)
    old.archived_reason = str(reason)[:200]
    writes.save(row=old, fields=("status", "superseded_by", *LOWERED), now=now)
    writes.announce(caller=caller, kind="memory.superseded", rows=(old,))
    return before


def lowered(*, row: Memory) -> dict[str, Any]:
    """Return what of a memory falls when it is replaced, for the edge to its successor."""
    return {name: versions.plain(value=getattr(row, name)) for name in LOWERED}


def link(
    *, source: Memory, target: Memory, decision: Decision, before: dict[str, Any] | None = None
) -> None:
    """Write the edge of a decision, once; `before` is what a replaced target was. In a unit."""
    if decision.link is None:
        return
    made, is_new = MemoryLink.objects.get_or_create(
        source=source,
        target=target,
        kind=decision.link.value,
        defaults={
            "automatic": True,
            "confidence": decision.certainty,
            "cosine": decision.cosine,
            "description": str(decision.reason)[:200],
            "before": before,
        },
    )
    if before is not None and not is_new:
        made.before = before
        made.save(update_fields=["before"])


def open_conflict(
    *, older: Memory, newer: Memory, decision: Decision, now: datetime
) -> UUID | None:
    """Record a conflict of two memories, once whichever came first. In a unit."""
    if not decision.is_conflict or decision.cause is None:
        return None
    known = Conflict.objects.filter(older=newer, newer=older).values_list("id", flat=True).first()
    if known is not None:
        return known
    row, _ = Conflict.objects.get_or_create(
        older=older,
        newer=newer,
        defaults={
            "project_id": newer.project_id,
            "audience": writes.find_narrower_side(
                older=older, newer=newer, otherwise=newer.author_user
            )[1],
            "kind": "contradict" if decision.wanted is None else decision.wanted.value,
            "cause": decision.cause.value,
            "cosine": decision.cosine,
            "found_at": now,
        },
    )
    return row.id


def take_edge(*, ends: tuple[UUID, UUID], kind: LinkKind) -> dict[str, Any] | None:
    """Take one edge away; return what `put_edges` needs, None where there is none. In a unit."""
    rows = MemoryLink.objects.select_for_update().filter(
        source_id=ends[0], target_id=ends[1], kind=kind.value
    )
    row = rows.first()
    if row is None:
        return None
    taken = edge_of(link=row)
    row.delete()
    return taken


def take_edges(*, between: tuple[UUID, UUID], kind: LinkKind) -> list[dict[str, Any]]:
    """Take the edges of a kind between two memories away; return what `put_edges` needs."""
    rows = MemoryLink.objects.filter(source__in=between, target__in=between, kind=kind.value)
    taken = [edge_of(link=row) for row in rows.order_by("id")]
    rows.delete()
    return taken


def put_edges(*, edges: Iterable[Mapping[str, Any]]) -> None:
    """Put edges that were taken away back as they were. In a unit."""
    for edge in edges:
        fields = {name: edge[name] for name in EDGE if name not in {*ENDS, "created_at"}}
        ends = {name: edge[name] for name in ENDS}
        row, is_new = MemoryLink.objects.get_or_create(**ends, defaults=fields)
        if is_new:
            made_at = datetime.fromisoformat(edge["created_at"])
            MemoryLink.objects.filter(pk=row.pk).update(created_at=made_at)


def edge_of(*, link: MemoryLink) -> dict[str, Any]:
    """Return an edge as `put_edges` puts it back."""
    return {name: versions.plain(value=getattr(link, name)) for name in EDGE}


def log_actions(*, caller: Caller, entries: tuple[LogEntry, ...], now: datetime) -> None:
    """Append a row a candidate. In a unit."""
    bulk_insert.insert_rows(
        rows=[
            ActionLog(
                at=now,
                audience=_audience(caller, entry),
                project_id=entry.place.project.id if entry.place and entry.place.project else None,
                user_id=caller.user_id,
                token_id=caller.token_id,
                agent=caller.agent,
                source=entry.source if entry.source in SOURCES else "unknown",
                source_interface=caller.source_interface,
                outcome=entry.outcome,
                gate=entry.gate,
                cause=entry.cause[:24],
                memory_id=entry.memory_id,
                other_id=entry.other_id,
            )
            for entry in entries
        ]
    )


def forget_actions(*, now: datetime, days: int) -> int:
    """Delete rows of the action log older than some days; return how many."""
    with tenancy.unit():
        old = ActionLog.objects.filter(at__lt=now - timedelta(days=days))
        deleted, _ = old.delete()
        return deleted


def _audience(caller: Caller, entry: LogEntry) -> UUID:
    if entry.outcome == "refused" and caller.user_id is not None:
        return caller.user_id
    if entry.place is not None:
        return entry.place.audience
    return principal(caller=caller) or caller.organization_id
