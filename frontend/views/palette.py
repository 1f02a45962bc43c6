"""The command palette: pages, projects and memories that fit what is typed."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from frontend.views import base
from frontend.views.base import Frame
from memory.search.actions import Hit, search
from memory.search.request import SearchRequest

MEMORIES = 6  # found memories shown
SHORTEST_SEARCH = 3  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A page one can jump to."""

    name: str
    href: str


@base.member
def palette(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show what fits."""
    text = request.GET.get("q", "").strip()[:200]
    slug = request.GET.get("project", "")
    known = next((one for one in frame.projects if one.slug == slug), None)
    context = {
        "q": text,
        "pages": _fitting(_pages(frame, known.slug if known else ""), text),
        "projects": _fitting(_projects(frame), text),
        "hits": _found(frame, text, known.slug if known else None),
        "list_href": _list_href(frame, known.slug, text) if known and text else "",
    }
    return base.page(request, "partials/palette.html", context)


def _fitting(targets: Iterator[Target], text: str) -> tuple[Target, ...]:
    wanted = text.casefold()
    return tuple(target for target in targets if wanted in target.name.casefold())


def _pages(frame: Frame, slug: str) -> Iterator[Target]:
    org = frame.caller.organization_slug
    if slug:
        yield Target(name=_("Overview"), href=reverse("overview", args=(org, slug)))
        yield Target(name=_("Memories"), href=reverse("memories", args=(org, slug)))
        yield Target(name=_("Topics"), href=reverse("topics", args=(org, slug)))
        yield Target(name=_("Check a plan or a diff"), href=reverse("check", args=(org, slug)))
        yield Target(name=_("Connections"), href=reverse("connections", args=(org, slug)))
        yield Target(name=_("Trust"), href=reverse("trust", args=(org, slug)))
        yield Target(name=_("Activity"), href=reverse("activity", args=(org, slug)))
        yield Target(name=_("Teach"), href=reverse("teach", args=(org, slug)))
        yield Target(name=_("Project settings"), href=reverse("project_settings", args=(org, slug)))
    yield Target(name=_("Members"), href=reverse("settings_members", args=(org,)))
    yield Target(name=_("Teams"), href=reverse("settings_teams", args=(org,)))
    yield Target(name=_("Tokens"), href=reverse("settings_tokens", args=(org,)))
    yield Target(name=_("Jobs"), href=reverse("settings_jobs", args=(org,)))
    yield Target(name=_("Settings"), href=reverse("settings_general", args=(org,)))
    yield Target(name=_("My account"), href=reverse("me"))
    yield Target(name=_("Documentation"), href=reverse("docs"))


def _projects(frame: Frame) -> Iterator[Target]:
    for project in frame.projects:
        href = reverse("overview", args=(frame.caller.organization_slug, project.slug))
        yield Target(name=project.name, href=href)


def _found(frame: Frame, text: str, project: str | None) -> tuple[Hit, ...]:
    if len(text) < SHORTEST_SEARCH:
        return ()
    request = SearchRequest(query=text, project=project, limit=MEMORIES)
    return search(caller=frame.caller, request=request, now=frame.now).hits


def _list_href(frame: Frame, slug: str, text: str) -> str:
    address = reverse("memories", args=(frame.caller.organization_slug, slug))
    return f"{address}?{urlencode({'q': text})}"
