"""Connections: how to connect an agent, and whether it works yet."""

from collections.abc import Iterable
from dataclasses import dataclass
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
from frontend.presenters import connection_snippets
from frontend.presenters.connection_test import ANSWERS, Tried
from frontend.views import base
from frontend.views.base import Frame
from memory.injection.actions.connection_test import try_connection
from memory.injection.harnesses import adapters
from memory.injection.queries import DeliveryTotals, milestones, project_totals
from teams.actions import project_settings
from teams.permissions import Act, allows
from teams.queries import pauses_of

NOBODY: Final = UUID(int=0)  # what is no id names no token


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of the check-list; `at` is None until it has happened."""

    name: str
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A token that has called, whether it is given anything here, and whether it fell silent.

    `is_old`: the hook script that calls with it is older than the one of this product.
    """

    token: TokenView
    is_paused: bool
    is_silent: bool
    is_old: bool
    may_pause: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """The live check-list, the agents seen, what was given, and whether anything is."""

    steps: tuple[Step, ...]
    agents: tuple[Agent, ...]
    complete: bool
    newest_hook: int
    has_old: bool
    given: DeliveryTotals
    is_paused: bool
    may_pause: bool


@base.reader
def connections(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the page."""
    return base.page(request, "pages/connections.html", _context(frame, token=None))


@base.reader
def steps(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the check-list alone, for the live refresh."""
    known = list_tokens(caller=frame.caller)
    context = {"checklist": _checklist(frame, known), "now": frame.now}
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


@require_POST
@base.member
def pause(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Pause or resume the project, or one token in it."""
    named = request.POST.get("token", "")
    project_settings.pause(
        caller=frame.caller,
        ref=frame.project.slug if frame.project else "",
        token_id=(as_uuid(text=named) or NOBODY) if named else None,
        paused=request.POST.get("paused") == "1",
    )
    return base.moved(request, to=base.address("connections", frame))


@require_POST
@base.member
def attempt(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Try one of one's own tokens, and show how far an event of it comes."""
    tried = _tried(frame, as_uuid(text=request.POST.get("token", "")) or NOBODY)
    if request.htmx:  # type: ignore[attr-defined]
        return base.page(request, "partials/tried.html", {"tried": tried, "now": frame.now})
    context = {**_context(frame, token=None), "tried": tried}
    return base.page(request, "pages/connections.html", context)


def _tried(frame: Frame, token_id: UUID) -> Tried:
    ref = frame.project.slug if frame.project else ""
    outcome = try_connection(caller=frame.caller, ref=ref, token_id=token_id, now=frame.now)
    token = next(one for one in list_tokens(caller=frame.caller) if one.id == token_id)
    return Tried(token=token, said=ANSWERS[outcome])


def _may_write(frame: Frame) -> bool:
    return allows(role=frame.caller.role, act=Act.WRITE)


def _may_manage(frame: Frame) -> bool:
    return allows(role=frame.caller.role, act=Act.MANAGE_PROJECTS)


def _context(frame: Frame, *, token: str | None) -> dict[str, object]:
    slug = frame.project.slug if frame.project else ""
    known = list_tokens(caller=frame.caller)
    return {
        "section": "connections",
        "token": token,
        "harnesses": connection_snippets.harnesses(
            base_url=settings.BASE_URL, token=token, project=slug
        ),
        "checklist": _checklist(frame, known),
        "own_tokens": tuple(one for one in known if one.user_id == frame.caller.user_id),
        "now": frame.now,
    }


def _checklist(frame: Frame, known: tuple[TokenView, ...]) -> Checklist:
    """Return how far the agents are; `known` are the tokens that who looks may see."""
    slug = frame.project.slug if frame.project else ""
    living = tuple(
        one
        for one in known
        if state_of(token=one, now=frame.now) in {"active", "rotated"} and _reaches(one, frame)
    )
    seen = tuple(one for one in living if one.last_used_at is not None)
    reached = milestones(caller=frame.caller, project=slug)
    given = project_totals(caller=frame.caller, project=slug)
    paused = pauses_of(caller=frame.caller, ref=slug)
    steps = (
        Step(name=_("A token is made"), at=_earliest(one.created_at for one in living)),
        Step(name=_("First call"), at=_earliest(one.last_used_at for one in seen)),
        Step(name=_("A session was given a memory"), at=given.first_at),
        Step(name=_("First memory from an agent"), at=reached.first_memory_at),
    )
    agents = tuple(
        Agent(
            token=one,
            is_paused=one.id in paused.tokens or one.user_id in paused.people,
            is_silent=is_silent(token=one, now=frame.now),
            is_old=one.last_used_hook is not None
            and one.last_used_hook < adapters.HOOK_SCRIPT_VERSION,
            may_pause=_may_write(frame),
        )
        for one in seen
    )
    return Checklist(
        steps=steps,
        agents=agents,
        complete=all(step.at is not None for step in steps),
        newest_hook=adapters.HOOK_SCRIPT_VERSION,
        has_old=any(one.is_old for one in agents),
        given=given,
        is_paused=paused.paused,
        may_pause=_may_manage(frame),
    )


def _reaches(token: TokenView, frame: Frame) -> bool:
    project = frame.project
    return token.projects is None or (project is not None and project.id in token.projects)


def _earliest(moments: Iterable[datetime | None]) -> datetime | None:
    known = [moment for moment in moments if moment is not None]
    return min(known, default=None)
