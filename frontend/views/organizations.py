"""Organizations and their projects: choose one, see them, make one."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from accounts.actions.organizations import create_organization, ensure_home
from accounts.errors import CairnError
from accounts.queries import organizations_of
from frontend.views import base
from frontend.views.base import Frame
from memory.review.queries import overview
from teams.actions import create_project
from teams.permissions import Act


@base.person
def organizations(request: HttpRequest) -> HttpResponse:
    """Go to the only organization, or choose; someone without any gets their own."""
    found = organizations_of(user_id=base.person_id(request))
    if not found:
        found = (ensure_home(user_id=base.person_id(request), now=timezone.now()),)
    if len(found) == 1 and "choose" not in request.GET:
        return HttpResponseRedirect(reverse("organization", args=(found[0].slug,)))
    return base.page(request, "pages/organizations.html", {"organizations": found})


@base.reader
def organization(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the projects of an organization with their counts."""
    by_project = overview.count_by_project(caller=frame.caller, now=frame.now)
    context = {
        "section": "organization",
        "cards": tuple((project, by_project.get(project.id)) for project in frame.projects),
        "may_create": frame.may(Act.MANAGE_PROJECTS),
    }
    return base.page(request, "pages/organization.html", context)


@base.member
def new_project(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the dialog of a new project, and make the project."""
    form = request.POST
    if request.method != "POST":
        return base.dialog(request, "partials/new_project.html", {})
    try:
        made = create_project(
            caller=frame.caller,
            slug=form.get("slug", "").strip(),
            name=form.get("name", "").strip(),
            description=form.get("description", "").strip()[:400],
            open_to_all="closed" not in form,
            now=frame.now,
        )
    except CairnError as error:
        context = {"error": error, "form": form}
        return base.dialog(request, "partials/new_project.html", context)
    return base.moved(request, to=base.address("overview", frame, made.slug))


@base.person
def new_organization(request: HttpRequest) -> HttpResponse:
    """Show the form of a new organization, and make it."""
    if request.method != "POST":
        return base.page(request, "pages/new_organization.html", {})
    try:
        made = create_organization(
            user_id=base.person_id(request),
            name=request.POST.get("name", "").strip(),
            slug=request.POST.get("slug", "").strip() or None,
            now=timezone.now(),
        )
    except CairnError as error:
        context = {"error": error, "form": request.POST}
        return base.page(request, "pages/new_organization.html", context)
    return HttpResponseRedirect(reverse("organization", args=(made.slug,)))
