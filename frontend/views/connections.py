"""Connections: how to connect an agent, and whether it works yet (spec 9.2)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.actions.tokens import NewToken, create_token
from accounts.queries import TokenView, state_of, tokens
from frontend import snippets
from frontend.views import base
from frontend.views.base import Frame
from memory.queries import connections as queries
from memory.queries import overview


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of the check-list; `at` is None until it has happened."""

    name: str
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """The live check-list and the agents seen."""

    steps: tuple[Step, ...]
    agents: tuple[TokenView, ...]
    complete: bool


@base.member
def connections(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the page."""
    slug = frame.project.slug if frame.project else ""
    context = {
        **_context(frame, token=None),
        "tally": overview.tally(caller=frame.caller, project=slug, now=frame.now),
    }
    return base.page(request, "pages/connections.html", context)


@base.member
def steps(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the check-list alone, for the live refresh."""
    context = {"checklist": _checklist(frame), "now": frame.now}
    return base.page(request, "partials/checklist.html", context)


@require_POST
@base.member
def token(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Make a token, and show every snippet with it once."""
    tool = request.POST.get("tool", "api")
    issued = create_token(
        caller=frame.caller,
        new=NewToken(name=request.POST.get("name", "").strip() or tool, source_interface=tool),
        now=frame.now,
    )
    context = _context(frame, token=issued.text)
    template = "partials/snippets.html" if request.htmx else "pages/connections.html"  # type: ignore[attr-defined]
    return base.page(request, template, context)


def _context(frame: Frame, *, token: str | None) -> dict[str, object]:
    slug = frame.project.slug if frame.project else ""
    return {
        "section": "connections",
        "token": token,
        "harnesses": snippets.harnesses(base_url=settings.BASE_URL, token=token, project=slug),
        "checklist": _checklist(frame),
        "now": frame.now,
    }


def _checklist(frame: Frame) -> Checklist:
    slug = frame.project.slug if frame.project else ""
    living = tuple(
        one
        for one in tokens(caller=frame.caller)
        if state_of(token=one, now=frame.now) in {"active", "rotated"} and _reaches(one, frame)
    )
    seen = tuple(one for one in living if one.last_used_at is not None)
    reached = queries.milestones(caller=frame.caller, project=slug)
    steps = (
        Step(name=_("A token is made"), at=_earliest(one.created_at for one in living)),
        Step(name=_("First call"), at=_earliest(one.last_used_at for one in seen)),
        Step(name=_("First memory from an agent"), at=reached.first_memory_at),
        Step(name=_("A memory was given out"), at=reached.last_given_at),
    )
    return Checklist(steps=steps, agents=seen, complete=all(step.at is not None for step in steps))


def _reaches(token: TokenView, frame: Frame) -> bool:
    project = frame.project
    return token.projects is None or (project is not None and project.id in token.projects)


def _earliest(moments: Iterable[datetime | None]) -> datetime | None:
    known = [moment for moment in moments if moment is not None]
    return min(known, default=None)
