"""What a browser may load: a content security policy with a fresh nonce per request (spec 9).

Stands before everything that renders. A view that serves another policy (the API page) sets the
header itself; this one leaves it alone.
"""

import secrets
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

HEADER = "Content-Security-Policy"
NONCE_BYTES = 16

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
        """Add the policy unless the view has set one of its own."""
        if HEADER not in response:
            response[HEADER] = policy(nonce=getattr(request, "csp_nonce", ""))
        return response


def policy(*, nonce: str) -> str:
    """Return the header's text for one nonce."""
    parts = (f"{name} {value}" for name, value in POLICY)
    return "; ".join(parts).replace("{nonce}", nonce)
