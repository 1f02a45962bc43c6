"""What every page does first and last: who calls, which organization, which frame.

`member` is the only way into an organization from a page: it turns the session and the address into
a Caller, enters the tenant, runs the view, and turns a refusal into a page. Views make one call to
read or act and render one context.
"""

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
from accounts.caller import Caller
from accounts.errors import CairnError, InvalidInput, NotFound, RateLimited
from accounts.queries.directory import OrganizationView, organizations_of
from frontend.languages import speak
from frontend.presenters import toasts
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.review.queries import overview
from memory.review.queries.overview import FrameCounts
from teams import queries as places
from teams.queries import ProjectView

P = ParamSpec("P")
WHOLE: Final = "pages/"  # where the templates of whole pages stand
FORMS: Final = (  # names under which templates find what was sent
    "form",
    "form_people",
    "form_gates",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What stands around the content of an organization's page."""

    caller: Caller
    now: datetime
    organization: OrganizationView
    organizations: tuple[OrganizationView, ...]
    projects: tuple[ProjectView, ...]
    project: ProjectView | None
    cursor: int


Moment = Callable[[], AbstractContextManager[None]]
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


def page(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render a page or a fragment; nothing of an organization is kept by caches.

    A form that comes back with a refusal shows what was sent without secrets: sent once more, it
    stores the rest. A whole page of a project has its counts beside it, in the main navigation.
    """
    values = {**context, **_redacted(context)} if status >= 400 else dict(context)
    if template.startswith(WHOLE) and "tally" not in values:
        values["tally"] = _tally(request)
    response = render(request, template, values, status=status)
    response["Cache-Control"] = "no-store"
    return response


def dialog(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render a dialog's content: a fragment for htmx, a page of its own without scripts."""
    values = {**context, "dialog": template, "fragment": bool(request.htmx)}  # type: ignore[attr-defined]
    outer = template if values["fragment"] else "pages/dialog.html"
    return page(request, outer, values, status=status)


def done(
    request: HttpRequest, *, to: str, say: str, undo: str = "", changed: str = ""
) -> HttpResponse:
    """Answer a form that succeeded: a toast and the next page."""
    if not request.htmx:  # type: ignore[attr-defined]
        return HttpResponseRedirect(to)
    response = HttpResponse(status=204)
    response["HX-Trigger"] = toasts.toast(text=say, undo=undo, changed=changed)
    return response


def moved(request: HttpRequest, *, to: str) -> HttpResponse:
    """Send the browser to another page."""
    if not request.htmx:  # type: ignore[attr-defined]
        return HttpResponseRedirect(to)
    return HttpResponse(status=204, headers={"HX-Redirect": to})


def refusal(*, request: HttpRequest, error: CairnError) -> HttpResponse:
    """Turn a refusal into a toast for htmx, else into a page."""
    if getattr(request, "htmx", False):
        response = page(request, "partials/toast.html", {"error": error}, status=error.status)
        response["HX-Retarget"], response["HX-Reswap"] = "#toasts", "beforeend"
        return response
    template = "404.html" if error.status == 404 else "pages/refused.html"
    response = page(request, template, {"error": error, "tally": None}, status=error.status)
    if isinstance(error, RateLimited):
        response["Retry-After"] = str(error.retry_after_seconds)
    return response


def address(name: str, frame: Frame, *args: object) -> str:
    """Return the address of a page of the frame's project."""
    project = () if frame.project is None else (frame.project.slug,)
    return reverse(name, args=(frame.caller.organization_slug, *project, *args))


def _inside(view: Inner[P], moment: Moment) -> Outer:
    @login_required
    @wraps(view)
    def inside(
        request: HttpRequest, org: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        speak(request)
        try:
            _check_text(request)
            caller = caller_from_session(user_id=person_id(request), organization_slug=org)
            with entered(caller), moment():
                frame = _frame(request, caller, kwargs.pop("project", None))
                request.frame = frame  # type: ignore[attr-defined]
                return view(request, frame, *args, **kwargs)
        except CairnError as error:
            return refusal(request=request, error=error)

    return inside


def _tally(request: HttpRequest) -> FrameCounts | None:
    """Return the counts of the page's project; None of none, and where a part alone is shown."""
    frame: Frame | None = getattr(request, "frame", None)
    if frame is None or frame.project is None or getattr(request, "htmx", False):
        return None
    return overview.count_for_frame(caller=frame.caller, project_id=frame.project.id, now=frame.now)


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


def _frame(request: HttpRequest, caller: Caller, project: Any) -> Frame:
    organizations = organizations_of(user_id=person_id(request))
    cursor, projects = places.surroundings(caller=caller)  # before anything else is read
    return Frame(
        caller=caller,
        now=timezone.now(),
        organization=next(one for one in organizations if one.id == caller.organization_id),
        organizations=organizations,
        cursor=cursor,
        projects=projects,
        project=None if project is None else _project(caller, projects, str(project)),
    )


def _project(caller: Caller, projects: tuple[ProjectView, ...], ref: str) -> ProjectView:
    found = next((one for one in projects if one.slug == ref), None)
    return found or places.project(caller=caller, ref=ref)


def memory_here(frame: Frame, memory_id: UUID) -> MemoryView:
    """Return a memory of the page's project, or of none. Raises NotFound for another place's."""
    view = memories.get(caller=frame.caller, memory_id=memory_id, now=frame.now)
    if view.project_id != (None if frame.project is None else frame.project.id):
        raise _not_here()
    return view


def memory_listed(frame: Frame, memory_id: UUID) -> MemoryView:
    """Return a memory that lists of the page's project show: one of it, or of no project.

    Raises NotFound for another place's.
    """
    view = memories.get(caller=frame.caller, memory_id=memory_id, now=frame.now)
    if frame.project is None or view.project_id not in {None, frame.project.id}:
        raise _not_here()
    return view


def check_here(frame: Frame, memory_ids: tuple[UUID, ...]) -> None:
    """Check that memories are of the page's project. Raises NotFound when one is not."""
    found = memories.by_ids(caller=frame.caller, memory_ids=memory_ids, now=frame.now)
    place = None if frame.project is None else frame.project.id
    if any(key not in found or found[key].project_id != place for key in memory_ids):
        raise _not_here()


def clock() -> datetime:
    """Read the clock; edges read it, nobody below does."""
    return timezone.now()


def _not_here() -> NotFound:
    return NotFound(detail="There is no such memory here.", hint="It may be in another project.")
