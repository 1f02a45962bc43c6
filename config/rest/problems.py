"""Every refusal as application/problem+json (RFC 9457), with a stable type and a hint.

Our own errors carry all that is needed. What Django, DRF and the database driver raise is
translated here once: a database that is away is a 503 with Retry-After, and text that Postgres
cannot hold is the sender's mistake, not ours.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

import orjson
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404, HttpResponse, UnreadablePostError
from psycopg_pool import PoolTimeout, TooManyRequests
from rest_framework import exceptions

from accounts import errors, free_texts
from accounts.api.requests import MalformedRequest

log = logging.getLogger(__name__)

MEDIA_TYPE: Final = "application/problem+json"
TYPES: Final = "/docs/errors/#"
RETRY_SECONDS: Final = 5  # what heals by itself does so within 10 s
AWAY: Final = (OperationalError, InterfaceError, PoolTimeout, TooManyRequests)

PLAIN: Final[Mapping[int, tuple[str, str, str]]] = {  # status: code, title, hint
    400: ("malformed_request", "Malformed request", "Check the address and the headers."),
    403: ("forbidden", "Not allowed", "Sign in again, or use a token."),
    404: ("not_found", "Not found", "The calls there are stand in /api/v1/openapi.json."),
    405: ("method_not_allowed", "Method not allowed", "The Allow header names what is."),
    413: ("too_large", "Too large", "Send less in one request."),
    500: ("internal", "Something went wrong", "Try again; if it stays, report the request id."),
    503: ("unavailable", "Temporarily unavailable", "Try again in a few seconds."),
}
DJANGO_ERRORS: Final[tuple[tuple[type[Exception], type[errors.CairnError]], ...]] = (
    (PermissionDenied, errors.Forbidden),
    (SuspiciousOperation, MalformedRequest),
    (UnreadablePostError, MalformedRequest),
)


def to_json(*, value: Any) -> bytes:
    """Write a value as JSON; times in UTC with Z, identifiers as text."""
    return orjson.dumps(value, option=orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS)


def handle(raised: Exception, context: Mapping[str, Any]) -> HttpResponse | None:
    """Turn what a view raised into a problem document; None for what nobody expected."""
    request_id = context["request"].request_id
    if isinstance(raised, exceptions.MethodNotAllowed):
        problem = of_status(status=405, request_id=request_id)
    elif (error := _translated(raised)) is None:
        return None
    else:
        return respond(error=error, request_id=request_id)
    return HttpResponse(to_json(value=problem), MEDIA_TYPE, status=problem["status"])


def respond(*, error: errors.CairnError, request_id: str) -> HttpResponse:
    """Return the answer that one of our errors is, with its headers."""
    problem = of_error(error=error, request_id=request_id)
    return HttpResponse(
        to_json(value=problem), MEDIA_TYPE, status=error.status, headers=_headers(error)
    )


def of_error(*, error: errors.CairnError, request_id: str) -> dict[str, Any]:
    """Return the problem document of one of our errors; it repeats no secret that was sent."""
    problem: dict[str, Any] = {
        "type": f"{TYPES}{error.code}",
        "title": error.title,
        "status": error.status,
        "code": error.code,
        "detail": free_texts.masked(text=error.detail),
        "hint": error.hint,
        "request_id": request_id,
    }
    if error.errors:
        problem["errors"] = [
            {
                "pointer": free_texts.masked(text=fault.pointer),
                "detail": free_texts.masked(text=fault.detail),
                "code": fault.code,
            }
            for fault in error.errors
        ]
    gate = getattr(error, "gate", "")
    return {**problem, "gate": gate} if gate else problem


def of_status(*, status: int, request_id: str) -> dict[str, Any]:
    """Return the problem document of a bare status, for what never reached a view."""
    code, title, hint = PLAIN.get(status) or PLAIN[500 if status >= 500 else 400]
    return {
        "type": f"{TYPES}{code}",
        "title": title,
        "status": status,
        "code": code,
        "detail": f"{title}.",
        "hint": hint,
        "request_id": request_id,
    }


def _translated(raised: Exception) -> errors.CairnError | None:
    if isinstance(raised, errors.CairnError):
        return raised
    if isinstance(raised, Http404):
        return errors.NotFound(detail="There is nothing here for you.", hint=PLAIN[404][2])
    for theirs, ours in DJANGO_ERRORS:
        if isinstance(raised, theirs):
            return ours(detail=str(raised) or ours.title, hint="")
    return _of_database(raised)


def _of_database(raised: Exception) -> errors.CairnError | None:
    if isinstance(raised, AWAY):
        log.warning("The database did not answer: %s", raised.__class__.__name__)
        return errors.Unavailable(detail="The database does not answer.", hint=PLAIN[503][2])
    if isinstance(raised, DataError):
        log.warning("The database refused a value that the edge let through.")
        return MalformedRequest(
            detail="A value of this request cannot be stored.",
            hint="Send plain text without control characters, and numbers of ordinary size.",
        )
    return None


def _headers(error: errors.CairnError) -> dict[str, str]:
    if isinstance(error, errors.RateLimited):
        return {"Retry-After": str(error.retry_after_seconds)}
    if isinstance(error, errors.Unavailable):
        return {"Retry-After": str(RETRY_SECONDS)}
    if isinstance(error, errors.Unauthenticated):
        return {"WWW-Authenticate": f'Bearer realm="cairn", error="{error.code}"'}
    return {"Connection": "close"} if isinstance(error, errors.TooLarge) else {}
