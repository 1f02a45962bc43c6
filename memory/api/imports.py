"""Imports over REST: what a file would do, take it in, and take it back."""

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Answer, Call, get, post
from accounts.api.schemas import Choice, Name, Nothing, Page, PageQuery, Result, Several
from memory.api.schemas.memories import Memory, ProjectPageQuery, ProjectQuery, Slug
from memory.documents.actions import import_batches, import_undo, uploads
from memory.documents.actions.uploads import LARGEST_UPLOAD, Upload
from memory.documents.candidates import MOST_CANDIDATES
from memory.documents.queries import imports
from memory.documents.queries.imports import ImportView
from memory.taxonomy import Scope

ROWS_SHOWN: Final = 1_000  # of a preview


class PreviewQuery(ProjectQuery):
    """Which file, and where its memories would go."""

    name: Name = Field(
        "upload",
        max_length=400,
        description="The file's name; its content tells the format, its name becomes the source.",
    )
    scope: Choice[Scope] | None = Field(None, description="Who sees the memories.")
    team: Slug | None = Field(None, description="The team's slug, for the scope team.")


class ImportQuery(PreviewQuery):
    """Which file, where its memories go, and what of it is left out."""

    left_out: Several[Annotated[int, Field(ge=1, le=MOST_CANDIDATES)]] = Field(
        (), max_length=1_000, description="Numbers of rows of the preview that are left out."
    )


class ImportedFile(Result):
    """A file of an import."""

    name: str
    format: str
    candidates: int
    notices: tuple[str, ...]


class Import(Result):
    """The import."""

    id: UUID
    name: str
    state: str
    project_id: UUID | None
    scope: str
    files: tuple[ImportedFile, ...]
    total: int
    counts: dict[str, int]
    to_review: int
    job_id: UUID | None
    agent: str
    created_by: UUID | None
    created_at: datetime
    ended_at: datetime | None
    error: str
    is_mine: bool


class ImportRow(Result):
    """What became of a row."""

    number: int
    file: str
    line: int | None
    outcome: str
    gate: str
    reason: str
    hint: str
    memory: Memory | None


class ImportPreviewRow(Result):
    """What would become of a row."""

    number: int
    file: str
    line: int | None
    type: str
    content: str
    tags: tuple[str, ...]
    outcome: str
    gate: str
    reason: str
    hint: str


class ImportPreview(Result):
    """What was found, and what would become of each statement."""

    files: tuple[ImportedFile, ...]
    rows: tuple[ImportPreviewRow, ...]
    counts: dict[str, int]
    total: int


class UndoneImport(Result):
    """What was taken back."""

    batch: Import = Field(serialization_alias="import")
    archived: int
    restored: int
    kept: int


@post("imports", tag="imports", answer=Import, status=202, upload=LARGEST_UPLOAD, idempotent=False)
def begin_import(call: Call, query: ImportQuery) -> Answer:
    """Import a file.

    The body is the file itself, whatever its Content-Type: Markdown, JSON, JSON lines, mem0's pages
    or export, a memory-v3 database, an export of ours, or a zip of them. What it says waits for
    review. Sent again, it adds nothing and changes what changed.
    """
    upload = _upload(call, query, left_out=frozenset(query.left_out))
    view = import_batches.begin_import(caller=call.caller, upload=upload, now=call.now)
    return Answer(view, location=f"/api/v1/imports/{view.id}")


@post(
    "imports/preview", tag="imports", answer=ImportPreview, upload=LARGEST_UPLOAD, idempotent=False
)
def preview_import(call: Call, query: PreviewQuery) -> dict[str, Any]:
    """See what a file would do.

    Nothing is stored. At most 1,000 rows are shown; the counts are of all.
    """
    seen = uploads.preview_import(caller=call.caller, upload=_upload(call, query))
    return {
        "files": seen.files,
        "rows": seen.rows[:ROWS_SHOWN],
        "counts": seen.counts,
        "total": len(seen.rows),
    }


@get("imports", tag="imports", answer=Page[Import])
def list_imports(call: Call, query: ProjectPageQuery) -> Answer:
    """List imports."""
    page = imports.list_imports(
        caller=call.caller,
        project=query.project,
        after=call.after(UUID),
        limit=query.limit,
        now=call.now,
    )
    return Answer(page.items, following=page.next_after)


@get("imports/{id}", tag="imports", answer=Import)
def get_import(call: Call) -> ImportView:
    """Look at one import."""
    return imports.get_import(caller=call.caller, batch_id=call.id, now=call.now)


@get("imports/{id}/rows", tag="imports", answer=Page[ImportRow])
def list_import_rows(call: Call, query: PageQuery) -> Answer:
    """What became of each row."""
    limit = query.limit
    found = imports.list_rows(
        caller=call.caller,
        batch_id=call.id,
        after=call.after(int) or 0,
        limit=limit + 1,
        now=call.now,
    )
    following = found[limit - 1].number if len(found) > limit else None
    return Answer(found[:limit], following=following)


@post("imports/{id}/undo", tag="imports", answer=UndoneImport)
def undo_import(call: Call, body: Nothing) -> import_undo.ImportUndone:
    """Take an import back.

    What somebody has changed since stays, and is counted.
    """
    return import_undo.undo_import(caller=call.caller, batch_id=call.id, now=call.now)


@post("imports/{id}/cancel", tag="imports", answer=Import)
def cancel_import(call: Call, body: Nothing) -> ImportView:
    """Cancel an import.

    What is in stays until it is undone.
    """
    return import_batches.cancel_import(caller=call.caller, batch_id=call.id, now=call.now)


@post("imports/{id}/retry", tag="imports", answer=Import)
def retry_import(call: Call, body: Nothing) -> ImportView:
    """Try a failed import again.

    What is in stays; what still waits is taken in.
    """
    return import_batches.retry_import(caller=call.caller, batch_id=call.id, now=call.now)


def _upload(call: Call, query: PreviewQuery, left_out: frozenset[int] = frozenset()) -> Upload:
    return Upload(
        files=((query.name, call.body),) if call.body else (),
        project=query.project,
        scope=query.scope,
        team=query.team,
        left_out=left_out,
    )
