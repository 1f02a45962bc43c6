"""What happened in a project, newest first."""

from django.http import HttpRequest, HttpResponse

from frontend.presenters import activity_feed, gate_settings
from frontend.views import base
from frontend.views.base import Frame
from teams import queries as places

LENGTH = 200  # entries


@base.reader
def activity(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the change feed of the project."""
    slug = frame.project.slug if frame.project else ""
    changes = places.latest_changes(caller=frame.caller, limit=LENGTH, project=slug)
    context = {
        "section": "activity",
        "entries": activity_feed.entries(caller=frame.caller, changes=changes),
        "ends": gate_settings.ends(caller=frame.caller, project=slug, now=frame.now),
    }
    return base.page(request, "pages/activity.html", context)
