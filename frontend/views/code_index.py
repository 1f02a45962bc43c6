"""How far the index of a project's code is, as a card that renews itself."""

from django.http import HttpRequest, HttpResponse

from frontend.views import base
from frontend.views.base import Frame
from graph.index.queries import code_index as code_index_of_index


@base.reader
def card(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the card alone: for the page that holds it, and for its live refresh."""
    ref = frame.project.slug if frame.project else ""
    view = code_index_of_index(caller=frame.caller, ref=ref)
    context = {
        "section": "connections",
        "view": view,
        "others": view.files_total - sum(view.languages.values()),
        "now": frame.now,
    }
    return base.dialog(request, "partials/code_index.html", context)
