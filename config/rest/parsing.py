"""Bodies: bounded, of a format the call takes, and then read strictly."""

from typing import Any, Final

from django.http import HttpRequest

from accounts.api import json_text
from accounts.api.errors import MalformedRequest, UnsupportedMedia
from accounts.errors import TooLarge

LARGEST_BODY: Final = 1_048_576  # bytes
LARGEST_BULK: Final = 8 * LARGEST_BODY
LONGEST_LENGTH: Final = 18  # digits of a Content-Length that are looked at
NDJSON: Final = "application/x-ndjson"


def read(*, request: HttpRequest, largest: int, media: tuple[str, ...], smaller: str = "") -> Any:
    """Read a body: an empty object when there is none, a list of lines for NDJSON, else the value.

    `smaller` is what to do about one that is too large, where the usual does not fit.
    Raises TooLarge, UnsupportedMedia or MalformedRequest.
    """
    raw = _body(request, largest, smaller)
    if not raw.strip():
        return {}
    text = json_text.decode(raw=raw)
    if _check_media(request, media) == NDJSON:
        lines = [line for line in text.split("\n") if line.strip()]
        return [json_text.parse(text=line, at=f"/{number}") for number, line in enumerate(lines)]
    return json_text.parse(text=text)


def read_lenient(*, request: HttpRequest, largest: int) -> Any:
    """Read JSON about what others wrote. Raises TooLarge, UnsupportedMedia, MalformedRequest."""
    raw = _body(request, largest)
    if not raw.strip():
        return {}
    _check_media(request, ("application/json",))
    return json_text.parse_lenient(raw=raw)


def read_upload(*, request: HttpRequest, largest: int) -> bytes:
    """Read a body that is a file. Raises TooLarge."""
    return _body(request, largest)


def _body(request: HttpRequest, largest: int, smaller: str = "") -> bytes:
    is_known_large = _announced(request) > largest
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


def _announced(request: HttpRequest) -> int:
    said = request.META.get("CONTENT_LENGTH") or ""
    return int(said[:LONGEST_LENGTH]) if said.isdecimal() else 0


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
