"""The command palette: pages, projects and memories that fit what is typed."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from frontend.labels.memory_labels import Name
from frontend.views import base
from frontend.views.base import Frame
from memory.search.actions import Hit, search
from memory.search.request import SearchRequest

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


@base.member
def palette(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show what fits."""
    text, org = request.GET.get("q", "").strip()[:200], frame.caller.organization_slug
    asked = request.GET.get("project", "")
    slug = asked if any(one.slug == asked for one in frame.projects) else ""
    pages = [
        *((name, reverse(page, args=(org, slug))) for page, name in PROJECT_PAGES if slug),
        *((name, reverse(page, args=(org,))) for page, name in ORGANIZATION_PAGES),
        *((name, reverse(page)) for page, name in OWN_PAGES),
    ]
    projects = [(one.name, reverse("overview", args=(org, one.slug))) for one in frame.projects]
    found: tuple[Hit, ...] = ()
    if len(text) >= SHORTEST_SEARCH:
        wanted = SearchRequest(query=text, project=slug or None, limit=MEMORIES)
        found = search(caller=frame.caller, request=wanted, now=frame.now).hits
    listed = f"{reverse('memories', args=(org, slug))}?{urlencode({'q': text})}" if slug else ""
    context = {
        "q": text,
        "pages": _fitting(pages, text),
        "projects": _fitting(projects, text),
        "hits": found,
        "list_href": listed if text else "",
    }
    return base.page(request, "partials/palette.html", context)


def _fitting(targets: Iterable[tuple[Name, str]], text: str) -> tuple[Target, ...]:
    named = ((str(name), href) for name, href in targets)
    return tuple(one for one in named if text.casefold() in one[0].casefold())
