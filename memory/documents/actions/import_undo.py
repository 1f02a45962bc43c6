"""Undo an import as one step: what it added is archived, what it changed is as before.

What somebody has touched since is theirs now: it stays, and is counted. So does a confirmation of
what was confirmed again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import CairnError, Conflict
from memory.documents.actions.import_batches import BEFORE, check_own
from memory.documents.formats import cairn
from memory.documents.models import Import, ImportRow
from memory.documents.queries import imports
from memory.documents.queries.imports import ImportView
from memory.intake.actions import revise
from memory.records import writes
from memory.records.models import BESIDE, Memory, ReviewVerdict
from memory.records.models import Conflict as Settled
from memory.review.actions import reactivation
from memory.taxonomy import Status
from teams import audit
from teams.permissions import Act, require

REASON: Final = "the import was undone"
UNDONE, KEPT = "undone", "kept"
TOUCHED: Final = "It has changed since; it stays."


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportUndone:
    """What undoing did: memories archived, restored, and left because they changed since."""

    batch: ImportView
    archived: int
    restored: int
    kept: int


def undo_import(*, caller: Caller, batch_id: UUID, now: datetime) -> ImportUndone:
    """Undo a batch; one's own, or as a steward in person anybody's.

    Raises NotFound, Forbidden, Conflict while it runs or when it is undone already.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        batch = imports.lock_import(caller=caller, batch_id=batch_id)
        check_own(caller=caller, batch=batch)
        if batch.state == UNDONE:
            raise Conflict(detail="The import is undone already.", hint="Import the file again.")
        if batch.state in imports.BUSY and imports.failure_of(batch=batch) is None:
            raise Conflict(detail="The import still runs.", hint="Cancel it first, or wait.")
        rows = list(batch.rows.exclude(memory_version=None).order_by("number"))
        ids = {row.memory_id for row in rows if row.memory_id}
        found = Memory.objects.select_for_update().filter(pk__in=ids).order_by("id")
        locked = {memory.id: memory for memory in found}
        decided = _find_decided(batch, frozenset(locked))
        touched: list[ImportRow] = []
        untouched: list[ImportRow] = []
        for row in rows:
            (untouched if _is_untouched(row, locked, decided) else touched).append(row)
        new = {one.memory_id for one in untouched if one.outcome == "added" and one.memory_id}
        added = tuple(locked[one] for one in sorted(new))
        reactivation.archive_held(caller=caller, rows=added, reason=REASON, now=now)
        restored, kept = _restore_changed(caller, untouched, locked, now)
        freed, replaced = _restore_replaced(caller, new, now)
        for row in untouched:
            row.outcome = UNDONE
        for row in (*touched, *kept):
            row.outcome, row.reason = KEPT, TOUCHED
        ImportRow.objects.bulk_update(rows, ["outcome", "reason"], batch_size=1_000)
        batch.state, batch.ended_at = UNDONE, now
        batch.save(update_fields=["state", "ended_at"])
        counts = {
            "archived": len(added),
            "restored": restored + freed,
            "kept": len(touched) + len(kept) + replaced,
        }
        audit.append(
            act="import.undone",
            object_type="import",
            object_id=str(batch.id),
            caller=caller,
            details=counts,
        )
        view = imports.view_of(caller=caller, batch=batch, now=now)
        return ImportUndone(batch=view, **counts)


def _find_decided(batch: Import, ids: frozenset[UUID]) -> frozenset[UUID]:
    """Return those memories about which people have decided since the import began."""
    settled = Settled.objects.filter(settled_at__gte=batch.created_at).exclude(verdict="")
    sides = settled.filter(Q(older__in=ids) | Q(newer__in=ids)).values_list("older", "newer")
    verdicts = ReviewVerdict.objects.filter(
        memory__in=ids, decided_at__gte=batch.created_at, undone_at=None
    ).exclude(verdict__in=BESIDE)
    told = {id for pair in sides for id in pair} | set(verdicts.values_list("memory", flat=True))
    return frozenset(told & ids)


def _is_untouched(row: ImportRow, locked: Mapping[UUID, Memory], decided: frozenset[UUID]) -> bool:
    memory = locked.get(row.memory_id) if row.memory_id else None
    if row.memory_id in decided:
        return False
    is_active = memory is not None and memory.status == Status.ACTIVE
    return is_active and memory is not None and memory.version == row.memory_version


def _restore_changed(
    caller: Caller, rows: list[ImportRow], locked: Mapping[UUID, Memory], now: datetime
) -> tuple[int, tuple[ImportRow, ...]]:
    """Restore what was changed or confirmed; return how much, and what could not be."""
    restored, kept = 0, []
    for row in rows:
        memory = locked[row.memory_id] if row.memory_id else None
        if memory is None or row.outcome == "added":
            continue
        try:
            with transaction.atomic():  # what was written of a row that stays goes again
                _restore(caller, row, memory, now)
            restored += 1
        except CairnError:  # another memory says the same by now, or it may not be changed
            kept.append(row)
    return restored, tuple(kept)


def _restore(caller: Caller, row: ImportRow, memory: Memory, now: datetime) -> None:
    before = row.candidate.get(BEFORE)
    if before is not None:
        memory.confirmations, memory.importance = before["confirmations"], before["importance"]
        memory.last_confirmed_at = cairn.read_time(text=before["last_confirmed_at"])
        fields = ("confirmations", "importance", "last_confirmed_at")
        writes.save(row=memory, fields=fields, now=now)
        writes.announce(caller=caller, kind="memory.changed", rows=(memory,))
        return
    version = memory.versions.filter(number=memory.version - 1).first()
    if version is None:
        raise Conflict(detail=TOUCHED, hint="Change it by hand.")
    revise.restore_version(caller=caller, row=memory, version=version, reason=REASON, now=now)


def _restore_replaced(caller: Caller, added: set[UUID], now: datetime) -> tuple[int, int]:
    """Restore what the added memories had taken the place of, as it was; the edges go.

    Return how many came back, and how many stay replaced since another one says the same by now.
    """
    rows = Memory.objects.select_for_update().filter(
        superseded_by__in=added, status=Status.SUPERSEDED.value
    )
    found = tuple(rows.order_by("id"))
    memories = reactivation.without_twins(rows=found)
    reactivation.restore_held(caller=caller, rows=memories, now=now)
    return len(memories), len(found) - len(memories)
