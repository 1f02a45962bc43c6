"""Exporting memories: a file of what passes the filters of the list."""

from django.http import FileResponse, HttpRequest
from django.views.decorators.http import require_POST

from accounts.errors import InvalidInput
from frontend.views import base
from frontend.views.base import Frame
from memory.documents.actions.export import ExportRequest, export
from memory.documents.writing import ExportFormat


@require_POST
@base.member
def export_memories(request: HttpRequest, frame: Frame) -> FileResponse:
    """Give a file. Raises InvalidInput for words: they rank, and filter nothing."""
    try:
        format = ExportFormat(request.POST.get("format", ""))
    except ValueError as error:
        raise InvalidInput(detail="There is no such format.", hint="Reload the page.") from error
    project = frame.project.slug if frame.project else None
    asked = ExportRequest(project=project, query=request.POST.get("q", ""), format=format)
    made = export(caller=frame.caller, request=asked, now=frame.now)
    response = FileResponse(made.file, content_type=made.media)
    response["Content-Disposition"] = f'attachment; filename="{made.name}"'
    response["Cache-Control"] = "no-store"
    return response
