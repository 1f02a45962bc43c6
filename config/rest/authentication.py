"""Who calls: a token, or the session of the dashboard for one named organization.

A token names its organization; a session does not, so it needs the header `X-Cairn-Organization`,
which is checked against the memberships, and a CSRF token on writes. Everything is decided by
`accounts.authentication`, the same for sockets, MCP and pages.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.api import headers
from accounts.authentication import caller_from_session, caller_from_token
from accounts.caller import Caller, TokenScope, may
from accounts.errors import FieldError, Forbidden, InvalidInput, Unauthenticated

ORGANIZATION: Final = "X-Cairn-Organization"


class CallerAuthentication(BaseAuthentication):
    """Makes the Caller of a request; DRF keeps it as `request.auth`."""

    def authenticate(self, request: Request) -> tuple[Any, Caller] | None:
        """Return the caller, or None when the request carries no credential at all."""
        http: HttpRequest = request._request
        text = headers.token_of(headers=http.headers)
        if text is not None:
            caller = _of_token(http, text)
        else:
            signed_in = _of_session(http)
            if signed_in is None:
                return None
            caller = signed_in
        return caller, caller

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401."""
        return 'Bearer realm="cairn"'


def _of_token(http: HttpRequest, text: str) -> Caller:
    address = headers.address_of(
        headers=http.headers,
        peer=str(http.META.get("REMOTE_ADDR", "")),
        trusted_proxies=settings.ALLAUTH_TRUSTED_PROXY_COUNT,
    )
    agent = headers.agent_of(headers=http.headers)
    hook = headers.hook_of(headers=http.headers, path=http.path_info)
    now = datetime.now(UTC)
    return caller_from_token(text=text, agent=agent, ip=address, now=now, hook=hook)


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


# Whether the credential's scope covers the call: read to look, write to change.
#
# What a role may do is decided below, by the actions; this only refuses a credential that was
# made for less, before anything is read.

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it imports this module when it loads


class ScopePermission(BasePermission):
    """Needs a caller whose credential holds the scope that the view names for the method."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Return True, or raise Unauthenticated or Forbidden with what to do."""
        if not isinstance(request.auth, Caller):
            raise Unauthenticated(
                detail="This call needs a credential.",
                hint="Send Authorization: Bearer crn_… (a token from the dashboard's settings).",
            )
        scope: TokenScope | None = view.scope_of(method=request.method)  # type: ignore[attr-defined]
        if scope is not None and not may(caller=request.auth, scope=scope):
            raise Forbidden(
                detail=f"This credential has no {scope} scope.",
                hint=f"Create a token with the {scope} scope.",
            )
        return True
