"""API tokens: mint, check, parse and hash them, without a database and without drawing randomness.

A token is `crn_pat_` (a person's) or `crn_svc_` (an agent's), 32 base62 characters of entropy and
6 of checksum. The prefix lets scanners find leaked tokens, the checksum lets them (and us) reject
look-alikes and typing errors before any lookup. The first 12 characters of the body are the row's
public lookup id; of the whole only a keyed hash is stored. Random bytes are passed in.
"""

import hashlib
import hmac
import re
import zlib
from dataclasses import dataclass
from enum import StrEnum

from accounts.errors import InvalidToken

ENTROPY_BYTES = 24  # bytes; 192 bits fill 62**32 with a loss of 1.5 bits, well over 160
BODY_LENGTH = 32  # characters
CHECKSUM_LENGTH = 6  # characters; 62**6 > 2**32
LOOKUP_LENGTH = 12  # characters of the body; 71 bits, so collisions need no handling
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE = len(_ALPHABET)

PUBLISHED_PATTERN = r"crn_(?:pat|svc)_[0-9A-Za-z]{38}"  # without lookarounds: every engine reads it
LENGTH = 46  # characters
TOKEN_PATTERN: re.Pattern[str] = re.compile(rf"(?<![0-9A-Za-z]){PUBLISHED_PATTERN}(?![0-9A-Za-z])")


class UnknownToken(InvalidToken):
    """The text is no token that was ever given out: a mistake in copying, or a guess."""


class TokenKind(StrEnum):
    """Whose token it is."""

    PERSON = "pat"
    SERVICE = "svc"


@dataclass(frozen=True, slots=True, kw_only=True)
class MintedToken:
    """A new token; `text` is shown once and never stored."""

    text: str
    lookup_id: str
    kind: TokenKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedToken:
    """A token whose shape and checksum are right; whether it exists is for the database to say."""

    text: str
    lookup_id: str
    kind: TokenKind


def mint(*, kind: TokenKind, entropy: bytes) -> MintedToken:
    """Make a token from random bytes; the same bytes give the same token.

    Raises ValueError unless `entropy` has `ENTROPY_BYTES` bytes.
    """
    if len(entropy) != ENTROPY_BYTES:
        raise ValueError(f"entropy must be {ENTROPY_BYTES} bytes, not {len(entropy)}")
    body = _base62(int.from_bytes(entropy) % _BASE**BODY_LENGTH, length=BODY_LENGTH)
    unchecked = f"crn_{kind}_{body}"
    return MintedToken(
        text=unchecked + _checksum(unchecked), lookup_id=body[:LOOKUP_LENGTH], kind=kind
    )


def parse(*, text: str) -> ParsedToken:
    """Read a token and verify its checksum.

    Raises UnknownToken; the message never repeats the text.
    """
    if TOKEN_PATTERN.fullmatch(text) is None:
        raise UnknownToken(
            detail="This is not a Cairn token.",
            hint="A token starts with crn_pat_ or crn_svc_ and has 46 characters; copy it whole.",
        )
    unchecked, checksum = text[:-CHECKSUM_LENGTH], text[-CHECKSUM_LENGTH:]
    if not hmac.compare_digest(_checksum(unchecked), checksum):
        raise UnknownToken(
            detail="The token's checksum is wrong.",
            hint="A character was changed or lost; copy it again.",
        )
    _, kind, body = unchecked.split("_")
    return ParsedToken(text=text, lookup_id=body[:LOOKUP_LENGTH], kind=TokenKind(kind))


def digest(*, text: str, pepper: bytes) -> str:
    """Hash a token for storage: HMAC-SHA256 under the server's pepper, 64 hexadecimal digits.

    Raises ValueError when the pepper is empty.
    """
    if not pepper:
        raise ValueError("the pepper must not be empty")
    return hmac.new(pepper, text.encode(), hashlib.sha256).hexdigest()


def _checksum(unchecked: str) -> str:
    return _base62(zlib.crc32(unchecked.encode()), length=CHECKSUM_LENGTH)


def _base62(number: int, *, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, _BASE)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
