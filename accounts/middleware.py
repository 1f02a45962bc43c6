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
        match = request.resolver_match
        if match is None or not match.func.__module__.startswith(SIGN_IN_VIEWS):
            return None
        if isinstance(exception, RedisError):
            log.warning("Sign-in is closed, attempts cannot be counted: %s", exception)
            exception = Unavailable(
                detail="Signing in is not possible right now.",
                hint="The store that counts attempts is unavailable. Try again in a few seconds.",
            )
        if not isinstance(exception, CairnError):
            return None
        response = render(request, TEMPLATES, {"error": exception}, status=exception.status)
        response["Cache-Control"] = "no-store"
        if isinstance(exception, Unavailable):
            response["Retry-After"] = str(RETRY_SECONDS)
        return response
