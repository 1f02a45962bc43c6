"""What happens in a project: its figures, its activity, and the feed for pages without a socket."""

from django.http import HttpRequest, HttpResponse, JsonResponse

from frontend.labels import session_labels
from frontend.presenters import activity_feed, project_settings
from frontend.views import base
from frontend.views.base import Frame
from memory.experiments.queries import USUAL_DAYS
from memory.review.queries import overview as queries
from teams import queries as places

OVERVIEW_ENTRIES = 12
ACTIVITY_ENTRIES = 200


@base.reader
def overview(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the figures of the project, what needs attention and the newest activity."""
    context = {
        **_figures(frame),
        "section": "overview",
        "entries": _entries(frame, OVERVIEW_ENTRIES),
    }
    return base.page(request, "pages/overview.html", context)


@base.reader
def figures(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the figures alone, for the live refresh."""
    return base.page(request, "partials/overview_figures.html", _figures(frame))


@base.reader
def activity(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the change feed of the project, newest first, and how candidates ended."""
    context = {
        "section": "activity",
        "entries": _entries(frame, ACTIVITY_ENTRIES),
        "ends": project_settings.gate_outcomes(
            caller=frame.caller, project=frame.slug, now=frame.now
        ),
    }
    return base.page(request, "pages/activity.html", context)


@base.member
def changes(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Give the live messages after a cursor, at most one page of them."""
    after = base.number_of(request.GET.get("after", ""), digits=activity_feed.CURSOR_DIGITS)
    messages = activity_feed.messages(
        caller=frame.caller, after=after or 0, project=request.GET.get("project") or None
    )
    response = JsonResponse({"changes": messages})
    response["Cache-Control"] = "no-store"
    return response


def _figures(frame: Frame) -> dict[str, object]:
    view = queries.overview(caller=frame.caller, project=frame.slug, now=frame.now)
    return {
        "view": view,
        "tally": view.tally,
        "largest": max((place.memories for place in view.places), default=0),
        "saved_days": USUAL_DAYS,
        "alarm_names": session_labels.ALARMS,
        "now": frame.now,
    }


def _entries(frame: Frame, limit: int) -> tuple[activity_feed.Entry, ...]:
    changes = places.latest_changes(caller=frame.caller, limit=limit, project=frame.slug)
    return activity_feed.entries(caller=frame.caller, changes=changes)
