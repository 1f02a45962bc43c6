"""Imports over REST: what a file would do, take it in, and take it back."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import (
    ID,
    MOMENT,
    TEXT,
    TRUTH,
    WHOLE,
    maybe,
    page_of,
    record,
    ref,
    several,
)
from accounts.api.shapes import Field, Several, Text, Whole
from accounts.caller import TokenScope
from memory.api import inputs, output
from memory.documents.actions.import_batches import begin_import, cancel_import, retry_import
from memory.documents.actions.import_undo import undo_import
from memory.documents.actions.uploads import LARGEST_UPLOAD, Upload, preview_import
from memory.documents.candidates import MOST_CANDIDATES
from memory.documents.queries import imports
from memory.documents.queries.imports import ImportView, RowView

ROWS_SHOWN: Final = 1_000  # of a preview
_NAME: Final = Field(
    name="name",
    shape=Text(largest=400, smallest=1),
    says="The file's name; its content tells the format, its name becomes the source.",
    default="upload",
)
_LEFT_OUT: Final = Field(
    name="left_out",
    shape=Several(of=Whole(smallest=1, largest=MOST_CANDIDATES), largest=1_000),
    says="Numbers of rows of the preview that are left out.",
    default=(),
)
_PLACE: Final = (
    inputs.PROJECT,
    Field(name="scope", shape=inputs.SCOPE, says="Who sees the memories.", default=None),
    Field(
        name="team",
        shape=Text(largest=64, smallest=1),
        says="The team's slug, for the scope team.",
        default=None,
    ),
)
_COUNTS: Final[Mapping[str, Any]] = {"type": "object", "additionalProperties": WHOLE}
_FILE: Final = record(name=TEXT, format=TEXT, candidates=WHOLE, notices=several(TEXT))
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Import": record(
        id=ID,
        name=TEXT,
        state=TEXT,
        project_id=maybe(ID),
        scope=TEXT,
        files=several(_FILE),
        total=WHOLE,
        counts=_COUNTS,
        to_review=WHOLE,
        job_id=maybe(ID),
        agent=TEXT,
        created_by=maybe(ID),
        created_at=MOMENT,
        ended_at=maybe(MOMENT),
        error=TEXT,
        is_mine=TRUTH,
    ),
    "ImportPage": page_of("Import"),
    "ImportRow": record(
        number=WHOLE,
        file=TEXT,
        line=maybe(WHOLE),
        outcome=TEXT,
        gate=TEXT,
        reason=TEXT,
        hint=TEXT,
        memory=maybe(ref("Memory")),
    ),
    "ImportRowPage": page_of("ImportRow"),
    "ImportPreviewRow": record(
        number=WHOLE,
        file=TEXT,
        line=maybe(WHOLE),
        type=TEXT,
        content=TEXT,
        tags=several(TEXT),
        outcome=TEXT,
        gate=TEXT,
        reason=TEXT,
        hint=TEXT,
    ),
    "ImportPreview": record(
        files=several(_FILE), rows=several(ref("ImportPreviewRow")), counts=_COUNTS, total=WHOLE
    ),
    "ImportUndone": record(**{"import": ref("Import")}, archived=WHOLE, restored=WHOLE, kept=WHOLE),
}
_IMPORT: Final[Mapping[str, Any]] = {
    "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a80",
    "name": "CLAUDE.md",
    "state": "queued",
    "project_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a70",
    "scope": "project",
    "files": [{"name": "CLAUDE.md", "format": "markdown", "candidates": 2, "notices": []}],
    "total": 2,
    "counts": {"waiting": 2},
    "to_review": 0,
    "job_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a81",
    "agent": "claude-code",
    "created_by": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a71",
    "created_at": "2026-11-20T12:00:00Z",
    "ended_at": None,
    "error": "",
    "is_mine": True,
}
_ROW: Final[Mapping[str, Any]] = {
    "number": 1,
    "file": "CLAUDE.md",
    "line": 4,
    "outcome": "refused",
    "gate": "secrets",
    "reason": "The text holds what looks like a secret: password at line 1, column 9.",
    "hint": "Say where the secret is kept instead of what it is, and send it again.",
}


def look(ask: Ask) -> Answer:
    """Say what an upload would do; nothing is stored."""
    seen = preview_import(caller=ask.caller, upload=_upload(ask))
    rows = [
        {
            "number": row.number,
            "file": row.file,
            "line": row.line,
            "type": row.type,
            "content": row.content,
            "tags": row.tags,
            "outcome": row.outcome,
            "gate": row.gate,
            "reason": row.reason,
            "hint": row.hint,
        }
        for row in seen.rows[:ROWS_SHOWN]
    ]
    files = [
        {
            "name": file.name,
            "format": file.format,
            "candidates": file.candidates,
            "notices": file.notices,
        }
        for file in seen.files
    ]
    body = {"files": files, "rows": rows, "counts": dict(seen.counts), "total": len(seen.rows)}
    return Answer(body=body)


def begin(ask: Ask) -> Answer:
    """Take an upload in; a job does the work."""
    view = begin_import(caller=ask.caller, upload=_upload(ask), now=ask.now)
    return Answer(status=202, body=shown(view), location=f"/api/v1/imports/{view.id}")


def index(ask: Ask) -> Answer:
    """Return a page of imports, the newest first."""
    page = imports.list_imports(
        caller=ask.caller,
        project=ask.query["project"],
        after=UUID(ask.cursor) if ask.cursor else None,
        limit=ask.query["limit"],
        now=ask.now,
    )
    following = str(page.next_after) if page.next_after else None
    return Answer(body={"items": [shown(one) for one in page.items]}, next_cursor=following)


def get(ask: Ask) -> Answer:
    """Return one import."""
    return Answer(
        body=shown(imports.get_import(caller=ask.caller, batch_id=path_id(ask=ask), now=ask.now))
    )


def rows(ask: Ask) -> Answer:
    """Return a page of the rows of an import, in their order."""
    limit = ask.query["limit"]
    found = imports.list_rows(
        caller=ask.caller,
        batch_id=path_id(ask=ask),
        after=int(ask.cursor or 0),
        limit=limit + 1,
        now=ask.now,
    )
    following = str(found[limit - 1].number) if len(found) > limit else None
    return Answer(body={"items": [_row(one) for one in found[:limit]]}, next_cursor=following)


def undo(ask: Ask) -> Answer:
    """Take an import back."""
    done = undo_import(caller=ask.caller, batch_id=path_id(ask=ask), now=ask.now)
    figures = {"archived": done.archived, "restored": done.restored, "kept": done.kept}
    return Answer(body={"import": shown(done.batch), **figures})


def cancel(ask: Ask) -> Answer:
    """Let what waits of an import never come."""
    return Answer(
        body=shown(cancel_import(caller=ask.caller, batch_id=path_id(ask=ask), now=ask.now))
    )


def retry(ask: Ask) -> Answer:
    """Take in what waits of an import that failed."""
    return Answer(
        body=shown(retry_import(caller=ask.caller, batch_id=path_id(ask=ask), now=ask.now))
    )


def shown(view: ImportView) -> dict[str, Any]:
    """Return an import as callers see it."""
    return {name: getattr(view, name) for name in _IMPORT}


def _row(row: RowView) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in _ROW},
        "memory": None if row.memory is None else output.memory(row.memory),
    }


def _upload(ask: Ask) -> Upload:
    return Upload(
        files=((ask.query["name"], ask.body),) if ask.body else (),
        project=ask.query["project"],
        scope=ask.query["scope"],
        team=ask.query["team"],
        left_out=frozenset(ask.query.get("left_out", ())),
    )


_ONE: Final = Reply(status=200, says="The import.", schema="Import", example=_IMPORT)
ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="imports",
        name="begin_import",
        tag="imports",
        summary="Import a file",
        says=(
            "The body is the file itself, whatever its Content-Type: Markdown, JSON, JSON lines, "
            "mem0's pages or export, a memory-v3 database, an export of ours, or a zip of them. "
            "What it says waits for review. Sent again, it adds nothing and changes what changed."
        ),
        scope=TokenScope.WRITE,
        run=begin,
        query=(_NAME, *_PLACE, _LEFT_OUT),
        upload=LARGEST_UPLOAD,
        replies=(Reply(status=202, says="A job takes it in.", schema="Import", example=_IMPORT),),
    ),
    Endpoint(
        method="POST",
        path="imports/preview",
        name="preview_import",
        tag="imports",
        summary="See what a file would do",
        says="Nothing is stored. At most 1,000 rows are shown; the counts are of all.",
        scope=TokenScope.WRITE,
        run=look,
        query=(_NAME, *_PLACE),
        upload=LARGEST_UPLOAD,
        replies=(
            Reply(
                status=200,
                says="What was found, and what would become of each statement.",
                schema="ImportPreview",
                example={
                    "files": _IMPORT["files"],
                    "rows": [{**_ROW, "type": "", "content": "", "tags": []}],
                    "counts": {"refused": 1},
                    "total": 1,
                },
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="imports",
        name="list_imports",
        tag="imports",
        summary="List imports",
        scope=TokenScope.READ,
        run=index,
        query=(inputs.PROJECT,),
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of imports, the newest first.",
                schema="ImportPage",
                example={"items": [_IMPORT], "next_cursor": None},
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="imports/{id}",
        name="get_import",
        tag="imports",
        summary="Look at one import",
        scope=TokenScope.READ,
        run=get,
        replies=(_ONE,),
    ),
    Endpoint(
        method="GET",
        path="imports/{id}/rows",
        name="list_import_rows",
        tag="imports",
        summary="What became of each row",
        scope=TokenScope.READ,
        run=rows,
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of rows, in their order.",
                schema="ImportRowPage",
                example={"items": [{**_ROW, "memory": None}], "next_cursor": None},
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="imports/{id}/undo",
        name="undo_import",
        tag="imports",
        summary="Take an import back",
        says="What somebody has changed since stays, and is counted.",
        scope=TokenScope.WRITE,
        run=undo,
        body=inputs.NOTHING,
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="What was taken back.",
                schema="ImportUndone",
                example={"import": _IMPORT, "archived": 2, "restored": 0, "kept": 0},
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="imports/{id}/cancel",
        name="cancel_import",
        tag="imports",
        summary="Cancel an import",
        says="What is in stays until it is undone.",
        scope=TokenScope.WRITE,
        run=cancel,
        body=inputs.NOTHING,
        idempotent=True,
        replies=(_ONE,),
    ),
    Endpoint(
        method="POST",
        path="imports/{id}/retry",
        name="retry_import",
        tag="imports",
        summary="Try a failed import again",
        says="What is in stays; what still waits is taken in.",
        scope=TokenScope.WRITE,
        run=retry,
        body=inputs.NOTHING,
        idempotent=True,
        replies=(_ONE,),
    ),
)
