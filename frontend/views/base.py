"""What every page does first and last: who calls, which organization, which frame.

`member` is the only way into an organization from a page: it turns the session and the address into
a Caller, enters the tenant, runs the view, and turns a refusal into a page. Views make one call to
read or act and render one context.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from accounts import free_texts, tenancy
from accounts.authentication import caller_from_session, entered
from accounts.caller import Caller, TokenScope, scopes_of
from accounts.errors import CairnError, InvalidInput, NotFound, RateLimited
from accounts.queries import organizations_of
from accounts.tenancy.rls import JoinedOrganization
from frontend.middleware import speak
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.review.queries import overview
from teams import queries as places
from teams.permissions import Act, allows
from teams.queries import ProjectView

P = ParamSpec("P")
# Names under which templates get what was sent; `_redacted` masks the secrets in each.
FORMS: Final = ("form", "form_main", "form_gates", "form_extraction", "form_people")
SECTIONS: Final = {  # where a page's template is not named by its entry in the navigation
    "conflict": "conflicts",
    "entity": "entities",
    "import": "memories",
    "imports": "memories",
    "memory": "memories",
    "methodology": "methodologies",
    "note": "memories",
    "notes": "memories",
    "session": "sessions",
    "style": "styles",
    "team": "teams",
    "topic": "topics",
    "trust": "connections",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What stands around the content of an organization's page."""

    caller: Caller
    now: datetime
    organization: JoinedOrganization
    organizations: tuple[JoinedOrganization, ...]
    projects: tuple[ProjectView, ...]
    project: ProjectView | None
    cursor: int

    @property
    def slug(self) -> str:
        """The short name of the project, empty outside of one."""
        return "" if self.project is None else self.project.slug

    @property
    def project_id(self) -> UUID | None:
        """The id of the project, None outside of one."""
        return None if self.project is None else self.project.id

    @property
    def ref(self) -> str:
        """The id of the project as text, empty outside of one."""
        return str(self.project_id or "")

    def may(self, act: Act) -> bool:
        """Say whether the role of who looks allows an act."""
        return allows(role=self.caller.role, act=act)


Inner = Callable[Concatenate[HttpRequest, Frame, P], HttpResponseBase]
Outer = Callable[..., HttpResponseBase]


def member(view: Inner[P]) -> Outer:
    """Run a view for a member of the organization named in the address."""
    return _inside(view, nullcontext)


def reader(view: Inner[P]) -> Outer:
    """Run a view that only reads, for a member: all it shows is read in one database unit."""
    return _inside(view, tenancy.unit)


def person(view: Callable[Concatenate[HttpRequest, P], HttpResponseBase]) -> Outer:
    """Run a view for a signed-in person, outside of any organization."""

    @login_required
    @wraps(view)
    def inside(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        speak(request)
        try:
            _check_text(request)
            return view(request, *args, **kwargs)
        except CairnError as error:
            return refusal(request=request, error=error)

    return inside


def person_id(request: HttpRequest) -> Any:
    """Return the id of the signed-in person."""
    return request.user.pk


def is_htmx(request: HttpRequest) -> bool:
    """Say whether a script asks for a part of a page."""
    return bool(getattr(request, "htmx", False))


def page(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, status: int | None = None
) -> HttpResponse:
    """Render a page or a fragment.

    The status is that of the `error` in the context where none is given. A form that comes back
    with a refusal shows what was sent without secrets: sent once more, it stores the rest. A whole
    page of a project has its counts beside it, in the main navigation.
    """
    error = context.get("error")
    status = status or (error.status if isinstance(error, CairnError) else 200)
    values = {**context, **_redacted(context)} if status >= 400 else dict(context)
    frame: Frame | None = getattr(request, "frame", None)
    if template.startswith("pages/"):
        name = template.removeprefix("pages/").removeprefix("settings_").removesuffix(".html")
        values = {"section": SECTIONS.get(name, name), "tally": None, **values}
        if "tally" not in context and frame and frame.project and not is_htmx(request):
            values["tally"] = overview.count_for_frame(
                caller=frame.caller, project_id=frame.project.id, now=frame.now
            )
    return render(request, template, values, status=status)


def dialog(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, status: int | None = None
) -> HttpResponse:
    """Render a dialog's content: a fragment for htmx, a page of its own without scripts."""
    values = {**context, "dialog": template, "fragment": is_htmx(request)}
    outer = template if values["fragment"] else "pages/dialog.html"
    return page(request, outer, values, status=status)


def done(request: HttpRequest, *, to: str, say: str, changed: str) -> HttpResponse:
    """Answer a form that succeeded: a toast and the next page."""
    if not is_htmx(request):
        return HttpResponseRedirect(to)
    response = HttpResponse(status=204)
    response["HX-Trigger"] = toast(text=say, changed=changed)
    return response


def moved(request: HttpRequest, *, to: str) -> HttpResponse:
    """Send the browser to another page."""
    if not is_htmx(request):
        return HttpResponseRedirect(to)
    return HttpResponse(status=204, headers={"HX-Redirect": to})


def swapped(response: HttpResponse, *, into: str, swap: str = "innerHTML") -> HttpResponse:
    """Have htmx put an answer elsewhere than the form that asked said."""
    response["HX-Retarget"], response["HX-Reswap"] = into, swap
    return response


def file(text: str, *, media: str, name: str = "") -> HttpResponse:
    """Give a text as a file, to be saved under a name if there is one."""
    response = HttpResponse(text, content_type=f"{media}; charset=utf-8")
    if name:
        response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def toast(*, text: str, undo: str = "", changed: str = "") -> str:
    """Return an HX-Trigger value: show a text, offer to post to `undo`, refresh `changed`.

    Header values are Latin-1, so JSON escapes everything else.
    """
    events: dict[str, object] = {"cairn:toast": {"text": text, "undo": undo}, "cairn:close": {}}
    if changed:
        events["cairn:changed"] = {"what": changed}
    return json.dumps(events)


def refusal(*, request: HttpRequest, error: CairnError) -> HttpResponse:
    """Turn a refusal into a toast for htmx, else into a page."""
    if is_htmx(request):
        shown = page(request, "partials/toast.html", {"error": error})
        return swapped(shown, into="#toasts", swap="beforeend")
    template = "404.html" if error.status == 404 else "pages/refused.html"
    response = page(request, template, {"error": error, "tally": None})
    if isinstance(error, RateLimited):
        response["Retry-After"] = str(error.retry_after_seconds)
    return response


def address(name: str, frame: Frame, *args: object) -> str:
    """Return the address of a page of the frame's project, outside of one of its organization."""
    project = (frame.slug,) if frame.slug else ()
    return reverse(name, args=(frame.caller.organization_slug, *project, *args))


def memory_here(frame: Frame, memory_id: UUID, *, or_of_no_project: bool = False) -> MemoryView:
    """Return a memory of the page's project, or of none. Raises NotFound for another project's."""
    view = memories.get(caller=frame.caller, memory_id=memory_id, now=frame.now)
    if or_of_no_project and view.project_id is None:
        return view
    if view.project_id != frame.project_id:
        raise _not_here()
    return view


def check_here(frame: Frame, memory_ids: tuple[UUID, ...]) -> None:
    """Check that memories are of the page's project. Raises NotFound when one is not."""
    found = memories.by_ids(caller=frame.caller, memory_ids=memory_ids, now=frame.now)
    if any(key not in found or found[key].project_id != frame.project_id for key in memory_ids):
        raise _not_here()


def lendable_scopes(caller: Caller) -> tuple[TokenScope, ...]:
    """Return the scopes that a person can lend to a token, in their order."""
    lendable = scopes_of(role=caller.role)
    return tuple(scope for scope in TokenScope if scope in lendable)


def ids_of(texts: list[str]) -> tuple[UUID, ...]:
    """Return the ids that a form names. Raises InvalidInput."""
    try:
        return tuple(UUID(text) for text in texts)
    except ValueError as error:
        raise InvalidInput(
            detail="A selected memory has no valid id.", hint="Reload the list and try again."
        ) from error


def number_of(text: str, *, digits: int = 9) -> int | None:
    """Read a whole number of an address or a form; None for what is none or too long."""
    bare = text.strip()
    return int(bare) if bare.isascii() and bare.isdecimal() and len(bare) <= digits else None


def no_verb() -> InvalidInput:
    """Return the refusal of a form that asks for what no page offers."""
    return InvalidInput(detail="This action does not exist.", hint="Reload the page.")


def _inside(view: Inner[P], opened: Callable[[], AbstractContextManager[None]]) -> Outer:
    @login_required
    @wraps(view)
    def inside(
        request: HttpRequest, org: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        speak(request)
        try:
            _check_text(request)
            caller = caller_from_session(user_id=person_id(request), organization_slug=org)
            with entered(caller), opened():
                frame = _frame(request, caller, kwargs.pop("project", None))
                request.frame = frame  # type: ignore[attr-defined]
                return view(request, frame, *args, **kwargs)
        except CairnError as error:
            return refusal(request=request, error=error)

    return inside


def _frame(request: HttpRequest, caller: Caller, slug: Any) -> Frame:
    organizations = organizations_of(user_id=person_id(request))
    cursor, projects = places.surroundings(caller=caller)  # before anything else is read
    project = next((one for one in projects if one.slug == slug), None)
    if project is None and slug is not None:
        project = places.project(caller=caller, ref=str(slug))
    return Frame(
        caller=caller,
        now=timezone.now(),
        organization=next(one for one in organizations if one.id == caller.organization_id),
        organizations=organizations,
        cursor=cursor,
        projects=projects,
        project=project,
    )


def _redacted(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the forms of a page without secrets, and whether something was taken out of them."""
    forms: dict[str, Any] = {}
    for name in FORMS:
        sent = context.get(name)
        if isinstance(sent, QueryDict):
            kept = sent.copy()
            for field, values in sent.lists():
                kept.setlist(field, [free_texts.masked(text=str(value)) for value in values])
            if kept != sent:
                forms |= {name: kept, "was_redacted": True}
    return forms


def _check_text(request: HttpRequest) -> None:
    sent = (*request.GET.lists(), *request.POST.lists())
    if any("\x00" in value for _name, values in sent for value in values):
        raise InvalidInput(
            detail="The text contains a character that cannot be stored (NUL).",
            hint="Remove it and send the text again.",
        )


def _not_here() -> NotFound:
    return NotFound(detail="There is no such memory here.", hint="It may be in another project.")
