"""Documents over REST: imports, exports, and the notes that memories come from."""

from dataclasses import replace
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import Field

from accounts.api import schemas
from accounts.api.endpoints import Answer, Call, delete, get, post, put
from accounts.caller import TokenScope
from memory.api.schemas.memories import Memory, ProjectPageQuery, ProjectQuery, Slug
from memory.documents import queries
from memory.documents.actions import export, import_batches, note_push, uploads
from memory.documents.actions.uploads import LARGEST_UPLOAD, Upload
from memory.documents.file_formats import MOST_CANDIDATES
from memory.search.context import LARGEST_BUDGET
from memory.sessions.actions import binding
from memory.taxonomy import Scope

ROWS_SHOWN: Final = 1_000  # of a preview


class PreviewQuery(ProjectQuery):
    """Which file, and where its memories would go."""

    name: schemas.Name = Field(
        "upload",
        max_length=400,
        description="The file's name; its content tells the format, its name becomes the source.",
    )
    scope: schemas.Choice[Scope] | None = Field(None, description="Who sees the memories.")
    team: Slug | None = Field(None, description="The team's slug, for the scope team.")


class ImportQuery(PreviewQuery):
    """Which file, where its memories go, and what of it is left out."""

    left_out: schemas.Several[Annotated[int, Field(ge=1, le=MOST_CANDIDATES)]] = Field(
        (), max_length=1_000, description="Numbers of rows of the preview that are left out."
    )


class ImportedFile(schemas.Result):
    """A file of an import."""

    name: str
    format: str
    candidates: int
    notices: tuple[str, ...]


@schemas.fields_of(queries.ImportView)
class Import(schemas.Result):
    """The import."""

    files: tuple[ImportedFile, ...]


@schemas.fields_of(queries.RowView)
class ImportRow(schemas.Result):
    """What became of a row."""

    memory: Memory | None


@schemas.fields_of(uploads.JudgedStatement, hidden=("content_hash", "given"))
class ImportPreviewRow(schemas.Result):
    """What would become of a row."""


class ImportPreview(schemas.Result):
    """What was found, and what would become of each statement."""

    files: tuple[ImportedFile, ...]
    rows: tuple[ImportPreviewRow, ...]
    counts: dict[str, int]
    total: int


@schemas.fields_of(import_batches.ImportUndone)
class UndoneImport(schemas.Result):
    """What was taken back."""

    batch: Import = Field(serialization_alias="import")


@post("imports", tag="imports", answer=Import, status=202, upload=LARGEST_UPLOAD, idempotent=False)
def begin_import(call: Call, query: ImportQuery) -> Answer:
    """Import a file.

    The body is the file itself, whatever its Content-Type: Markdown, JSON, JSON lines, mem0's pages
    or export, a memory-v3 database, an export of ours, or a zip of them. What it says waits for
    review. Sent again, it adds nothing and changes what changed.
    """
    upload = replace(
        _upload(call, query),
        left_out=frozenset(query.left_out),
        taint=binding.taint_of_caller(caller=call.caller, project=query.project),
    )
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


@get("imports", tag="imports", answer=schemas.Page[Import])
def list_imports(call: Call, query: ProjectPageQuery) -> Answer:
    """List imports."""
    found, last = queries.list_imports(
        caller=call.caller,
        project=query.project,
        after=call.after(UUID),
        limit=query.limit,
        now=call.now,
    )
    return Answer(found, following=last)


@get("imports/{id}", tag="imports", answer=Import)
def get_import(call: Call) -> queries.ImportView:
    """Look at one import."""
    return queries.get_import(caller=call.caller, batch_id=call.id, now=call.now)


@get("imports/{id}/rows", tag="imports", answer=schemas.Page[ImportRow])
def list_import_rows(call: Call, query: schemas.PageQuery) -> Answer:
    """What became of each row."""
    limit = query.limit
    found = queries.list_rows(
        caller=call.caller,
        batch_id=call.id,
        after=call.after(int) or 0,
        limit=limit + 1,
        now=call.now,
    )
    following = found[limit - 1].number if len(found) > limit else None
    return Answer(found[:limit], following=following)


@post("imports/{id}/undo", tag="imports", answer=UndoneImport)
def undo_import(call: Call, body: schemas.Nothing) -> import_batches.ImportUndone:
    """Take an import back.

    What somebody has changed since stays, and is counted.
    """
    return import_batches.undo_import(caller=call.caller, batch_id=call.id, now=call.now)


@post("imports/{id}/cancel", tag="imports", answer=Import)
def cancel_import(call: Call, body: schemas.Nothing) -> queries.ImportView:
    """Cancel an import.

    What is in stays until it is undone.
    """
    return import_batches.cancel_import(caller=call.caller, batch_id=call.id, now=call.now)


@post("imports/{id}/retry", tag="imports", answer=Import)
def retry_import(call: Call, body: schemas.Nothing) -> queries.ImportView:
    """Try a failed import again.

    What is in stays; what still waits is taken in.
    """
    return import_batches.retry_import(caller=call.caller, batch_id=call.id, now=call.now)


def _upload(call: Call, query: PreviewQuery) -> Upload:
    return Upload(
        files=((query.name, call.body),) if call.body else (),
        project=query.project,
        scope=query.scope,
        team=query.team,
    )


class ExportRequest(schemas.Body):
    """What a file is to hold."""

    project: Slug | None = Field(None, description="A project's slug or id.", examples=["shop"])
    format: schemas.Choice[export.ExportFormat] = Field(
        export.ExportFormat.JSON,
        description="json, ndjson and markdown lose nothing; csv and claude are for reading.",
        examples=["ndjson"],
    )
    query: str = Field(
        "",
        max_length=1_000,
        description="Filters of the query box, is:any for all; what is active when left out.",
        examples=["is:any"],
    )
    budget_tokens: int = Field(
        export.BUDGET_TOKENS, ge=100, le=LARGEST_BUDGET, description="Tokens a CLAUDE.md may take."
    )


@post(
    "exports",
    tag="imports",
    scope=TokenScope.READ,
    media=tuple(dict.fromkeys(media.partition(";")[0] for media, _ in export.WRITERS.values())),
    idempotent=False,
)
def export_memories(call: Call, body: ExportRequest) -> Answer:
    """Export memories.

    A file of what you may see and the filters let through, with versions, links, provenance and
    times. What an import of it brings back is the same. An organization writes three at once; 429
    says when to ask again.
    """
    request = export.ExportRequest(**dict(body))
    made = export.export(caller=call.caller, request=request, now=call.now)
    return Answer(made.file, filename=made.name, media=made.media)


class NewNote(schemas.Body):
    """A document as it is now."""

    project: Slug = Field(description="A project's slug or id.", examples=["shop"])
    path: schemas.Name = Field(
        max_length=note_push.LONGEST_PATH,
        description="The document's path in the project; with the project it names the note.",
        examples=["CLAUDE.md"],
    )
    text: str = Field(
        max_length=note_push.LARGEST,
        description="The document as it is now.",
        examples=["# Shop\n\nDeploys happen on Tuesdays, when both teams are in.\n"],
    )
    scope: schemas.Choice[Scope] | None = Field(None, description="Who sees it.")


class NoteQuery(schemas.Query):
    """Of which project notes are asked for."""

    project: Slug = Field(description="A project's slug or id.")


@schemas.fields_of(queries.NoteView)
class Note(schemas.Result):
    """A document that memories come from."""


@schemas.fields_of(note_push.RefusedStatement)
class RefusedStatement(schemas.Result):
    """A statement of a document that was not stored."""


@schemas.fields_of(note_push.NotePushed)
class PushedNote(schemas.Result):
    """What became of it."""

    note: Note
    refused: tuple[RefusedStatement, ...]


class NoteLine(schemas.Result):
    """The memories of a line."""

    number: int
    memories: tuple[Memory, ...]


class NoteLines(schemas.Result):
    """The note with its text, and the memories of each line."""

    note: Note
    text: str
    lines: tuple[NoteLine, ...]


class RemovedNote(schemas.Result):
    """How many memories became stale, or wait for a person."""

    stale: int
    held: int


@put("notes", tag="notes", answer=PushedNote, bulk=True)
def push_note(call: Call, body: NewNote) -> object:
    """Push a document that memories come from.

    Only what changed is taken out of it: a statement that is gone makes its memory stale, one that
    moved takes its memory along, and every version is kept. What an agent may not make stale waits
    for a person (“held”).
    """
    taint = binding.taint_of_caller(caller=call.caller, project=body.project)
    new = note_push.NewNote(**dict(body), taint=taint)
    return note_push.push_note(caller=call.caller, new=new, now=call.now)


@get("notes", tag="notes", answer=schemas.Items[Note])
def list_notes(call: Call, query: NoteQuery) -> tuple[queries.NoteView, ...]:
    """List the notes of a project."""
    return queries.list_notes(caller=call.caller, project=query.project, limit=queries.LARGEST_PAGE)


@get("notes/{id}", tag="notes", answer=NoteLines)
def get_note(call: Call) -> dict[str, Any]:
    """Look at a note.

    With its text, and the memories of each line.
    """
    found = queries.list_lines(caller=call.caller, note_id=call.id, now=call.now)
    return {
        "note": queries.get_note(caller=call.caller, note_id=call.id),
        "text": "\n".join(one.text for one in found),
        "lines": [
            {"number": one.number, "memories": one.memories} for one in found if one.memories
        ],
    }


@delete("notes/{id}", tag="notes", answer=RemovedNote)
def remove_note(call: Call) -> object:
    """Let a note be a source no more.

    Its memories become stale, or wait for a person where an agent may not do that (“held”); its
    versions are kept.
    """
    return note_push.remove_note(caller=call.caller, note_id=call.id, now=call.now)
