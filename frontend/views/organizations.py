"""Organizations: choose or make one, its projects, and its settings, people and tokens."""

from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts import queries
from accounts.actions import members as member_actions
from accounts.actions import organizations as organization_actions
from accounts.actions import tokens as token_actions
from accounts.caller import Role, TokenScope, manages, outranks
from accounts.errors import CairnError, InvalidInput
from accounts.queries import invitations, list_tokens, organizations_of, state_of
from frontend.views import base
from frontend.views.base import Frame
from memory.review.queries import overview
from teams.actions import create_project, leave, remove_member
from teams.permissions import Act

USUAL_DAYS: Final = (7, 30, 90)  # that a new token is offered, besides the longest possible life


@base.person
def organizations(request: HttpRequest) -> HttpResponse:
    """Go to the only organization, or choose; someone without any gets their own."""
    found = organizations_of(user_id=base.person_id(request))
    if not found:
        found = (
            organization_actions.ensure_home(user_id=base.person_id(request), now=timezone.now()),
        )
    if len(found) == 1 and "choose" not in request.GET:
        return HttpResponseRedirect(reverse("organization", args=(found[0].slug,)))
    return base.page(request, "pages/organizations.html", {"organizations": found})


@base.reader
def organization(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the projects of an organization with their counts."""
    by_project = overview.count_by_project(caller=frame.caller, now=frame.now)
    context = {
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
        made = organization_actions.create_organization(
            user_id=base.person_id(request),
            name=request.POST.get("name", "").strip(),
            slug=request.POST.get("slug", "").strip() or None,
            now=timezone.now(),
        )
    except CairnError as error:
        context = {"error": error, "form": request.POST}
        return base.page(request, "pages/new_organization.html", context)
    return HttpResponseRedirect(reverse("organization", args=(made.slug,)))


@base.member
def general(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show and save the organization's name, its tokens' longest life, and how long events stay."""
    events_days = queries.keep_events_days(organization_id=frame.caller.organization_id)
    context: dict[str, object] = {
        "may_manage": manages(caller=frame.caller),
        "longest_token_days": queries.longest_token_days(caller=frame.caller),
        "most_days": token_actions.MAXIMUM_DAYS,
        "keep_events_days": events_days,
        "most_events_days": organization_actions.KEEP_EVENTS_MOST,
    }
    if request.method == "POST":
        wanted_days = _days(request.POST.get("keep_events_days", ""))
        try:
            organization_actions.change_organization(
                caller=frame.caller,
                name=request.POST.get("name", "").strip(),
                longest_token_days=_days(request.POST.get("longest_token_days", "")),
                keep_events_days=None if wanted_days == events_days else wanted_days,
            )
            return base.moved(request, to=base.address("settings_general", frame))
        except InvalidInput as error:
            context |= {"error": error, "form": request.POST}
    return base.page(request, "pages/settings_general.html", context)


@base.member
def members(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the people and the open invitations."""
    may_manage = manages(caller=frame.caller)
    context = {
        "may_manage": may_manage,
        "members": queries.members(caller=frame.caller),
        "invitations": invitations(caller=frame.caller) if may_manage else (),
        "roles": _roles(frame),
    }
    return base.page(request, "pages/settings_members.html", context)


@base.member
def invite(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the dialog of an invitation, and send one."""
    context: dict[str, object] = {"roles": _roles(frame), "form": request.POST}
    if request.method == "POST":
        try:
            sent = member_actions.invite(
                caller=frame.caller,
                email=request.POST.get("email", "").strip(),
                role=_role(request.POST.get("role", "")),
                now=frame.now,
            )
            return base.dialog(request, "partials/invited.html", {"sent": sent})
        except CairnError as error:
            context["error"] = error
    return base.dialog(request, "partials/invite.html", context)


@require_POST
@base.member
def member_change(request: HttpRequest, frame: Frame, user_id: UUID) -> HttpResponse:
    """Change a member's role, or take a member (or oneself) out."""
    if request.POST.get("verb", "") == "role":
        role = _role(request.POST.get("role", ""))
        member_actions.change_role(caller=frame.caller, user_id=user_id, role=role)
    elif user_id == frame.caller.user_id:
        leave(caller=frame.caller, now=frame.now)
        return base.moved(request, to=reverse("organizations"))
    else:
        remove_member(caller=frame.caller, user_id=user_id, now=frame.now)
    return base.moved(request, to=base.address("settings_members", frame))


@require_POST
@base.member
def invitation_change(request: HttpRequest, frame: Frame, invitation_id: UUID) -> HttpResponse:
    """Send an invitation again, or revoke it."""
    if request.POST.get("verb") == "resend":
        sent = member_actions.resend_invitation(
            caller=frame.caller, invitation_id=invitation_id, now=frame.now
        )
        return base.dialog(request, "partials/invited.html", {"sent": sent})
    member_actions.revoke_invitation(
        caller=frame.caller, invitation_id=invitation_id, now=frame.now
    )
    return base.moved(request, to=base.address("settings_members", frame))


@base.member
def tokens(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the tokens."""
    known = list_tokens(caller=frame.caller)
    rows = tuple((token, state_of(token=token, now=frame.now)) for token in known)
    context = {"rows": rows}
    return base.page(request, "pages/settings_tokens.html", context)


@base.member
def new_token(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the dialog of a token, and make one; its text is shown this once."""
    form = request.POST
    longest = queries.longest_token_days(caller=frame.caller)
    context: dict[str, object] = {
        "form": form,
        "scopes": base.lendable_scopes(frame.caller),
        "chosen": form.getlist("scope") or ["read", "write"],
        "projects": frame.projects,
        "days": (*(days for days in USUAL_DAYS if days < longest), longest),
        "usual_days": min(token_actions.DEFAULT_DAYS, longest),
    }
    if request.method == "POST":
        try:
            new = _new_token(frame, form)
            issued = token_actions.create_token(caller=frame.caller, new=new, now=frame.now)
            return base.dialog(request, "partials/issued_token.html", {"issued": issued})
        except CairnError as error:
            context["error"] = error
    return base.dialog(request, "partials/new_token.html", context)


def _new_token(frame: Frame, form: QueryDict) -> token_actions.NewToken:
    """Read the form; a token reaches the projects that are ticked, all of them where none is."""
    chosen = form.getlist("project")
    bound = tuple(project.id for project in frame.projects if project.slug in chosen)
    return token_actions.NewToken(
        name=form.get("name", "").strip(),
        scopes=frozenset(scope for scope in TokenScope if scope in form.getlist("scope")),
        projects=bound if chosen else None,
        expires_in_days=_days(form.get("days", "")),
        source_interface=form.get("tool", "api"),
    )


@require_POST
@base.member
def token_change(request: HttpRequest, frame: Frame, token_id: UUID) -> HttpResponse:
    """Rotate a token, or revoke it."""
    if request.POST.get("verb") == "rotate":
        issued = token_actions.rotate_token(caller=frame.caller, token_id=token_id, now=frame.now)
        return base.dialog(request, "partials/issued_token.html", {"issued": issued})
    token_actions.revoke_token(caller=frame.caller, token_id=token_id, now=frame.now)
    return base.moved(request, to=base.address("settings_tokens", frame))


def _roles(frame: Frame) -> tuple[Role, ...]:
    own = frame.caller.role
    return tuple(role for role in Role if not outranks(role=role, other=own))


def _role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError as error:
        raise InvalidInput(
            detail="There is no such role.", hint="Choose one from the list."
        ) from error


def _days(text: str) -> int | None:
    """Return a number of days; None for no text, and 0, which is refused, for what is none."""
    return (base.number_of(text, digits=4) or 0) if text else None
