"""Bodies: bounded, of a format the call takes, and then read strictly."""

import re
from typing import Any, Final

from django.core import signing
from django.http import HttpRequest

from accounts.api import requests
from accounts.api.endpoints import Edits, Endpoint
from accounts.api.requests import MalformedRequest, UnsupportedMedia
from accounts.caller import Caller
from accounts.errors import FieldError, PreconditionRequired, TooLarge

LARGEST_BODY: Final = 1_048_576  # bytes
LARGEST_BULK: Final = 8 * LARGEST_BODY
LONGEST_LENGTH: Final = 18  # digits of a Content-Length that are looked at
NDJSON: Final = "application/x-ndjson"


def read(*, request: HttpRequest, largest: int, media: tuple[str, ...], smaller: str = "") -> Any:
    """Read a body: an empty object when there is none, a list of lines for NDJSON, else the value.

    A line that cannot be read is the MalformedRequest that says so.
    `smaller` is what to do about one that is too large, where the usual does not fit.
    Raises TooLarge, UnsupportedMedia or MalformedRequest.
    """
    raw = read_upload(request=request, largest=largest, smaller=smaller)
    if not raw.strip():
        return {}
    text = requests.decode(raw=raw)
    if _check_media(request, media) == NDJSON:
        lines = [line for line in text.split("\n") if line.strip()]
        return [_parse_line(line, number) for number, line in enumerate(lines)]
    return requests.parse(text=text)


def _parse_line(line: str, number: int) -> Any:
    """Return the value of a line, or why it has none: the other lines stand."""
    try:
        return requests.parse(text=line, at=f"/{number}")
    except requests.MalformedRequest as error:
        return error


def read_lenient(*, request: HttpRequest, largest: int) -> Any:
    """Read JSON about what others wrote. Raises TooLarge, UnsupportedMedia, MalformedRequest."""
    raw = read_upload(request=request, largest=largest)
    if not raw.strip():
        return {}
    _check_media(request, ("application/json",))
    return requests.parse_lenient(raw=raw)


def read_upload(*, request: HttpRequest, largest: int, smaller: str = "") -> bytes:
    """Read a body, such as a file. Raises TooLarge."""
    is_known_large = (announced(request=request) or 0) > largest
    raw = b"" if is_known_large else _stream(request).read(largest + 1)
    if is_known_large or len(raw) > largest:
        raise TooLarge(
            detail=f"The body is larger than {largest:,} bytes.",
            hint=smaller or "Split it into several requests, or use /api/v1/memories/bulk.",
        )
    return raw


def _stream(request: HttpRequest) -> Any:
    """Return what to read from; under WSGI, Django takes a chunked body for an empty one."""
    is_chunked = not request.META.get("CONTENT_LENGTH") and request.headers.get("Transfer-Encoding")
    return request.META.get("wsgi.input", request) if is_chunked else request


def announced(*, request: HttpRequest) -> int | None:
    """Return how many bytes the body is said to have, None where nothing usable is said."""
    said = request.META.get("CONTENT_LENGTH") or ""
    return int(said[:LONGEST_LENGTH]) if said.isdecimal() else None


def _check_media(request: HttpRequest, media: tuple[str, ...]) -> str:
    kind = request.content_type or ""
    if kind not in media:
        raise UnsupportedMedia(
            detail=f"The Content-Type is {kind[:80] or 'missing'!r}.",
            hint=f"Send Content-Type: {' or '.join(media)}.",
        )
    charset = (request.content_params or {}).get("charset", "utf-8")
    if charset.strip('"').lower() not in {"utf-8", "utf8"}:
        detail = f"The charset {charset[:40]!r} is not taken."
        raise MalformedRequest(detail=detail, hint="JSON is always UTF-8 (RFC 8259).")
    return kind


# Versions of things: ETag `"v7"` out, If-Match in, so no edit is lost (RFC 9110).

TAG: Final = re.compile(r'(?:W/)?"?v?([0-9]{1,9})"?\Z')
ANY: Final = "*"


def etag(*, version: int) -> str:
    """Return the ETag of a version."""
    return f'"v{version}"'


def named(*, request: HttpRequest, edits: Edits) -> int | None:
    """Return the version that If-Match names, None for any.

    Raises PreconditionRequired when one is needed, MalformedRequest when it is none of ours.
    """
    said = request.headers.get("If-Match")
    said = said and said.strip()
    if edits == Edits.NOTHING or said == ANY:
        return None
    if said is None and edits == Edits.NAMED_VERSION:
        raise PreconditionRequired(
            detail="An edit must name the version it edits.",
            hint='Send If-Match with the ETag you read, such as "v3", or * to overwrite.',
        )
    if said is None:
        return None
    found = TAG.match(said)
    if found is None:
        fault = FieldError(pointer="/headers/If-Match", detail="Not a version.", code="version")
        raise MalformedRequest(
            detail="If-Match names no version of ours.",
            hint='Send the ETag as you read it, such as "v3".',
            errors=(fault,),
        )
    return int(found[1])


# Cursors that callers cannot read or make: signed for one call and one organization.


def seal(*, inner: str, endpoint: Endpoint, caller: Caller) -> str:
    """Return the cursor that callers see."""
    return signing.Signer(salt=_salt(endpoint, caller)).sign_object([inner])


def open_sealed(*, text: str, endpoint: Endpoint, caller: Caller) -> str:
    """Return what a cursor holds. Raises MalformedRequest for one that this call did not give."""
    try:
        inner = signing.Signer(salt=_salt(endpoint, caller)).unsign_object(text)
    except (signing.BadSignature, ValueError) as error:
        fault = FieldError(pointer="/cursor", detail="Not a cursor of this call.", code="cursor")
        raise MalformedRequest(
            detail="The cursor was not given out by this call.",
            hint="Send `next_cursor` of the page before, or no cursor for the first page.",
            errors=(fault,),
        ) from error
    return str(inner[0])


def _salt(endpoint: Endpoint, caller: Caller) -> str:
    return f"place.{endpoint.name}.{caller.organization_id.hex}"
