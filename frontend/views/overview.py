"""The overview of a project: figures counted now, what needs attention, what happens."""

from django.http import HttpRequest, HttpResponse

from frontend.labels import session_labels
from frontend.presenters import activity_feed
from frontend.views import base
from frontend.views.base import Frame
from memory.experiments.queries.experiments import USUAL_DAYS
from memory.review.queries import overview as queries
from teams import queries as places

FEED_LENGTH = 12  # entries shown at first


@base.reader
def overview(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the overview."""
    context = {**_figures(frame), "section": "overview", "entries": _entries(frame)}
    return base.page(request, "pages/overview.html", context)


@base.reader
def figures(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the figures alone, for the live refresh."""
    return base.page(request, "partials/overview_figures.html", _figures(frame))


def _figures(frame: Frame) -> dict[str, object]:
    view = queries.overview(caller=frame.caller, project=_slug(frame), now=frame.now)
    largest = max((place.memories for place in view.places), default=0)
    return {
        "view": view,
        "tally": view.tally,
        "largest": largest,
        "saved_days": USUAL_DAYS,
        "alarm_names": session_labels.ALARMS,
        "now": frame.now,
    }


def _entries(frame: Frame) -> tuple[activity_feed.Entry, ...]:
    changes = places.latest_changes(caller=frame.caller, limit=FEED_LENGTH, project=_slug(frame))
    return activity_feed.entries(caller=frame.caller, changes=changes)


def _slug(frame: Frame) -> str:
    return frame.project.slug if frame.project else ""
