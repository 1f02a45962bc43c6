"""Import in the background: begin, run part by part, cancel, and try again.

A part and the outcomes of its rows are one transaction, so a worker that dies in between leaves
nothing half done, and the next one goes on where it stopped.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import DataError, IntegrityError, transaction
from django.db.models import Q

from accounts import jobs, tenancy
from accounts.caller import Caller, is_person, principal
from accounts.errors import Conflict, Forbidden
from memory.documents.actions import uploads
from memory.documents.models import Import, ImportRow
from memory.documents.queries import imports
from memory.intake.actions.remember import Outcome
from memory.intake.actions.remember_all import remember_all
from memory.intake.validation import NewMemory
from memory.records import versions
from memory.records.models import Memory, MemoryLink
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
_POISON: Final = Outcome(
    outcome="refused",
    memory=None,
    gate=uploads.INPUT,
    reason="The database does not take this row.",
    hint="Check it for unusual characters, numbers or dates.",
)


def begin_import(*, caller: Caller, upload: uploads.Upload, now: datetime) -> imports.ImportView:
    """Read an upload, keep what may become memories, and queue the rest of the work.

    Raises TooLarge, InvalidInput for an upload of which nothing can be taken, NotFound.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        uploads.find_place(caller=caller, upload=upload)  # before anything is read for nothing
    found = uploads.read_upload(upload=upload)
    judged = uploads.judge_statements(caller=caller, upload=upload, found=found)
    names = [file.name for file in found.files] or [name for name, _ in upload.files]
    name = f"{names[0]} +{len(names) - 1}" if len(names) > 1 else names[0]
    with tenancy.unit():
        place = uploads.find_place(caller=caller, upload=upload)
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
        rows = []
        for one in judged:
            row = ImportRow(batch=batch, number=one.number, file=one.file, line=one.line)
            if one.candidate is None:
                row.outcome, row.gate = "refused", one.gate
                row.reason, row.hint = str(one.reason), str(one.hint)
            elif one.number in upload.left_out:
                row.outcome = "left_out"
            else:
                row.candidate = uploads.as_json(candidate=one.candidate)
            rows.append(row)
        ImportRow.objects.bulk_create(rows, batch_size=BATCH_SIZE)
        _record(caller, batch, "import.begun", {"rows": len(judged)})
        return imports.view_of(caller=caller, batch=batch, now=now)


def cancel_import(*, caller: Caller, batch_id: UUID, now: datetime) -> imports.ImportView:
    """Cancel a batch that waits or runs; one's own, or as a steward in person anybody's.

    What is in stays until it is undone. Raises NotFound, Forbidden, Conflict when it has ended.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        batch = imports.lock_import(caller=caller, batch_id=batch_id)
        check_own(caller=caller, batch=batch)
        if batch.state not in imports.BUSY:
            raise Conflict(detail="The import has ended.", hint="It can be undone.")
        batch.rows.filter(outcome="").update(outcome="cancelled", candidate={})
        _set_state(batch, "cancelled", now)
        if batch.job_id is not None:
            jobs.cancel(job_id=batch.job_id)
        _record(caller, batch, "import.cancelled")
        return imports.view_of(caller=caller, batch=batch, now=now)


def retry_import(*, caller: Caller, batch_id: UUID, now: datetime) -> imports.ImportView:
    """Queue the job of a failed batch again; one's own, or as a steward in person anybody's.

    What is in stays, what still waits is taken in. Raises NotFound, Forbidden, Conflict when it has
    not failed.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        batch = imports.lock_import(caller=caller, batch_id=batch_id)
        check_own(caller=caller, batch=batch)
        if imports.failure_of(batch=batch) is None:
            raise Conflict(
                detail="Only an import that failed is tried again.",
                hint="Wait until it has ended, or import the file again.",
            )
        if batch.job_id is None or not jobs.retry(job_id=batch.job_id):
            batch.job_id = _enqueue(caller, batch) or batch.job_id
            batch.save(update_fields=["job_id"])
        _set_state(batch, "queued", None)
        _record(caller, batch, "import.retried")
        return imports.view_of(caller=caller, batch=batch, now=now)


def check_own(*, caller: Caller, batch: Import) -> None:
    """Let who began a batch pass, and stewards in person. Raises Forbidden."""
    is_own = batch.created_by is not None and batch.created_by == principal(caller=caller)
    if is_own or (is_person(caller=caller) and allows(role=caller.role, act=Act.RESTORE)):
        return
    raise Forbidden(
        detail="Only the person who imported it, or a steward in person, may do this.",
        hint="Ask one of them.",
    )


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


def _take_part(importer: Caller, batch: Import, now: datetime) -> int:
    """Send the next rows through the door; return how many there were. In a unit."""
    rows = list(batch.rows.filter(outcome="").order_by("number")[:PART])
    if not rows:
        return 0
    if batch.state != "running":
        _set_state(batch, "running", None)
    upload = uploads.Upload(
        files=(),
        project=str(batch.project_id) if batch.project_id else None,
        scope=batch.scope,
        team=str(batch.team_id) if batch.team_id else None,
    )
    new = tuple(uploads.new_memory(upload=upload, given=row.candidate) for row in rows)
    known = Memory.objects.filter(
        Q(project_id=batch.project_id),
        audience=batch.audience,
        content_hash__in=[texts.content_hash(content=one.content) for one in new],
        status="active",
    )
    before = {  # what confirming them will change
        id: dict(zip(CONFIRMING, (versions.plain(value=one) for one in values), strict=True))
        for id, *values in known.values_list("id", *CONFIRMING)
    }
    for row, outcome in zip(rows, _send(importer, new, now), strict=True):
        memory = outcome.memory
        row.outcome, row.gate = outcome.outcome, outcome.gate
        row.reason, row.hint = str(outcome.reason), str(outcome.hint)
        row.memory_id = memory.id if memory else None
        row.memory_version = memory.version if memory and outcome.done else None
        kept = {name: row.candidate[name] for name in ("keys", "links") if row.candidate.get(name)}
        if memory is not None and outcome.done == "confirmed" and memory.id in before:
            kept[BEFORE] = before[memory.id]
        row.candidate = kept if memory is not None else {}
    ImportRow.objects.bulk_update(rows, SAVED)
    return len(rows)


def _send(importer: Caller, new: tuple[NewMemory, ...], now: datetime) -> tuple[Outcome, ...]:
    """Send a part through the door; one that the database refuses row by row, without that row."""
    try:
        with transaction.atomic():
            return remember_all(caller=importer, new=new, now=now)
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
    kept = tuple(
        (id, outcome, candidate)
        for id, outcome, candidate in rows.values_list("memory_id", "outcome", "candidate")
        if id is not None
    )
    by_key: dict[str, UUID] = {}
    for id, _, candidate in kept:
        for key in candidate.get("keys", ()):
            by_key.setdefault(key, id)
    new = {id for id, outcome, _ in kept if outcome == "added"}
    wanted = dict.fromkeys(
        (id, by_key[target], kind)
        for id, _, candidate in kept
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
    audit.append(
        act=act,
        object_type="import",
        object_id=str(batch.id),
        caller=caller,
        details=details,
    )
