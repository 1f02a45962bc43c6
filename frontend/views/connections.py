"""Connections: how to connect an agent, whether it works yet, and how far the code index is."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.actions.tokens import NewToken, create_token
from accounts.identifiers import as_uuid
from accounts.queries.credentials import TokenView, is_silent, list_tokens, state_of
from frontend.presenters import connection_guide
from frontend.views import base
from frontend.views.base import Frame
from graph.index.queries import code_index
from memory.injection.actions.connection_test import try_connection
from memory.injection.harnesses.adapters import HOOK_SCRIPT_VERSION
from memory.injection.queries import milestones, project_totals
from teams.actions import project_settings
from teams.permissions import Act
from teams.queries import pauses_of

NOBODY: Final = UUID(int=0)  # what is no id names no token


@base.reader
def connections(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the page."""
    return _page(request, frame)


@base.reader
def steps(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the check-list alone, for the live refresh."""
    checklist = _checklist(frame, list_tokens(caller=frame.caller))
    return base.page(request, "partials/checklist.html", checklist)


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
    return _page(request, frame, token=issued.text, part="partials/snippets.html")


@require_POST
@base.member
def pause(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Pause or resume the project, or one token in it."""
    named = request.POST.get("token", "")
    project_settings.pause(
        caller=frame.caller,
        ref=frame.slug,
        token_id=(as_uuid(text=named) or NOBODY) if named else None,
        paused=request.POST.get("paused") == "1",
    )
    return base.moved(request, to=base.address("connections", frame))


@require_POST
@base.member
def attempt(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Try one of one's own tokens, and show how far an event of it comes."""
    token_id = as_uuid(text=request.POST.get("token", "")) or NOBODY
    outcome = try_connection(caller=frame.caller, ref=frame.slug, token_id=token_id, now=frame.now)
    tried = next(one for one in list_tokens(caller=frame.caller) if one.id == token_id)
    answer = connection_guide.ANSWERS[outcome]
    return _page(request, frame, tried=tried, answer=answer, part="partials/tried.html")


@base.reader
def code_index_card(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show how far the index of the code is: for the page that holds it, and its live refresh."""
    view = code_index(caller=frame.caller, ref=frame.slug)
    context = {
        "section": "connections",
        "view": view,
        "others": view.files_total - sum(view.languages.values()),
        "now": frame.now,
    }
    return base.dialog(request, "partials/code_index.html", context)


def _page(
    request: HttpRequest, frame: Frame, *, token: str = "", part: str = "", **extra: object
) -> HttpResponse:
    """Show the page, or for htmx the part of it that changed."""
    known = list_tokens(caller=frame.caller)
    context = {
        "section": "connections",
        "token": token,
        "ways": connection_guide.snippets(
            base_url=settings.BASE_URL, token=token, project=frame.slug
        ),
        **_checklist(frame, known),
        "own_tokens": tuple(one for one in known if one.user_id == frame.caller.user_id),
        **extra,
    }
    is_part = part and base.is_htmx(request)
    return base.page(request, part if is_part else "pages/connections.html", context)


def _checklist(frame: Frame, known: tuple[TokenView, ...]) -> dict[str, object]:
    """Return how far the agents are; `known` are the tokens that who looks may see."""
    project_id = None if frame.project is None else frame.project.id
    living = tuple(
        one
        for one in known
        if state_of(token=one, now=frame.now) in {"active", "rotated"}
        and (one.projects is None or project_id in one.projects)
    )
    seen = tuple(one for one in living if one.last_used_at is not None)
    reached = milestones(caller=frame.caller, project=frame.slug)
    given = project_totals(caller=frame.caller, project=frame.slug)
    paused = pauses_of(caller=frame.caller, ref=frame.slug)
    agents = tuple(
        {
            "token": one,
            "is_paused": one.id in paused.tokens or one.user_id in paused.people,
            "is_silent": is_silent(token=one, now=frame.now),
            "is_old": one.last_used_hook is not None and one.last_used_hook < HOOK_SCRIPT_VERSION,
        }
        for one in seen
    )
    return {
        "steps": (
            (_("Token created"), _earliest(one.created_at for one in living)),
            (_("First call"), _earliest(one.last_used_at for one in seen)),
            (_("First memory given to an agent"), given.first_at),
            (_("First memory from an agent"), reached.first_memory_at),
        ),
        "agents": agents,
        "newest_hook": HOOK_SCRIPT_VERSION,
        "has_old": any(one["is_old"] for one in agents),
        "given": given,
        "is_paused": paused.paused,
        "may_pause": frame.may(Act.MANAGE_PROJECTS),
        "may_pause_agents": frame.may(Act.WRITE),
        "now": frame.now,
    }


def _earliest(moments: Iterable[datetime | None]) -> datetime | None:
    return min((moment for moment in moments if moment is not None), default=None)
