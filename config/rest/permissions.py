"""Whether the credential's scope covers the call: read to look, write to change.

What a role may do is decided below, by the actions; this only refuses a credential that was made
for less, before anything is read.
"""

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.caller import Caller, TokenScope, may
from accounts.errors import Forbidden, Unauthenticated

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
