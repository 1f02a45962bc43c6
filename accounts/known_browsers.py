"""Browsers in which an account has signed in before: their wrong guesses are counted apart.

Guesses at an account are counted over all addresses, so whoever knows an e-mail address could keep
its owner out by guessing without end. A browser that has signed in carries a signed cookie, and has
tries of its own (OWASP, "Slow Down Online Guessing Attacks with Device Cookies"). The cookie opens
nothing: the password and the second factor are asked for as before.
"""

import secrets
from typing import Final
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

SALT: Final = "accounts.known_browsers"
KEPT_SECONDS: Final = 365 * 24 * 3_600
NONCE_BYTES: Final = 16


def remember(*, request: HttpRequest, response: HttpResponse, user_id: UUID) -> None:
    """Mark the browser that gets this response as one of the account's."""
    if nonce_of(request=request, user_id=user_id):
        return
    value = signing.dumps([str(user_id), secrets.token_urlsafe(NONCE_BYTES)], salt=SALT)
    response.set_cookie(
        settings.KNOWN_BROWSER_COOKIE,
        value,
        max_age=KEPT_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def nonce_of(*, request: HttpRequest, user_id: UUID | None) -> str:
    """Return what a browser of this account is told apart by; empty for any other one."""
    value = request.COOKIES.get(settings.KNOWN_BROWSER_COOKIE, "")
    try:
        owner, nonce = signing.loads(value, salt=SALT, max_age=KEPT_SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(nonce) if owner == str(user_id) else ""
