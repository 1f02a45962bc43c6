"""Who calls: a token, or the session of the dashboard for one named organization (spec 7.1, 8.1).

A token names its organization; a session does not, so it needs the header `X-Cairn-Organization`,
which is checked against the memberships, and a CSRF token on writes. Everything is decided by
`accounts.authentication`, the same for sockets, MCP and pages.
"""

from datetime import UTC, datetime
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.request import Request

from accounts.authentication import caller_from_session, caller_from_token
from accounts.caller import Caller
from accounts.errors import FieldError, Forbidden, InvalidInput, InvalidToken

ORGANIZATION: Final = "X-Cairn-Organization"
AGENT: Final = "X-Cairn-Agent"
SCHEMES: Final = frozenset({"bearer", "token"})


class CallerAuthentication(BaseAuthentication):
    """Makes the Caller of a request; DRF keeps it as `request.auth`."""

    def authenticate(self, request: Request) -> tuple[Any, Caller] | None:
        """Return the caller, or None when the request carries no credential at all."""
        http: HttpRequest = request._request
        text = token_of(request=http)
        if text is not None:
            caller = caller_from_token(
                text=text, agent=agent_of(request=http), ip=address_of(request=http), now=_now()
            )
        else:
            signed_in = _of_session(http)
            if signed_in is None:
                return None
            caller = signed_in
        return caller, caller

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401."""
        return 'Bearer realm="cairn"'


def token_of(*, request: HttpRequest) -> str | None:
    """Return the token of a request, None when there is none.

    Raises InvalidToken for a scheme that is not ours.
    """
    offered = request.headers.get("X-API-Key", "").strip()
    authorization = request.headers.get("Authorization", "").strip()
    if not authorization:
        return offered or None
    scheme, _, text = authorization.partition(" ")
    if scheme.lower() not in SCHEMES:
        raise InvalidToken(
            detail="This kind of Authorization is not taken.",
            hint="Send Authorization: Bearer crn_…",
        )
    return text.strip()


def agent_of(*, request: HttpRequest) -> str:
    """Return the name the software gives itself; empty lets the token's name stand in."""
    return request.headers.get(AGENT, "")


def address_of(*, request: HttpRequest) -> str:
    """Return the caller's IP address; forwarded ones count only from trusted proxies."""
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    trusted: int = settings.ALLAUTH_TRUSTED_PROXY_COUNT
    if trusted and len(forwarded) >= trusted:
        return forwarded[-trusted].strip()
    return str(request.META.get("REMOTE_ADDR", ""))


def _of_session(http: HttpRequest) -> Caller | None:
    user = getattr(http, "user", None)
    if user is None or not user.is_authenticated:
        return None
    slug = http.headers.get(ORGANIZATION, "")
    if not slug:
        detail = f"A signed-in session must name the organization in {ORGANIZATION}."
        fault = FieldError(pointer=f"/headers/{ORGANIZATION}", detail=detail, code="required")
        raise InvalidInput(detail=detail, hint="Its slug stands in the address.", errors=(fault,))
    _check_csrf(http)
    return caller_from_session(user_id=user.pk, organization_slug=slug)


def _check_csrf(http: HttpRequest) -> None:
    check = CSRFCheck(lambda request: HttpResponse())
    check.process_request(http)
    reason: Any = check.process_view(http, HttpResponse, (), {})
    if reason:
        raise Forbidden(
            detail=f"CSRF check failed: {reason}",
            hint="Send the CSRF cookie's value as X-CSRFToken, or use a token.",
        )


def _now() -> datetime:
    return datetime.now(UTC)
