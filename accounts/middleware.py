"""Sign-in when something it needs is away: a clear page, and nobody comes in.

Attempts are counted in Redis. Without it they cannot be counted, so signing in, signing up and
resetting stop with 503 instead of being unlimited.
"""

import logging
from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from redis.exceptions import RedisError

from accounts.errors import CairnError, Unavailable

log = logging.getLogger(__name__)

SIGN_IN_VIEWS: Final = "allauth."
TEMPLATES: Final = ["pages/refused.html", "accounts/refused.html"]  # the product's, else our own
RETRY_SECONDS: Final = 5


class SignInGuardMiddleware(MiddlewareMixin):
    """Turn what stops a sign-in page into an answer for people."""

    get_response: Callable[[HttpRequest], HttpResponse]

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer a refusal or a missing Redis of a sign-in view; leave everything else alone."""
        if not _is_sign_in(request):
            return None
        if isinstance(exception, RedisError):
            log.warning("Sign-in is closed, attempts cannot be counted: %s", exception)
            exception = Unavailable(
                detail="Signing in is not possible right now.",
                hint="The store that counts attempts is away. Try again in a few seconds.",
            )
        return _refused(request, exception) if isinstance(exception, CairnError) else None


def _is_sign_in(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and match.func.__module__.startswith(SIGN_IN_VIEWS)


def _refused(request: HttpRequest, error: CairnError) -> HttpResponse:
    response = render(request, TEMPLATES, {"error": error}, status=error.status)
    response["Cache-Control"] = "no-store"
    if isinstance(error, Unavailable):
        response["Retry-After"] = str(RETRY_SECONDS)
    return response
