"""Take in the rows of an import that still wait, part by part, and link what they name.

A part and the outcomes of its rows are one transaction, so a worker that dies in between leaves
nothing half done, and the next one goes on where it stopped.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import DataError, IntegrityError, transaction
from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller
from memory.documents.actions import importing
from memory.documents.actions.importing import Upload
from memory.documents.models import Import, ImportRow
from memory.intake.actions.remember import Outcome
from memory.intake.actions.remember_all import remember_all
from memory.records.actions.candidate import NewMemory
from memory.records.models import Memory, MemoryLink
from memory.text import text as texts

PART: Final = 200  # rows a transaction; some two seconds
ENDED: Final = frozenset({"done", "cancelled", "undone"})
SAVED: Final = ("outcome", "gate", "reason", "hint", "memory_id", "memory_version", "candidate")
LONGEST_ERROR: Final = 400  # characters, the column's
_POISON: Final = Outcome(
    outcome="refused",
    memory=None,
    gate=importing.INPUT,
    reason="The database does not take this row.",
    hint="Look for characters, numbers or moments that are out of the ordinary.",
)
BEFORE: Final = "before"  # in a row: what a confirmation changed


def run_import(
    *, caller: Caller, batch_id: UUID, now: datetime, tell: Callable[[int, int], None]
) -> Mapping[str, int]:
    """Take in what waits; `caller` is who began it, as they are now. Returns counts by outcome.

    Raises NotFound when the project is no more for them.
    """
    importer = importing.as_importer(caller=caller)
    while True:
        with tenancy.unit():
            batch = Import.objects.select_for_update().filter(pk=batch_id).first()
            if batch is None or batch.state in ENDED:
                break
            taken = _part(importer, batch, now)
            if not taken:
                _end(batch, now)
                break
            done, total = batch.total - _waiting(batch), batch.total
        tell(done, total)
    with tenancy.unit():
        rows = ImportRow.objects.filter(batch_id=batch_id).order_by()
        return Counter(rows.exclude(outcome="").values_list("outcome", flat=True))


def fail_import(*, batch_id: UUID, reason: str, now: datetime) -> None:
    """End a batch of which nothing more is taken in, and keep why. One that ended stays as it is.

    What it took in can be taken back; its job can be tried again.
    """
    with tenancy.unit():
        rows = Import.objects.filter(pk=batch_id).exclude(state__in=ENDED)
        rows.update(state="failed", error=reason[:LONGEST_ERROR], ended_at=now)


def _part(importer: Caller, batch: Import, now: datetime) -> int:
    """Send the next rows through the door; return how many there were. In a unit."""
    rows = list(batch.rows.filter(outcome="").order_by("number")[:PART])
    if not rows:
        return 0
    if batch.state != "running":
        batch.state, batch.error, batch.ended_at = "running", "", None
        batch.save(update_fields=["state", "error", "ended_at"])
    upload = upload_of(batch=batch)
    new = tuple(importing.new_memory(upload=upload, given=row.candidate) for row in rows)
    before = _before(batch, tuple(texts.content_hash(content=one.content) for one in new))
    outcomes = _sent(importer, new, now)
    for row, outcome in zip(rows, outcomes, strict=True):
        _note(row, outcome, before)
    ImportRow.objects.bulk_update(rows, SAVED)
    return len(rows)


def _sent(importer: Caller, new: tuple[NewMemory, ...], now: datetime) -> tuple[Outcome, ...]:
    """Send a part through the door; one that the database refuses row by row, without that row."""
    try:
        with transaction.atomic():
            return remember_all(caller=importer, new=new, now=now)
    except (DataError, IntegrityError, ValueError):
        if len(new) == 1:
            return (_POISON,)
    return tuple(outcome for one in new for outcome in _sent(importer, (one,), now))


def upload_of(*, batch: Import) -> Upload:
    """Return where the memories of a batch go."""
    return Upload(
        files=(),
        project=str(batch.project_id) if batch.project_id else None,
        scope=batch.scope,
        team=str(batch.team_id) if batch.team_id else None,
    )


def _waiting(batch: Import) -> int:
    return batch.rows.filter(outcome="").count()


def _before(batch: Import, hashes: tuple[str, ...]) -> dict[UUID, dict[str, Any]]:
    """Return what confirming the memories of these texts will change, by their ids."""
    found = Memory.objects.filter(
        Q(project_id=batch.project_id),
        audience=batch.audience,
        content_hash__in=hashes,
        status="active",
    ).values("id", "confirmations", "importance", "last_confirmed_at")
    return {
        row["id"]: {
            "confirmations": row["confirmations"],
            "importance": row["importance"],
            "last_confirmed_at": row["last_confirmed_at"] and row["last_confirmed_at"].isoformat(),
        }
        for row in found
    }


def _note(row: ImportRow, outcome: Outcome, before: dict[UUID, dict[str, Any]]) -> None:
    memory = outcome.memory
    row.outcome, row.gate = outcome.outcome, outcome.gate
    row.reason, row.hint = str(outcome.reason), str(outcome.hint)
    row.memory_id = memory.id if memory else None
    row.memory_version = memory.version if memory and outcome.done else None
    kept = {name: row.candidate[name] for name in ("keys", "links") if row.candidate.get(name)}
    if memory is not None and outcome.done == "confirmed" and memory.id in before:
        kept[BEFORE] = before[memory.id]
    row.candidate = kept if memory is not None else {}


def _end(batch: Import, now: datetime) -> None:
    """Link what the rows name, and end the batch. In a unit."""
    links = tuple(_links(batch))
    MemoryLink.objects.bulk_create(links, ignore_conflicts=True, batch_size=1_000)
    batch.state, batch.error, batch.ended_at = "done", "", now
    batch.save(update_fields=["state", "error", "ended_at"])


def _links(batch: Import) -> Iterator[MemoryLink]:
    """Yield the links of a batch; between two memories that were there already, none is made."""
    rows = batch.rows.exclude(memory_id=None).order_by("number")
    told = [
        (memory_id, outcome, kept)
        for memory_id, outcome, kept in rows.values_list("memory_id", "outcome", "candidate")
        if memory_id is not None
    ]
    by_key: dict[str, UUID] = {}
    for memory_id, _, kept in told:
        for key in kept.get("keys", ()):
            by_key.setdefault(key, memory_id)
    new = {memory_id for memory_id, outcome, _ in told if outcome == "added"}
    made: set[tuple[UUID, UUID, str]] = set()
    for memory_id, _, kept in told:
        for kind, target in kept.get("links", ()):
            other = by_key.get(target)
            if other is None or other == memory_id or not {memory_id, other} & new:
                continue
            if (memory_id, other, kind) in made:
                continue
            made.add((memory_id, other, kind))
            yield MemoryLink(source_id=memory_id, target_id=other, kind=kind, automatic=True)
