"""What happens in a project: its figures, its activity, and the feed for pages without a socket.

And the command palette: pages, projects and memories that fit what is typed.
"""

from collections.abc import Iterable
from typing import Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from frontend import labels
from frontend.labels import Name
from frontend.presenters import activity_feed, project_settings
from frontend.views import base
from frontend.views.base import Frame
from memory.experiments.queries import USUAL_DAYS
from memory.review.queries import overview as queries
from memory.search.actions import Hit, search
from memory.search.request import SearchRequest
from teams import queries as places

OVERVIEW_ENTRIES = 12
ACTIVITY_ENTRIES = 200
MEMORIES: Final = 6  # found memories shown
SHORTEST_SEARCH: Final = 3  # characters
PROJECT_PAGES: Final[tuple[tuple[str, Name], ...]] = (
    ("overview", _("Overview")),
    ("memories", _("Memories")),
    ("topics", _("Topics")),
    ("check", _("Check a plan or a diff")),
    ("connections", _("Connections")),
    ("trust", _("Trust")),
    ("activity", _("Activity")),
    ("teach", _("Teach")),
    ("project_settings", _("Project settings")),
)
ORGANIZATION_PAGES: Final[tuple[tuple[str, Name], ...]] = (
    ("settings_members", _("Members")),
    ("settings_teams", _("Teams")),
    ("settings_tokens", _("Tokens")),
    ("settings_jobs", _("Jobs")),
    ("settings_general", _("Settings")),
)
OWN_PAGES: Final[tuple[tuple[str, Name], ...]] = (
    ("me", _("My account")),
    ("docs", _("Documentation")),
)
Target = tuple[str, str]  # what it is called, and its address


@base.reader
def overview(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the figures of the project, what needs attention and the newest activity."""
    context = {**_figures(frame), "entries": _entries(frame, OVERVIEW_ENTRIES)}
    return base.page(request, "pages/overview.html", context)


@base.reader
def figures(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the figures alone, for the live refresh."""
    return base.page(request, "partials/overview_figures.html", _figures(frame))


@base.reader
def activity(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the change feed of the project, newest first, and how candidates ended."""
    context = {
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
    return JsonResponse({"changes": messages})


def _figures(frame: Frame) -> dict[str, object]:
    view = queries.overview(caller=frame.caller, project=frame.slug, now=frame.now)
    return {
        "view": view,
        "tally": view["tally"],
        "largest": max((place["memories"] for place in view["places"]), default=0),
        "saved_days": USUAL_DAYS,
        "alarm_names": labels.ALARMS,
    }


def _entries(frame: Frame, limit: int) -> tuple[activity_feed.Entry, ...]:
    changes = places.latest_changes(caller=frame.caller, limit=limit, project=frame.slug)
    return activity_feed.entries(caller=frame.caller, changes=changes)


@base.member
def palette(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show what fits."""
    text, org = request.GET.get("q", "").strip()[:200], frame.caller.organization_slug
    asked = request.GET.get("project", "")
    slug = asked if any(one.slug == asked for one in frame.projects) else ""
    groups = (
        (PROJECT_PAGES if slug else (), (org, slug)),
        (ORGANIZATION_PAGES, (org,)),
        (OWN_PAGES, ()),
    )
    pages = [(name, reverse(page, args=args)) for group, args in groups for page, name in group]
    projects = [(one.name, reverse("overview", args=(org, one.slug))) for one in frame.projects]
    found: tuple[Hit, ...] = ()
    if len(text) >= SHORTEST_SEARCH:
        wanted = SearchRequest(query=text, project=slug or None, limit=MEMORIES)
        found = search(caller=frame.caller, request=wanted, now=frame.now).hits
    context = {
        "q": text,
        "project": slug,
        "pages": _fitting(pages, text),
        "projects": _fitting(projects, text),
        "hits": found,
    }
    return base.page(request, "partials/palette.html", context)


def _fitting(targets: Iterable[tuple[Name, str]], text: str) -> tuple[Target, ...]:
    named = ((str(name), href) for name, href in targets)
    return tuple(one for one in named if text.casefold() in one[0].casefold())
