"""Notes: documents that memories come from, line by line with them; kept and removed."""

from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.errors import CairnError, NotFound, wrong_field
from frontend import labels
from frontend.views import base
from frontend.views.base import Frame
from memory.documents import queries
from memory.documents.actions.note_push import NewNote, NotePushed, push_note, remove_note
from memory.documents.queries import NoteView
from memory.taxonomy import Scope
from teams.permissions import Act

SCOPES: Final = (Scope.PROJECT.value, Scope.PERSONAL.value)
LINES_SHOWN: Final = 3_000  # of a note
REFUSALS_SHOWN: Final = 20  # statements that became no memory


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
            pushed = push_note(caller=frame.caller, new=new, now=frame.now)
            return _note_page(request, frame, pushed.note, pushed=pushed)
        except CairnError as error:
            if error.status == NotFound.status:
                raise
            context = {"error": error}
    context |= {
        "section": "memories",
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
        remove_note(caller=frame.caller, note_id=found.id, now=frame.now)
        return base.moved(request, to=base.address("notes", frame))
    return _note_page(request, frame, found)


def _new_note(request: HttpRequest, frame: Frame, known: tuple[NoteView, ...]) -> NewNote:
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
    return NewNote(project=frame.slug, path=path, text=text, scope=scope or None)


def _note_page(
    request: HttpRequest, frame: Frame, found: NoteView, *, pushed: NotePushed | None = None
) -> HttpResponse:
    lines = queries.list_lines(caller=frame.caller, note_id=found.id, now=frame.now)
    context = {
        "section": "memories",
        "may_write": frame.may(Act.WRITE),
        "note": found,
        "lines": lines[:LINES_SHOWN],
        "beyond": len(lines[LINES_SHOWN:]),
        "pushed": "" if pushed is None else _push_words(pushed),
        "refused": () if pushed is None else pushed.refused[:REFUSALS_SHOWN],
    }
    return base.page(request, "pages/note.html", context)


def _push_words(pushed: NotePushed) -> str:
    """Say what keeping a document did."""
    refused = len(pushed.refused)
    counts = (
        (ngettext("%(n)d memory added", "%(n)d memories added", pushed.added), pushed.added),
        (ngettext("%(n)d as it was", "%(n)d as they were", pushed.kept), pushed.kept),
        (ngettext("%(n)d made stale", "%(n)d made stale", pushed.stale), pushed.stale),
        (ngettext("%(n)d for review", "%(n)d for review", pushed.held), pushed.held),
        (ngettext("%(n)d refused", "%(n)d refused", refused), refused),
    )
    words = ", ".join(text % {"n": count} for text, count in counts if count)
    return words or _("It contains nothing new.")
