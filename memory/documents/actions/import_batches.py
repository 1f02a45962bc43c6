"""Import in the background: begin, run part by part, cancel, try again, and undo as one step.

A part and the outcomes of its rows are one transaction, so a worker that dies in between leaves
nothing half done, and the next one goes on where it stopped.

Undone, what an import added is archived, and what it changed is as before. What somebody has
touched since is theirs now: it stays, and is counted. So does a confirmation of what was confirmed
again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from django.db import DataError, IntegrityError, transaction
from django.db.models import Q

from accounts import jobs, tenancy
from accounts.caller import Caller, is_person, principal
from accounts.errors import CairnError, Conflict, Forbidden
from memory.documents import file_formats, queries
from memory.documents.actions import uploads
from memory.documents.models import Import, ImportRow
from memory.intake.actions import remember, revise
from memory.intake.validation import NewMemory
from memory.records import models, versions, writes
from memory.records.models import Memory, MemoryLink
from memory.review.actions import verdicts
from memory.taxonomy import Status
from memory.text import text as texts
from teams import audit
from teams.permissions import Act, allows, require

JOB: Final = "memory.run_import"
LONGEST_NAME: Final = 200  # characters, the column's
LONGEST_ERROR: Final = 400  # characters, the column's
MOST_FILES_SHOWN: Final = 200
BATCH_SIZE: Final = 1_000  # rows of a statement
PART: Final = 200  # rows a transaction; some two seconds
ENDED: Final = frozenset({"done", "cancelled", "undone"})
SAVED: Final = ("outcome", "gate", "reason", "hint", "memory_id", "memory_version", "candidate")
BEFORE: Final = "before"  # in a row: what a confirmation changed
CONFIRMING: Final = ("confirmations", "importance", "last_confirmed_at")  # what one changes
UNDOING: Final = "the import was undone"
CREATED: Final = ("added", "proposed")  # outcomes of rows that made a memory
UNDONE, KEPT = "undone", "kept"
TOUCHED: Final = "It has changed since; it stays."
_POISON: Final = remember.Outcome(
    outcome="refused",
    memory=None,
    gate=uploads.INPUT,
    reason="The database does not take this row.",
    hint="Check it for unusual characters, numbers or dates.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportUndone:
    """What undoing did: memories archived, restored, and left because they changed since."""

    batch: queries.ImportView
    archived: int
    restored: int
    kept: int


def begin_import(
    *,
    caller: Caller,
    upload: uploads.Upload,
    now: datetime,
    found: file_formats.DocumentReading | None = None,
) -> queries.ImportView:
    """Read an upload, keep what may become memories, and queue the rest of the work.

    `found` is what was read already, where it came from elsewhere than files. Raises TooLarge,
    InvalidInput for an upload of which nothing can be taken, NotFound.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        uploads.find_place(caller=caller, upload=upload)  # before anything is read for nothing
    found = found or uploads.read_upload(upload=upload)
    judged = uploads.judge_statements(caller=caller, upload=upload, found=found)
    names = [file.name for file in found.files] or [name for name, _ in upload.files]
    name = f"{names[0]} +{len(names) - 1}" if len(names) > 1 else names[0]
    with tenancy.unit():
        place = uploads.find_place(caller=caller, upload=upload)
        judged = uploads.mark_replaced(place=place, judged=judged)
        batch = Import(
            audience=place.audience,
            project_id=place.project.id if place.project else None,
            scope=place.scope.value,
            team_id=place.team_id,
            name=name[-LONGEST_NAME:],
            files=[
                {
                    "name": file.name,
                    "format": file.format.value,
                    "candidates": file.candidates,
                    "notices": [str(notice) for notice in file.notices],
                }
                for file in found.files[:MOST_FILES_SHOWN]
            ],
            total=len(judged),
            created_by=principal(caller=caller),
            user_id=caller.user_id,
            token_id=caller.token_id,
            agent=caller.agent,
            source_interface=caller.source_interface,
            created_at=now,
        )
        batch.job_id = _enqueue(caller, batch)
        batch.save(force_insert=True)
        rows = (_new_row(batch, one, upload) for one in judged)
        ImportRow.objects.bulk_create(rows, batch_size=BATCH_SIZE)
        _record(caller, batch, "import.begun", {"rows": len(judged)})
        return queries.import_view(caller=caller, batch=batch, now=now)


def _new_row(batch: Import, one: uploads.JudgedStatement, upload: uploads.Upload) -> ImportRow:
    row = ImportRow(batch=batch, number=one.number, file=one.file, line=one.line)
    row.gate, row.reason, row.hint = one.gate, str(one.reason), str(one.hint)
    if one.given is None:
        row.outcome = "refused"
    elif one.number in upload.left_out:
        row.outcome = "left_out"
    else:
        marks = {uploads.TRUSTED: upload.is_trusted, uploads.TAINT: upload.taint}
        row.candidate = {**one.given, **{name: mark for name, mark in marks.items() if mark}}
    return row


@contextmanager
def _own_import(caller: Caller, batch_id: UUID) -> Iterator[Import]:
    """Hold a batch in a unit for who began it, and for stewards in person.

    Raises NotFound, Forbidden.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        batch = queries.lock_import(caller=caller, batch_id=batch_id)
        is_own = batch.created_by is not None and batch.created_by == principal(caller=caller)
        is_steward = is_person(caller=caller) and allows(role=caller.role, act=Act.RESTORE)
        if not (is_own or is_steward):
            raise Forbidden(
                detail="Only the person who imported it, or a steward in person, may do this.",
                hint="Ask one of them.",
            )
        yield batch


def cancel_import(*, caller: Caller, batch_id: UUID, now: datetime) -> queries.ImportView:
    """Cancel a batch that waits or runs; one's own, or as a steward in person anybody's.

    What is in stays until it is undone. Raises NotFound, Forbidden, Conflict when it has ended.
    """
    with _own_import(caller, batch_id) as batch:
        if batch.state not in queries.BUSY:
            raise Conflict(detail="The import has ended.", hint="It can be undone.")
        batch.rows.filter(outcome="").update(outcome="cancelled", candidate={})
        _set_state(batch, "cancelled", now)
        if batch.job_id is not None:
            jobs.cancel(job_id=batch.job_id)
        _record(caller, batch, "import.cancelled")
        return queries.import_view(caller=caller, batch=batch, now=now)


def retry_import(*, caller: Caller, batch_id: UUID, now: datetime) -> queries.ImportView:
    """Queue the job of a failed batch again; one's own, or as a steward in person anybody's.

    What is in stays, what still waits is taken in. Raises NotFound, Forbidden, Conflict when it has
    not failed.
    """
    with _own_import(caller, batch_id) as batch:
        if queries.failure_of(batch=batch) is None:
            raise Conflict(
                detail="Only an import that failed is tried again.",
                hint="Wait until it has ended, or import the file again.",
            )
        if batch.job_id is None or not jobs.retry(job_id=batch.job_id):
            batch.job_id = _enqueue(caller, batch) or batch.job_id
            batch.save(update_fields=["job_id"])
        _set_state(batch, "queued", None)
        _record(caller, batch, "import.retried")
        return queries.import_view(caller=caller, batch=batch, now=now)


def run_import(
    *, caller: Caller, batch_id: UUID, now: datetime, tell: Callable[[int, int], None]
) -> Mapping[str, int]:
    """Take in what waits; `caller` is who began it, as they are now. Returns counts by outcome.

    Raises NotFound when the project is no more for them.
    """
    importer = uploads.as_importer(caller=caller)
    while True:
        with tenancy.unit():
            batch = Import.objects.select_for_update().filter(pk=batch_id).first()
            if batch is None or batch.state in ENDED:
                break
            taken = _take_part(importer, batch, now)
            if not taken:
                links = tuple(_links(batch))
                MemoryLink.objects.bulk_create(links, ignore_conflicts=True, batch_size=BATCH_SIZE)
                _set_state(batch, "done", now)
                break
            done, total = batch.total - batch.rows.filter(outcome="").count(), batch.total
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


def undo_import(*, caller: Caller, batch_id: UUID, now: datetime) -> ImportUndone:
    """Undo a batch; one's own, or as a steward in person anybody's.

    Raises NotFound, Forbidden, Conflict while it runs or when it is undone already.
    """
    with _own_import(caller, batch_id) as batch:
        if batch.state == UNDONE:
            raise Conflict(detail="The import is undone already.", hint="Import the file again.")
        if batch.state in queries.BUSY and queries.failure_of(batch=batch) is None:
            raise Conflict(detail="The import still runs.", hint="Cancel it first, or wait.")
        rows = batch.rows.exclude(memory_version=None)
        untouched = _lock_untouched(batch, tuple(rows.order_by("number")))
        added = {row.pk: memory for row, memory in untouched if row.outcome in CREATED}
        new = tuple(sorted(set(added.values()), key=attrgetter("id")))
        verdicts.archive_held(caller=caller, rows=new, reason=UNDOING, now=now)
        # what was proposed is so no more, and nobody has decided against it
        models.Conflict.objects.filter(newer__in=new, verdict="").delete()
        restored = [
            row.pk
            for row, memory in untouched
            if row.pk not in added and _restore(caller, row, memory, now)
        ]
        behind = Memory.objects.select_for_update().filter(
            superseded_by__in=new, status=Status.SUPERSEDED.value
        )
        replaced = tuple(behind.order_by("id"))
        freed = verdicts.without_twins(rows=replaced)
        verdicts.restore_held(caller=caller, rows=freed, now=now)
        undone = (*added, *restored)
        kept = rows.exclude(pk__in=undone).update(outcome=KEPT, reason=TOUCHED)
        rows.filter(pk__in=undone).update(outcome=UNDONE)
        _set_state(batch, UNDONE, now)
        counts = {
            "archived": len(new),
            "restored": len(restored) + len(freed),
            "kept": kept + len(replaced) - len(freed),
        }
        _record(caller, batch, "import.undone", counts)
        view = queries.import_view(caller=caller, batch=batch, now=now)
        return ImportUndone(batch=view, **counts)


def _lock_untouched(batch: Import, rows: tuple[ImportRow, ...]) -> list[tuple[ImportRow, Memory]]:
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
    settled = models.Conflict.objects.filter(settled_at__gte=batch.created_at).exclude(verdict="")
    sides = settled.filter(Q(older__in=ids) | Q(newer__in=ids)).values_list("older", "newer")
    verdicts = models.ReviewVerdict.objects.filter(
        memory__in=ids, decided_at__gte=batch.created_at, undone_at=None
    ).exclude(verdict__in=models.BESIDE)
    told = {id for pair in sides for id in pair} | set(verdicts.values_list("memory", flat=True))
    return frozenset(told & ids)


def _restore(caller: Caller, row: ImportRow, memory: Memory, now: datetime) -> bool:
    """Let a memory be as before a row changed or confirmed it; False where it stays as it is."""
    before = row.candidate.get(BEFORE)
    if before is not None:
        memory.confirmations, memory.importance = before["confirmations"], before["importance"]
        memory.last_confirmed_at = file_formats.read_time(text=before["last_confirmed_at"])
        writes.save(row=memory, fields=CONFIRMING, now=now)
        writes.announce(caller=caller, kind="memory.changed", rows=(memory,))
        return True
    version = memory.versions.filter(number=memory.version - 1).first()
    if version is None:
        return False
    try:
        with transaction.atomic():  # what was written of a row that stays goes again
            revise.restore_version(
                caller=caller, row=memory, version=version, reason=UNDOING, now=now
            )
    except CairnError:  # another memory says the same by now, or it may not be changed
        return False
    # an earlier import left it with these words: undone after this one, it finds them untouched
    earlier = ImportRow.objects.filter(memory_id=memory.id, memory_version=version.number)
    earlier.update(memory_version=memory.version)
    return True


def _take_part(importer: Caller, batch: Import, now: datetime) -> int:
    """Send the next rows through the door; return how many there were. In a unit."""
    rows = list(batch.rows.filter(outcome="").order_by("number")[:PART])
    if not rows:
        return 0
    if batch.state != "running":
        _set_state(batch, "running", None)
    project, team = (str(id) if id else None for id in (batch.project_id, batch.team_id))
    upload = uploads.Upload(files=(), project=project, scope=batch.scope, team=team)
    new = tuple(uploads.new_memory(upload=upload, given=row.candidate) for row in rows)
    known = Memory.objects.filter(
        Q(project_id=batch.project_id),
        audience=batch.audience,
        content_hash__in=[texts.content_hash(content=one.content) for one in new],
        status="active",
    )
    before = {  # what confirming them will change
        id: dict(zip(CONFIRMING, versions.plain(value=values), strict=True))
        for id, *values in known.values_list("id", *CONFIRMING)
    }
    for row, outcome in zip(rows, _send(importer, new, now), strict=True):
        _keep_outcome(row, outcome, before)
    ImportRow.objects.bulk_update(rows, SAVED)
    return len(rows)


def _keep_outcome(
    row: ImportRow, outcome: remember.Outcome, before: Mapping[UUID, Mapping[str, Any]]
) -> None:
    """Write into a row what became of it; of the candidate, what linking and undoing need."""
    row.outcome, row.gate = outcome.outcome, outcome.gate
    row.reason, row.hint = str(outcome.reason), str(outcome.hint)
    given, row.candidate = row.candidate, {}
    memory = outcome.memory
    if memory is None:
        return
    row.memory_id = memory.id
    row.memory_version = memory.version if outcome.done else None
    row.candidate = {name: given[name] for name in ("keys", "links") if given.get(name)}
    if outcome.done == "confirmed" and memory.id in before:
        row.candidate[BEFORE] = before[memory.id]


def _send(
    importer: Caller, new: tuple[NewMemory, ...], now: datetime
) -> tuple[remember.Outcome, ...]:
    """Send a part through the door; one that the database refuses row by row, without that row."""
    try:
        with transaction.atomic():
            return remember.remember_all(caller=importer, new=new, now=now)
    except (DataError, IntegrityError, ValueError):
        if len(new) == 1:
            return (_POISON,)
    return tuple(outcome for one in new for outcome in _send(importer, (one,), now))


def _set_state(batch: Import, state: str, ended_at: datetime | None) -> None:
    batch.state, batch.error, batch.ended_at = state, "", ended_at
    batch.save(update_fields=["state", "error", "ended_at"])


def _links(batch: Import) -> Iterator[MemoryLink]:
    """Yield the links of a batch; between two memories that were there already, none is made."""
    rows = batch.rows.exclude(memory_id=None).order_by("number")
    kept: list[tuple[Any, ...]] = list(rows.values_list("memory_id", "candidate"))
    by_key: dict[str, UUID] = {  # the first of a name
        key: id for id, candidate in reversed(kept) for key in candidate.get("keys", ())
    }
    new = set(rows.filter(outcome__in=CREATED).values_list("memory_id", flat=True))
    wanted = dict.fromkeys(
        (id, by_key[target], kind)
        for id, candidate in kept
        for kind, target in candidate.get("links", ())
        if target in by_key
    )
    for source, other, kind in wanted:
        if other != source and {source, other} & new:
            yield MemoryLink(source_id=source, target_id=other, kind=kind, automatic=True)


def _enqueue(caller: Caller, batch: Import) -> UUID | None:
    return jobs.enqueue(
        JOB,
        payload={"key": str(batch.id)},
        key=batch.id.hex,
        created_by=principal(caller=caller),
    )


def _record(
    caller: Caller, batch: Import, act: str, details: Mapping[str, int] | None = None
) -> None:
    id = str(batch.id)
    audit.append(act, "import", id, caller=caller, details=details)
