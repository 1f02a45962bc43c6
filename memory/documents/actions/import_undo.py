"""Undo an import as one step: what it added is archived, what it changed is as before.

What somebody has touched since is theirs now: it stays, and is counted. So does a confirmation of
what was confirmed again.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import CairnError, Conflict
from memory.documents.actions.import_batches import BEFORE, CONFIRMING, check_own
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
        untouched = _lock_untouched(batch, rows)
        new = {memory.id: memory for row, memory in untouched if row.outcome == "added"}
        added = tuple(new[one] for one in sorted(new))
        reactivation.archive_held(caller=caller, rows=added, reason=REASON, now=now)
        restored, undone = 0, set[int]()
        for row, memory in untouched:
            if row.outcome == "added":
                undone.add(row.pk)
            elif _restore(caller, row, memory, now):
                undone.add(row.pk)
                restored += 1
        behind = Memory.objects.select_for_update().filter(
            superseded_by__in=set(new), status=Status.SUPERSEDED.value
        )
        replaced = tuple(behind.order_by("id"))
        freed = reactivation.without_twins(rows=replaced)
        reactivation.restore_held(caller=caller, rows=freed, now=now)
        for row in rows:
            if row.pk in undone:
                row.outcome = UNDONE
            else:
                row.outcome, row.reason = KEPT, TOUCHED
        ImportRow.objects.bulk_update(rows, ["outcome", "reason"], batch_size=1_000)
        batch.state, batch.ended_at = UNDONE, now
        batch.save(update_fields=["state", "ended_at"])
        counts = {
            "archived": len(added),
            "restored": restored + len(freed),
            "kept": len(rows) - len(undone) + len(replaced) - len(freed),
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


def _lock_untouched(batch: Import, rows: list[ImportRow]) -> list[tuple[ImportRow, Memory]]:
    """Return the rows whose memory is as the import left it, and nobody has decided about."""
    ids = {row.memory_id for row in rows if row.memory_id}
    found = Memory.objects.select_for_update().filter(pk__in=ids).order_by("id")
    locked = {memory.id: memory for memory in found}
    decided = _find_decided(batch, frozenset(locked))
    pairs = [(row, locked[row.memory_id]) for row in rows if row.memory_id in locked]
    return [
        (row, memory)
        for row, memory in pairs
        if memory.id not in decided
        and memory.status == Status.ACTIVE
        and memory.version == row.memory_version
    ]


def _find_decided(batch: Import, ids: frozenset[UUID]) -> frozenset[UUID]:
    """Return those memories about which people have decided since the import began."""
    settled = Settled.objects.filter(settled_at__gte=batch.created_at).exclude(verdict="")
    sides = settled.filter(Q(older__in=ids) | Q(newer__in=ids)).values_list("older", "newer")
    verdicts = ReviewVerdict.objects.filter(
        memory__in=ids, decided_at__gte=batch.created_at, undone_at=None
    ).exclude(verdict__in=BESIDE)
    told = {id for pair in sides for id in pair} | set(verdicts.values_list("memory", flat=True))
    return frozenset(told & ids)


def _restore(caller: Caller, row: ImportRow, memory: Memory, now: datetime) -> bool:
    """Let a memory be as before a row changed or confirmed it; False where it stays as it is."""
    before = row.candidate.get(BEFORE)
    if before is not None:
        memory.confirmations, memory.importance = before["confirmations"], before["importance"]
        memory.last_confirmed_at = cairn.read_time(text=before["last_confirmed_at"])
        writes.save(row=memory, fields=CONFIRMING, now=now)
        writes.announce(caller=caller, kind="memory.changed", rows=(memory,))
        return True
    version = memory.versions.filter(number=memory.version - 1).first()
    if version is None:
        return False
    try:
        with transaction.atomic():  # what was written of a row that stays goes again
            revise.restore_version(
                caller=caller, row=memory, version=version, reason=REASON, now=now
            )
    except CairnError:  # another memory says the same by now, or it may not be changed
        return False
    return True
