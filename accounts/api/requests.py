"""What a request says: who calls, in its headers, and strict JSON. REST and MCP read with it.

Stock JSON parsers take NaN, keep the last of two equal keys, let NUL and lone surrogates through to
a database that cannot hold them, and fall over deep nesting: each is a 500 or a silent change. Here
the standard decoder marks what it meets (`_Refused`), and one walk over the result finds the marks,
the bad characters and the depth, each with its JSON pointer.

What an agent's tools printed is not written by who sends it, and nothing of it must be lost for one
character: such bodies are read leniently, and what cannot be taken is replaced or left out.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.conf import settings

from accounts import free_texts
from accounts.api.schemas import UNSTORABLE
from accounts.authentication import caller_from_token
from accounts.caller import Caller
from accounts.errors import CairnError, FieldError, InvalidToken

HOOK: Final = "X-Cairn-Hook"
HOOKS: Final = "/api/v1/hooks/"  # whom the hook script calls
OWN_PROGRAMS: Final = f"{HOOKS}generic"  # whom programs of anybody's call without our script
FIRST_HOOK: Final = 1  # the script that did not tell its version yet
HOOK_DIGITS: Final = 4
SCHEMES: Final = frozenset({"bearer", "token"})


class MalformedRequest(CairnError, code="malformed_request", status=400, title="Malformed request"):
    """The request cannot be read."""


class UnsupportedMedia(
    CairnError, code="unsupported_media_type", status=415, title="Unsupported media type"
):
    """The body's format is not taken here."""


MOST_KEYS: Final = 2_000  # of an object; each unknown one is a fault to describe
DEEPEST: Final = 32  # levels
LARGEST_WHOLE: Final = 2**63 - 1  # what every JSON reader and Postgres hold exactly
LONGEST_NUMBER: Final = 400  # digits; longer ones are not even converted
_TAKEN: Final[frozenset[type]] = frozenset({int, float, bool, type(None)})
_ESCAPED: Final = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")  # how JSON writes what is UNSTORABLE
HINTS: Final = {
    "duplicate_key": "Send each key once.",
    "not_a_number": "JSON knows no NaN or Infinity; leave the field out.",
    "number_too_large": "Send numbers of at most 64 bits, or text.",
    "unstorable_text": "Remove NUL characters and lone surrogates (\\u0000, \\ud800 to \\udfff).",
    "too_many_keys": f"Send at most {MOST_KEYS:,} keys in one object.",
    "too_deep": f"Nest at most {DEEPEST} levels.",
}


def address_of(*, headers: Mapping[str, str], peer: str) -> str:
    """Return the caller's IP address; forwarded ones count only from trusted proxies."""
    trusted = settings.ALLAUTH_TRUSTED_PROXY_COUNT
    forwarded = headers.get("X-Forwarded-For", "").split(",")
    return forwarded[-trusted].strip() if trusted and len(forwarded) >= trusted else peer


def token_caller(
    *, headers: Mapping[str, str], address: str, path: str, now: datetime
) -> Caller | None:
    """Return who presents the token that a request carries, None when it carries none.

    `headers` finds names in any case. The name that the software gives itself stands beside every
    act, so it holds no secret. Raises InvalidToken, also for a scheme that is not ours.
    """
    authorization = headers.get("Authorization", "").strip()
    scheme, _, text = authorization.partition(" ")
    if not authorization:
        text = headers.get("X-API-Key", "").strip()
        if not text:
            return None
    elif scheme.lower() not in SCHEMES:
        raise InvalidToken(
            detail="This kind of Authorization is not taken.",
            hint="Send Authorization: Bearer crn_…",
        )
    return caller_from_token(
        text=text.strip(),
        agent=free_texts.masked(text=headers.get("X-Cairn-Agent", "")),
        ip=address,
        now=now,
        hook=_hook_of(headers, path),
    )


def _hook_of(headers: Mapping[str, str], path: str) -> int | None:
    """Return the version of the hook script that calls, None for a call that is no script's."""
    if not path.startswith(HOOKS):
        return None
    said = headers.get(HOOK, "").strip()
    if said.isascii() and said.isdecimal() and len(said) <= HOOK_DIGITS:
        return int(said)
    return None if path.startswith(OWN_PROGRAMS) else FIRST_HOOK


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refused:
    """Stands where the decoder met something that is not taken."""

    code: str
    detail: str
    key: str = ""

    def pointer(self, at: str) -> str:
        """Return where it is, in a value at this pointer."""
        return f"{at}/{_escaped(self.key)}" if self.key else at


def parse_lenient(*, raw: bytes) -> Any:
    """Parse JSON whose texts are not the sender's: halves of characters and NUL are replaced.

    Of two equal keys the last counts; numbers out of range and what is nested too deep are null.
    Raises MalformedRequest for what is not JSON at all.
    """
    text = raw.decode("utf-8", "replace")
    value = _loaded(text, "", None)
    return _mended(value, 0, _TAKEN if _ESCAPED.search(text) else _TAKEN | {str})


def _mended(value: Any, depth: int, taken: frozenset[type]) -> Any:
    """Return a value as it may be taken; what is of a type that is `taken` stays as it is."""
    kind = type(value)
    if kind in taken:
        return value
    if kind is str:
        return UNSTORABLE.sub("\ufffd", value)
    if kind is _Refused or depth == DEEPEST:
        return None
    if kind is list:
        return [_mended(inner, depth + 1, taken) for inner in value]
    return {
        _mended(key, depth, taken): inner
        if type(inner) in taken
        else _mended(inner, depth + 1, taken)
        for key, inner in value.items()
    }


def decode(*, raw: bytes) -> str:
    """Return the text of a body. Raises MalformedRequest unless it is UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"Byte {error.start} of the body is not UTF-8."
        raise _malformed("", detail, "not_utf8", "Send the body as UTF-8.") from error


def parse(*, text: str, at: str = "") -> Any:
    """Parse one JSON text whose pointers start with `at`. Raises MalformedRequest."""
    value = _loaded(text, at, _object)
    for pointer, refused in _faults(value, at, 0):
        raise _malformed(pointer, refused.detail, refused.code, HINTS[refused.code])
    return value


def check_text(*, text: str, pointer: str) -> str:
    """Return text from a query or a header; raise MalformedRequest when it cannot be stored."""
    if UNSTORABLE.search(text):
        detail = "The text holds a NUL or half of a character."
        raise _malformed(pointer, detail, "unstorable_text", HINTS["unstorable_text"])
    return text


def _loaded(text: str, at: str, make_object: Callable[..., Any] | None) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=make_object,
            parse_constant=lambda name: _Refused(
                code="not_a_number", detail=f"{name} is not a JSON number."
            ),
            parse_int=_parse_whole,
            parse_float=_fraction,
        )
    except json.JSONDecodeError as error:
        detail = f"This is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        raise _malformed(at, detail, "not_json", "Check the body with a JSON tool.") from error
    except RecursionError as error:
        detail = f"The body is nested deeper than {DEEPEST} levels."
        raise _malformed(at, detail, "too_deep", HINTS["too_deep"]) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Refused:
    if len(pairs) > MOST_KEYS:
        detail = f"An object has {len(pairs):,} keys."
        return _Refused(code="too_many_keys", detail=detail)
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    keys = [key for key, _ in pairs]
    twice = next(key for number, key in enumerate(keys) if key in keys[:number])
    detail = f"The key {twice[:80]!r} stands there twice."
    return _Refused(code="duplicate_key", detail=detail, key=twice[:80])


def _parse_whole(digits: str) -> int | _Refused:
    if len(digits) <= LONGEST_NUMBER and -LARGEST_WHOLE <= int(digits) <= LARGEST_WHOLE:
        return int(digits)
    detail = f"A whole number of {len(digits.lstrip('-'))} digits is too large."
    return _Refused(code="number_too_large", detail=detail)


def _fraction(digits: str) -> float | _Refused:
    number = float(digits) if len(digits) <= LONGEST_NUMBER else float("inf")
    if abs(number) < LARGEST_WHOLE:  # Postgres gives 1e19 back as a whole number
        return number
    return _Refused(code="number_too_large", detail="A number is out of range.")


def _faults(value: Any, at: str, depth: int) -> Iterator[tuple[str, _Refused]]:
    if isinstance(value, _Refused):
        yield value.pointer(at), value
    elif isinstance(value, str) and UNSTORABLE.search(value):
        yield at, _Refused(code="unstorable_text", detail="The text holds NUL or half a character.")
    elif isinstance(value, dict | list):
        if depth == DEEPEST:
            yield at, _Refused(code="too_deep", detail=f"This is level {DEEPEST + 1}.")
            return
        named = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in named:
            yield from _faults(name, at, depth)  # a number of a list has none
            yield from _faults(inner, f"{at}/{_escaped(str(name))}", depth + 1)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _malformed(pointer: str, detail: str, code: str, hint: str) -> MalformedRequest:
    shown = UNSTORABLE.sub("\ufffd", pointer)
    fault = FieldError(pointer=shown, detail=detail, code=code)
    return MalformedRequest(detail=UNSTORABLE.sub("\ufffd", detail), hint=hint, errors=(fault,))
