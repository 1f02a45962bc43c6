"""What a browser may load and keep, and the language of the pages of accounts.

A content security policy with a fresh nonce, and no caches: this stands before everything that
answers, static files too. An answer that says itself how long it may be kept (static files) or sets
a policy of its own (the API's data) is left alone; everything else may be kept by nobody, because
most pages show what belongs to somebody.
"""

import secrets
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin

HEADER = "Content-Security-Policy"
KEPT_BY_NOBODY = "no-store"
NONCE_BYTES = 16
ACCOUNT_VIEWS = "allauth."

POLICY = (
    ("default-src", "'none'"),
    ("script-src", "'self' 'nonce-{nonce}'"),
    ("style-src", "'self' 'nonce-{nonce}'"),
    ("img-src", "'self' data:"),
    ("font-src", "'self'"),
    ("connect-src", "'self'"),
    ("manifest-src", "'self'"),
    ("form-action", "'self'"),
    ("frame-ancestors", "'none'"),
    ("base-uri", "'none'"),
)


class ContentSecurityPolicyMiddleware(MiddlewareMixin):
    """Give each request a nonce (`request.csp_nonce`) and each response the policy."""

    get_response: Callable[[HttpRequest], HttpResponse]

    def process_request(self, request: HttpRequest) -> None:
        """Make the nonce that the templates of this request use."""
        request.csp_nonce = secrets.token_urlsafe(NONCE_BYTES)  # type: ignore[attr-defined]

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Add the policy, and that nobody keeps the answer, unless it says otherwise itself."""
        if HEADER not in response:
            response[HEADER] = policy(nonce=getattr(request, "csp_nonce", ""))
        response.headers.setdefault("Cache-Control", KEPT_BY_NOBODY)
        return response


class PersonsLanguageMiddleware(MiddlewareMixin):
    """Show the pages of accounts in the language that the signed-in person chose."""

    get_response: Callable[[HttpRequest], HttpResponse]

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], *_: object
    ) -> None:
        """Switch the language before a view that is not ours."""
        if view.__module__.startswith(ACCOUNT_VIEWS):
            speak(request)


def policy(*, nonce: str) -> str:
    """Return the header's text for one nonce."""
    parts = (f"{name} {value}" for name, value in POLICY)
    return "; ".join(parts).replace("{nonce}", nonce)


def speak(request: HttpRequest) -> None:
    """Answer in the language the signed-in person chose, else in the one the browser asks for."""
    language = getattr(getattr(request, "user", None), "language", "")
    if language:
        translation.activate(language)
        request.LANGUAGE_CODE = translation.get_language()
