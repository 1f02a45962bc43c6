"""The steps of a session: the ribbon, and what one bar of it holds."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from frontend import ribbon
from frontend.views import base, sessions
from frontend.views.base import Frame


@base.reader
def steps(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """Show the ribbon alone, or what the bar holds in which the event lies that is asked for."""
    session = sessions.here(frame, session_id)
    event = request.GET.get("event", "")
    shown = ribbon.of(caller=frame.caller, session_id=session_id, event=event, now=frame.now)
    template = "partials/steps_pane.html" if event else "partials/steps_ribbon.html"
    context = {"session": session, "steps": shown, "now": frame.now}
    return base.page(request, template, context)
