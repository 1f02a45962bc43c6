"""Begin an import: keep its statements as rows that wait, and queue the job that takes them in."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from accounts import jobs, tenancy
from accounts.caller import Caller, principal
from memory.documents.actions import importing
from memory.documents.actions.importing import Judged, Upload
from memory.documents.actions.preview_import import place_of
from memory.documents.candidates import FileRead, Reading
from memory.documents.models import Import, ImportRow
from memory.documents.queries import imports
from memory.documents.queries.imports import ImportView
from teams import audit
from teams.permissions import Act, require

JOB: Final = "memory.run_import"
LONGEST_NAME: Final = 200  # characters, the column's
MOST_FILES_TOLD: Final = 200
ROWS_A_STATEMENT: Final = 1_000
LEFT_OUT, REFUSED = "left_out", "refused"


def begin_import(*, caller: Caller, upload: Upload, now: datetime) -> ImportView:
    """Read an upload, keep what may become memories, and queue the rest of the work.

    Raises TooLarge, InvalidInput for an upload of which nothing can be taken, NotFound.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        place_of(caller=caller, upload=upload)  # before anything is read for nothing
    found = importing.read(upload=upload)
    judged = importing.judge(caller=caller, upload=upload, found=found)
    with tenancy.unit():
        batch = _batch(caller, upload, found, now)
        batch.total = len(judged)
        batch.job_id = jobs.enqueue(
            JOB,
            payload={"key": str(batch.id)},
            key=batch.id.hex,
            created_by=principal(caller=caller),
        )
        batch.save(force_insert=True)
        rows = _rows(batch, upload, judged)
        ImportRow.objects.bulk_create(rows, batch_size=ROWS_A_STATEMENT)
        audit.append(
            act="import.begun",
            object_type="import",
            object_id=str(batch.id),
            caller=caller,
            details={"rows": len(judged)},
        )
        return imports.view_of(caller=caller, batch=batch, now=now)


def _batch(caller: Caller, upload: Upload, found: Reading, now: datetime) -> Import:
    where = place_of(caller=caller, upload=upload)
    names = [file.name for file in found.files] or [name for name, _ in upload.files]
    several = f"{names[0]} +{len(names) - 1}" if len(names) > 1 else names[0]
    return Import(
        audience=where.audience,
        project_id=where.project.id if where.project else None,
        scope=where.scope.value,
        team_id=where.team_id,
        name=several[-LONGEST_NAME:],
        files=[_told(file) for file in found.files[:MOST_FILES_TOLD]],
        created_by=principal(caller=caller),
        user_id=caller.user_id,
        token_id=caller.token_id,
        agent=caller.agent,
        source_interface=caller.source_interface,
        created_at=now,
    )


def _told(file: FileRead) -> dict[str, Any]:
    return {
        "name": file.name,
        "format": file.format.value,
        "candidates": file.candidates,
        "notices": [str(notice) for notice in file.notices],
    }


def _rows(batch: Import, upload: Upload, judged: tuple[Judged, ...]) -> Iterator[ImportRow]:
    for one in judged:
        row = ImportRow(batch=batch, number=one.number, file=one.file, line=one.line)
        if one.candidate is None:
            row.outcome, row.gate = REFUSED, one.gate
            row.reason, row.hint = str(one.reason), str(one.hint)
        elif one.number in upload.left_out:
            row.outcome = LEFT_OUT
        else:
            row.candidate = importing.as_json(candidate=one.candidate)
        yield row
