"""Pages outside of any organization: the front door, documentation, invitations, one's account."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from accounts import sessions
from accounts.actions.members import accept_invitation
from accounts.actions.organizations import Preferences, save_preferences, save_theme
from accounts.audit import origin
from accounts.authentication import count_try
from accounts.errors import CairnError, InvalidInput, NotFound
from accounts.queries import invitation_offer
from frontend.middleware import speak
from frontend.presenters import browsers, doc_pages
from frontend.views import base

YEAR_S = 31_536_000


def home(request: HttpRequest) -> HttpResponse:
    """Send people on: signed in to their organizations, else to the sign-in page."""
    name = "organizations" if request.user.is_authenticated else "account_login"
    return HttpResponseRedirect(reverse(name))


def document(request: HttpRequest, name: str = "") -> HttpResponse:
    """Show a page of the documentation, the first one without a name."""
    pages = doc_pages.pages()
    found = next((one for one in pages if not name or one.name == name), None)
    if found is None:
        raise Http404
    speak(request)
    return render(request, "pages/document.html", {"page": found, "pages": pages})


def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show what the invitation offers; signed in with its address, accept it.

    An address that guesses secrets is slowed.
    """
    now = timezone.now()
    speak(request)
    try:
        offer = invitation_offer(secret=secret, now=now)
        if request.method == "POST" and request.user.is_authenticated:
            joined = accept_invitation(user_id=base.person_id(request), secret=secret, now=now)
            return HttpResponseRedirect(reverse("organization", args=(joined.slug,)))
    except NotFound:
        try:
            count_try(kind="invitation", address=origin().address, now=now)
        except CairnError as error:
            return base.refusal(request=request, error=error)
        return base.page(request, "pages/invitation_gone.html", {}, status=404)
    except CairnError as error:
        return base.refusal(request=request, error=error)
    mine = getattr(request.user, "email", "").lower() == offer.email.lower()
    return base.page(request, "pages/invitation.html", {"offer": offer, "mine": mine})


@base.person
def me(request: HttpRequest) -> HttpResponse:
    """Show and save what a person prefers."""
    if request.method != "POST":
        return base.page(
            request, "pages/me.html", {"form": request.user, "browsers": _browsers(request)}
        )
    form = request.POST
    preferences = Preferences(
        name=form.get("name", "").strip(),
        language=form.get("language", ""),
        theme=form.get("theme", ""),
        shortcuts="shortcuts" in form,
    )
    try:
        save_preferences(user_id=base.person_id(request), preferences=preferences)
    except InvalidInput as error:
        shown = {"error": error, "form": form, "browsers": _browsers(request)}
        return base.page(request, "pages/me.html", shown)
    return _set_language(HttpResponseRedirect(reverse("me") + "?saved"), preferences.language)


@require_POST
@base.person
def end_sessions(request: HttpRequest) -> HttpResponse:
    """Sign out one of a person's browsers, or all others."""
    sessions.end_sessions(
        user_id=base.person_id(request),
        session_key=request.session.session_key or "",
        ref=None if "others" in request.POST else request.POST.get("ref", ""),
    )
    return HttpResponseRedirect(reverse("me") + "?ended#browsers")


@require_POST
@base.person
def theme(request: HttpRequest) -> HttpResponse:
    """Keep the theme that the shortcut switched to."""
    save_theme(user_id=base.person_id(request), theme=request.POST.get("theme", ""))
    return HttpResponse(status=204)


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Switch the language of the pages outside of an account."""
    chosen = request.POST.get("language", "")
    if chosen not in {"en", "fr"}:
        error = InvalidInput(detail="There is no such language.", hint="Choose one from the list.")
        return base.refusal(request=request, error=error)
    following = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(following, allowed_hosts=None):
        following = "/"
    return _set_language(HttpResponseRedirect(following), chosen)


def _browsers(request: HttpRequest) -> tuple[tuple[sessions.SignedInBrowser, str], ...]:
    """Return where a person is signed in, each with the browser's name."""
    found = sessions.signed_in(
        user_id=base.person_id(request),
        session_key=request.session.session_key or "",
        now=timezone.now(),
    )
    return tuple((one, browsers.name_of(agent=one.agent)) for one in found)


def _set_language(response: HttpResponse, language: str) -> HttpResponse:
    """Keep a language in a cookie; none forgets the one there is."""
    if language:
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            language,
            max_age=YEAR_S,
            secure=settings.LANGUAGE_COOKIE_SECURE,
            httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
            samesite="Lax",
        )
    else:
        response.delete_cookie(settings.LANGUAGE_COOKIE_NAME, samesite="Lax")
    return response
