"""`Idempotency-Key`: the same write sent twice is done once and answered alike.

The key belongs to the credential and to the exact request (method, address, body). While the first
is running, or for another request, the key is refused; refusals and failures are not kept.
"""

import hashlib
import re
from collections.abc import Callable
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse

from accounts import free_texts
from accounts.api.endpoints import Call
from accounts.api.requests import MalformedRequest
from accounts.errors import Conflict, FieldError, InvalidInput
from teams import idempotency
from teams.idempotency import Standing

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotency-Replayed"
ACCEPTED: Final = re.compile(r"[\x21-\x7e]{1,255}\Z")
KEPT_HEADERS: Final = ("ETag", "Location")


class IdempotencyMismatch(
    InvalidInput, code="idempotency_mismatch", title="Idempotency key reused"
):
    """The key belongs to another request."""


class StillRunning(Conflict, code="still_running", title="The first request is still running"):
    """The first request with this key has not ended."""


def key_of(*, request: HttpRequest) -> str | None:
    """Return the request's key.

    Raises MalformedRequest for one that cannot be a key, InvalidInput for one that is a secret.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return None
    free_texts.check(texts={f"/headers/{HEADER}": key})
    if ACCEPTED.match(key):
        return key
    raise MalformedRequest(
        detail=f"{HEADER} must have 1 to 255 visible ASCII characters.",
        hint="A fresh UUID per write is a good key.",
        errors=(_fault("Not a key."),),
    )


def once(
    *, key: str, request: HttpRequest, call: Call, run: Callable[[], HttpResponse]
) -> HttpResponse:
    """Answer from what is kept under the key, or run and keep the answer.

    Raises IdempotencyMismatch or StillRunning.
    """
    parts: list[Any] = [request.method, request.path, request.GET.dict(), call.body]
    written = orjson.dumps(parts, default=str, option=orjson.OPT_SORT_KEYS)
    fingerprint = hashlib.sha256(written).hexdigest()
    kept = idempotency.begin(caller=call.caller, key=key, fingerprint=fingerprint)
    if kept.standing == Standing.OTHER_REQUEST:
        raise IdempotencyMismatch(
            detail="This key was used for a request with another address or body.",
            hint="Use a fresh key for each write; repeat one only to retry the same write.",
            errors=(_fault("Used for another request."),),
        )
    if kept.standing == Standing.RUNNING:
        raise StillRunning(
            detail="The first request with this key has not ended.",
            hint="Wait a moment and send it again with the same key.",
        )
    if kept.standing == Standing.ANSWERED:
        shown = {**kept.headers, REPLAYED: "true"}
        return HttpResponse(kept.body, "application/json", status=kept.status, headers=shown)
    is_kept = False
    try:
        response = run()
        if response.status_code < 400:
            headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response}
            idempotency.finish(
                caller=call.caller,
                key=key,
                status=response.status_code,
                headers=headers,
                body=response.content,
            )
            is_kept = True
    finally:
        if not is_kept:
            idempotency.release(caller=call.caller, key=key)
    return response


def _fault(detail: str) -> FieldError:
    return FieldError(pointer=f"/headers/{HEADER}", detail=detail, code="idempotency_key")
