"""A person's own page: name, language, theme, shortcuts; and the switches outside of it."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from accounts.actions.organizations import Preferences, save_preferences, save_theme
from accounts.errors import InvalidInput
from frontend.views import base

YEAR_S = 31_536_000


@base.person
def me(request: HttpRequest) -> HttpResponse:
    """Show and save what a person prefers."""
    if request.method != "POST":
        return base.page(request, "pages/me.html", {"section": "me", "form": request.user})
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
        return base.page(request, "pages/me.html", {"section": "me", "error": error, "form": form})
    return _set_language(HttpResponseRedirect(reverse("me") + "?saved"), preferences.language)


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
