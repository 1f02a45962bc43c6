"""Documents: importing files and taking them back, exporting, and notes that memories come from."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from django.http import FileResponse, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, InvalidInput, NotFound, TooLarge, wrong_field
from accounts.identifiers import as_uuid
from accounts.messages import message
from frontend import labels
from frontend.presenters import review_inbox
from frontend.views import base
from frontend.views.base import Frame
from memory.documents import queries
from memory.documents.actions import export, import_batches, note_push, uploads
from memory.records.actions import MOST_IN_BULK, VerbDetails
from memory.records.queries.pending import Group
from memory.review.actions import bulk, verdicts
from memory.review.queries import inbox as reviews
from memory.taxonomy import Scope
from teams.permissions import Act

IMPORTS: Final = 30  # a page
LINES_SHOWN: Final = 3_000  # of a note
PREVIEW_ROWS: Final = 300  # each can be left out
REFUSALS_SHOWN: Final = 20  # statements of a note that became no memory
ROWS: Final = 100  # of an import, a page
SCOPES: Final = (Scope.PROJECT.value, Scope.PERSONAL.value)


@base.member
def imports(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show imports and the form; take files in that were handed over."""
    context: dict[str, object] = {}
    if request.method == "POST":
        try:
            begun = import_batches.begin_import(
                caller=frame.caller, upload=_upload(request, frame), now=frame.now
            )
            return base.moved(request, to=base.address("import", frame, begun.id))
        except CairnError as error:
            context = {"error": error}
    found, last = queries.list_imports(
        caller=frame.caller,
        project=frame.slug,
        after=as_uuid(text=request.GET.get("after", "")),
        limit=IMPORTS,
        now=frame.now,
    )
    context |= {"imports": found, "next": last, **form()}
    return base.page(request, "pages/imports.html", context)


@require_POST
@base.member
def look(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Say what files would do, row by row."""
    try:
        seen = uploads.preview_import(caller=frame.caller, upload=_upload(request, frame))
    except CairnError as error:
        if error.status == NotFound.status:
            raise
        return base.page(request, "partials/import_preview.html", {"error": error}, status=200)
    rows = seen.rows[:PREVIEW_ROWS]
    context = {
        "seen": seen,
        "rows": rows,
        "more": len(seen.rows) - len(rows),
        "offered": ",".join(str(row.number) for row in rows if row.outcome != "refused"),
        "counts": _counts(seen.counts),
    }
    return base.page(request, "partials/import_preview.html", context)


@base.member
def one_import(request: HttpRequest, frame: Frame, import_id: UUID) -> HttpResponse:
    """Show an import: how far it is, and what became of each row."""
    return _import_page(request, frame, import_id)


@require_POST
@base.member
def change(request: HttpRequest, frame: Frame, import_id: UUID) -> HttpResponse:
    """Undo an import, cancel it, try it again, or decide about what waits of it for review.

    The page says after a decision how to take it back.
    """
    find_import(frame, import_id)
    verb, to = request.POST.get("verb", ""), base.address("import", frame, import_id)
    run = {
        "undo": import_batches.undo_import,
        "cancel": import_batches.cancel_import,
        "retry": import_batches.retry_import,
    }.get(verb)
    try:
        if run is not None:
            run(caller=frame.caller, batch_id=import_id, now=frame.now)
        elif verb in {"keep", "reject"}:
            to += f"?decided={_decide(request, frame, import_id, verb)}"
        elif verb == "take_back":
            review_id = as_uuid(text=request.POST.get("review", ""))
            if review_id is None:
                raise InvalidInput(
                    detail="There is no such verdict of yours.", hint="Reload the page."
                )
            verdicts.undo_call(caller=frame.caller, review_id=review_id, now=frame.now)
        else:
            raise base.no_verb()
    except CairnError as error:
        return _import_page(request, frame, import_id, error=error)
    return base.moved(request, to=to)


def _decide(request: HttpRequest, frame: Frame, import_id: UUID, verb: str) -> UUID | None:
    """Keep or reject what waits of an import."""
    done = bulk.decide_bulk(
        caller=frame.caller,
        verb=verb,
        chosen=bulk.WaitingGroup(
            project=None,
            group=None,
            count=base.number_of(request.POST.get("count", "")) or 0,
            imported=queries.imported_memories(caller=frame.caller, batch_id=import_id),
        ),
        details=VerbDetails(reason=request.POST.get("reason", "").strip()),
        now=frame.now,
    )
    return done[0].review_id


@require_POST
@base.member
def export_memories(request: HttpRequest, frame: Frame) -> FileResponse:
    """Give a file of the memories that pass a filter. Raises InvalidInput for words: they rank."""
    try:
        format = export.ExportFormat(request.POST.get("format", ""))
    except ValueError as error:
        raise InvalidInput(detail="There is no such format.", hint="Reload the page.") from error
    asked = export.ExportRequest(
        project=frame.slug or None, query=request.POST.get("q", ""), format=format
    )
    made = export.export(caller=frame.caller, request=asked, now=frame.now)
    response = FileResponse(made.file, content_type=made.media)
    response["Content-Disposition"] = f'attachment; filename="{made.name}"'
    return response


def form() -> dict[str, object]:
    """Return what the form offers: who may see it, and how much may be handed over."""
    return {
        "scopes": tuple((name, labels.SCOPES[name]) for name in SCOPES),
        "largest": uploads.LARGEST_UPLOAD // 1_048_576,
    }


def find_import(frame: Frame, import_id: UUID) -> queries.ImportView:
    """Return an import of the page's project. Raises NotFound for another project's."""
    view = queries.get_import(caller=frame.caller, batch_id=import_id, now=frame.now)
    if frame.project is None or view.project_id != frame.project.id:
        raise NotFound(detail="There is no such import.", hint="It may be another project's.")
    return view


def _import_page(
    request: HttpRequest, frame: Frame, import_id: UUID, *, error: CairnError | None = None
) -> HttpResponse:
    view = find_import(frame, import_id)
    imported = queries.imported_memories(caller=frame.caller, batch_id=import_id)
    waits = reviews.count_waiting(
        caller=frame.caller, project=None, imported=imported, now=frame.now
    )
    rows = queries.list_rows(
        caller=frame.caller,
        batch_id=import_id,
        after=base.number_of(request.GET.get("after", "")) or 0,
        limit=ROWS,
        now=frame.now,
    )
    context = {
        "error": error,
        "batch": view,
        "is_under_way": view.state in {"queued", "running"},
        "done": view.total - view.counts.get("waiting", 0),
        "counts": _counts(view.counts),
        "rows": rows,
        "next": rows[-1].number if len(rows) == ROWS else None,
        "to_review": waits.total,
        "at_once": min(waits.total - waits.by_group[Group.CONFLICTS], MOST_IN_BULK),
        "may_decide": review_inbox.may_decide(caller=frame.caller),
        "decided": as_uuid(text=request.GET.get("decided", "")),
    }
    return base.page(request, "pages/import.html", context)


def _upload(request: HttpRequest, frame: Frame) -> uploads.Upload:
    """Return what was handed over. Raises TooLarge before anything is read."""
    files = request.FILES.getlist("file")
    size = sum(file.size or 0 for file in files)
    if size > uploads.LARGEST_UPLOAD:
        raise TooLarge(
            detail=message("{size} bytes in {count} files.", size=size, count=len(files)),
            hint=message("Send at most {most} bytes.", most=uploads.LARGEST_UPLOAD),
        )
    handed = [(file.name or "upload", file.read()) for file in files]
    pasted = request.POST.get("pasted", "")
    if pasted.strip():
        handed.append((_("pasted.md"), pasted.encode()))
    offered, kept = request.POST.get("offered", "").split(","), request.POST.getlist("keep")
    return uploads.Upload(
        files=tuple(handed),
        project=frame.slug or None,
        scope=request.POST.get("scope") or None,
        left_out=frozenset(filter(None, map(base.number_of, set(offered) - set(kept)))),
    )


def _counts(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Return how many rows ended in each way, in the order of their names."""
    return tuple((name, counts[name]) for name in labels.IMPORTED if counts.get(name))


@base.member
def notes(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the notes of a project; keep a document as one.

    A second note of a path for others is refused: who sees a note does not change by its text.
    """
    known = queries.list_notes(caller=frame.caller, project=frame.slug, limit=queries.LARGEST_PAGE)
    context: dict[str, object] = {}
    if request.method == "POST":
        try:
            new = _new_note(request, frame, known)
            pushed = note_push.push_note(caller=frame.caller, new=new, now=frame.now)
            return _note_page(request, frame, pushed.note, pushed=pushed)
        except CairnError as error:
            if error.status == NotFound.status:
                raise
            context = {"error": error}
    context |= {
        "may_write": frame.may(Act.WRITE),
        "notes": known,
        "scopes": tuple((name, labels.SCOPES[name]) for name in SCOPES),
        "form": request.POST,
    }
    return base.page(request, "pages/notes.html", context)


@base.member
def note(request: HttpRequest, frame: Frame, note_id: UUID) -> HttpResponse:
    """Show a note, each line beside what it says as a memory; let it be a source no more."""
    found = queries.get_note(caller=frame.caller, note_id=note_id)
    if frame.project is None or found.project_id != frame.project.id:
        raise NotFound(detail="There is no such note.", hint="It may be another project's.")
    if request.method == "POST":
        note_push.remove_note(caller=frame.caller, note_id=found.id, now=frame.now)
        return base.moved(request, to=base.address("notes", frame))
    return _note_page(request, frame, found)


def _new_note(
    request: HttpRequest, frame: Frame, known: tuple[queries.NoteView, ...]
) -> note_push.NewNote:
    """Read the form. Raises InvalidInput for a scope that it does not offer or that changes."""
    sent = request.POST
    scope, path = sent.get("scope", ""), sent.get("path", "").strip()
    if scope not in {"", *SCOPES}:
        raise wrong_field(
            pointer="/scope",
            detail="A note is for the project, or personal.",
            hint="Choose one of the two.",
        )
    scopes = {one.scope for one in known if one.path == path}
    if scopes and (scope or Scope.PROJECT.value) not in scopes:
        raise wrong_field(
            pointer="/scope",
            detail="There is a note of this path that others see, or that only you see.",
            hint="Choose who sees it as its list says, or another path.",
        )
    text = sent.get("text", "").replace("\r\n", "\n")
    return note_push.NewNote(project=frame.slug, path=path, text=text, scope=scope or None)


def _note_page(
    request: HttpRequest,
    frame: Frame,
    found: queries.NoteView,
    *,
    pushed: note_push.NotePushed | None = None,
) -> HttpResponse:
    lines = queries.list_lines(caller=frame.caller, note_id=found.id, now=frame.now)
    context = {
        "may_write": frame.may(Act.WRITE),
        "note": found,
        "lines": lines[:LINES_SHOWN],
        "beyond": len(lines[LINES_SHOWN:]),
        "pushed": "" if pushed is None else _push_words(pushed),
        "refused": () if pushed is None else pushed.refused[:REFUSALS_SHOWN],
    }
    return base.page(request, "pages/note.html", context)


def _push_words(pushed: note_push.NotePushed) -> str:
    """Say what keeping a document did."""
    refused = len(pushed.refused)
    counts = (
        (ngettext("%(n)d memory added", "%(n)d memories added", pushed.added), pushed.added),
        (ngettext("%(n)d updated", "%(n)d updated", pushed.updated), pushed.updated),
        (ngettext("%(n)d as it was", "%(n)d as they were", pushed.kept), pushed.kept),
        (ngettext("%(n)d made stale", "%(n)d made stale", pushed.stale), pushed.stale),
        (ngettext("%(n)d for review", "%(n)d for review", pushed.held), pushed.held),
        (ngettext("%(n)d refused", "%(n)d refused", refused), refused),
    )
    words = ", ".join(text % {"n": count} for text, count in counts if count)
    return words or _("It contains nothing new.")
