"""The page on which a person decides about a program that waits for a token (RFC 8628).

Three steps at one address: type the code, choose the organization where there are several, decide.
Nothing is decided by opening a link: it only fills in the code.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone

from accounts.actions.devices import Asked, approve, refuse, user_code, waiting
from accounts.audit import origin
from accounts.authentication import caller_from_session, check_tries, count_try, entered
from accounts.errors import CairnError, InvalidInput, NotFound, RateLimited
from accounts.queries import organizations_of
from frontend.views import base
from teams import queries as places
from teams.queries import ProjectView

TRIES: Final = 10  # wrong codes a minute, of a person and of an address: 34 bits stay unguessed
EVERYWHERE: Final = ""  # a person is counted from all addresses together


@base.person
def device(request: HttpRequest) -> HttpResponse:
    """Show what a program asks for, and keep the decision."""
    now = timezone.now()
    sent = request.POST if request.method == "POST" else request.GET
    code = user_code(text=sent.get("code", ""))
    if not sent.get("code", "").strip():
        return _page(request, {})
    try:
        asked = _asked(request, code, now)
        if sent.get("verb") == "refuse" and request.method == "POST":
            return _page(request, {"done": refuse(user_code=code), "refused": True})
        return _decided(request, sent, asked, code)
    except CairnError as error:
        if isinstance(error, RateLimited):
            return base.refusal(request=request, error=error)
        return _page(request, {"error": error}, status=error.status)


def _decided(request: HttpRequest, sent: QueryDict, asked: Asked, code: str) -> HttpResponse:
    organizations = organizations_of(user_id=base.person_id(request))
    slug = sent.get("org", "") or (organizations[0].slug if len(organizations) == 1 else "")
    if not slug:
        return _page(request, {"code": code, "asked": asked, "organizations": organizations})
    caller = caller_from_session(user_id=base.person_id(request), organization_slug=slug)
    with entered(caller):
        lendable = base.lendable_scopes(caller)
        _cursor, projects = places.surroundings(caller=caller)
        choice = {
            "code": code,
            "asked": asked,
            "organization": next(one for one in organizations if one.id == caller.organization_id),
            "organizations": organizations,
            "scopes": lendable,
            "projects": projects,
        }
        if request.method != "POST" or sent.get("verb") != "approve":
            return _page(request, {"choice": choice, "chosen": ("read", "write")})
        try:
            bound = _bound(projects, sent.getlist("project"))
            scopes = frozenset(lendable).intersection(sent.getlist("scope"))
            done = approve(caller=caller, user_code=code, scopes=scopes, projects=bound)
        except InvalidInput as error:
            chosen = (*sent.getlist("scope"), *sent.getlist("project"))
            context = {"choice": choice, "chosen": chosen, "error": error}
            return _page(request, context, status=error.status)
        return _page(request, {"done": done, "organization": choice["organization"]})


def _bound(projects: Iterable[ProjectView], chosen: list[str]) -> tuple[UUID, ...] | None:
    """Return the projects that were ticked, None for none. Raises InvalidInput."""
    bound = tuple(project.id for project in projects if project.slug in chosen)
    if len(bound) != len(set(chosen)):
        raise InvalidInput(detail="There is no such project.", hint="Choose one from the list.")
    return bound or None


def _asked(request: HttpRequest, code: str, now: datetime) -> Asked:
    """Return what the code stands for. Raises NotFound, and RateLimited for who guesses."""
    of_whom = (("device", origin().address), (f"device-{base.person_id(request)}", EVERYWHERE))
    for kind, address in of_whom:  # before the code is looked up: a right guess is one, too
        check_tries(kind=kind, address=address, now=now, most=TRIES)
    try:
        return waiting(user_code=code)
    except NotFound:
        for kind, address in of_whom:
            count_try(kind=kind, address=address, now=now, most=TRIES)
        raise


def _page(request: HttpRequest, context: dict[str, object], *, status: int = 200) -> HttpResponse:
    return base.page(request, "pages/device.html", context, status=status)
