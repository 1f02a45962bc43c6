"""Notes: documents that memories come from, shown line by line with them (spec 2.8, 9.2)."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from accounts.errors import NotFound
from frontend.views import base
from frontend.views.base import Frame
from memory.queries import notes as queries


@base.reader
def notes(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the notes of a project."""
    project = frame.project.slug if frame.project else ""
    found = queries.page(caller=frame.caller, project=project, limit=queries.LARGEST_PAGE)
    context = {"section": "memories", "now": frame.now, "notes": found}
    return base.page(request, "pages/notes.html", context)


@base.reader
def note(request: HttpRequest, frame: Frame, note_id: UUID) -> HttpResponse:
    """Show a note, each line beside what it says as a memory."""
    found = queries.note(caller=frame.caller, note_id=note_id)
    if frame.project is None or found.project_id != frame.project.id:
        raise NotFound(detail="There is no such note.", hint="It may be another project's.")
    lines = queries.lines(caller=frame.caller, note_id=note_id, now=frame.now)
    context = {"section": "memories", "now": frame.now, "note": found, "lines": lines}
    return base.page(request, "pages/note.html", context)
