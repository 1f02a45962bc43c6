"""Notes: documents that memories come from, line by line with them; kept and removed."""

from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.errors import CairnError, NotFound, wrong_field
from frontend.labels import memory_labels
from frontend.views import base
from frontend.views.base import Frame
from memory.documents.actions.note_push import NewNote, NotePushed, push_note, remove_note
from memory.documents.queries import notes as queries
from memory.documents.queries.notes import NoteView
from memory.taxonomy import Scope
from teams.permissions import Act, allows

SCOPES: Final = (Scope.PROJECT.value, Scope.PERSONAL.value)
LINES_SHOWN: Final = 3_000  # of a note, ours
REFUSALS_SHOWN: Final = 20  # statements that became no memory, ours


@base.member
def notes(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the notes of a project; keep a document as one."""
    if request.method != "POST":
        return _listed(request, frame)
    try:
        new = _new(request, frame)
        _check_same(frame, new)
        pushed = push_note(caller=frame.caller, new=new, now=frame.now)
    except CairnError as error:
        if error.status == NotFound.status:
            raise
        return _listed(request, frame, error=error, status=error.status)
    return _note(request, frame, pushed.note, pushed=pushed)


@base.member
def note(request: HttpRequest, frame: Frame, note_id: UUID) -> HttpResponse:
    """Show a note, each line beside what it says as a memory; let it be a source no more."""
    found = queries.get_note(caller=frame.caller, note_id=note_id)
    if frame.project is None or found.project_id != frame.project.id:
        raise NotFound(detail="There is no such note.", hint="It may be another project's.")
    if request.method == "POST":
        remove_note(caller=frame.caller, note_id=found.id, now=frame.now)
        return base.moved(request, to=base.address("notes", frame))
    return _note(request, frame, found)


def _new(request: HttpRequest, frame: Frame) -> NewNote:
    """Read the form. Raises InvalidInput for a scope that it does not offer."""
    sent = request.POST
    if sent.get("scope", "") not in {"", *SCOPES}:
        raise wrong_field(
            pointer="/scope",
            detail="A note is for the project, or personal.",
            hint="Choose one of the two.",
        )
    return NewNote(
        project=frame.project.slug if frame.project else "",
        path=sent.get("path", "").strip(),
        text=sent.get("text", "").replace("\r\n", "\n"),
        scope=sent.get("scope") or None,
    )


def _check_same(frame: Frame, new: NewNote) -> None:
    """Refuse a second note of a path for others; who sees a note does not change by its text."""
    there = [one.scope for one in _known(frame) if one.path == new.path]
    if there and (new.scope or Scope.PROJECT.value) not in there:
        raise wrong_field(
            pointer="/scope",
            detail="There is a note of this path that others see, or that only you see.",
            hint="Choose who sees it as its list says, or another path.",
        )


def _known(frame: Frame) -> tuple[NoteView, ...]:
    project = frame.project.slug if frame.project else ""
    return queries.list_notes(caller=frame.caller, project=project, limit=queries.LARGEST_PAGE)


def _listed(
    request: HttpRequest, frame: Frame, *, error: CairnError | None = None, status: int = 200
) -> HttpResponse:
    context = {
        **_usual(frame),
        "notes": _known(frame),
        "scopes": tuple((name, memory_labels.SCOPES[name]) for name in SCOPES),
        "form": request.POST,
        "error": error,
    }
    return base.page(request, "pages/notes.html", context, status=status)


def _note(
    request: HttpRequest, frame: Frame, found: NoteView, *, pushed: NotePushed | None = None
) -> HttpResponse:
    lines = queries.list_lines(caller=frame.caller, note_id=found.id, now=frame.now)
    context = {
        **_usual(frame),
        "note": found,
        "lines": lines[:LINES_SHOWN],
        "beyond": len(lines[LINES_SHOWN:]),
        "said": "" if pushed is None else _said(pushed),
        "refused": () if pushed is None else pushed.refused[:REFUSALS_SHOWN],
    }
    return base.page(request, "pages/note.html", context)


def _usual(frame: Frame) -> dict[str, Any]:
    may_write = allows(role=frame.caller.role, act=Act.WRITE)
    return {"section": "memories", "now": frame.now, "may_write": may_write}


def _said(pushed: NotePushed) -> str:
    """Say what keeping a document did."""
    refused = len(pushed.refused)
    counts = (
        (ngettext("%(n)d memory added", "%(n)d memories added", pushed.added), pushed.added),
        (ngettext("%(n)d as it was", "%(n)d as they were", pushed.kept), pushed.kept),
        (ngettext("%(n)d made stale", "%(n)d made stale", pushed.stale), pushed.stale),
        (ngettext("%(n)d for review", "%(n)d for review", pushed.held), pushed.held),
        (ngettext("%(n)d refused", "%(n)d refused", refused), refused),
    )
    told = ", ".join(text % {"n": count} for text, count in counts if count)
    return told or _("Nothing in it is new.")
