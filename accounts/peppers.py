"""What keys everything that is stored of a secret: the server's pepper, and the ones before it.

Of tokens, invitations and sessions only keyed digests are stored, of second factors and of what
sessions hold only ciphertext. New values are made under the pepper of now; what was made under an
earlier one (CAIRN_TOKEN_PEPPER_FALLBACKS) is still recognized, so that it can be changed without
logging anybody out.
"""

import base64
import functools
import hashlib
import hmac
from typing import Final

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings

from accounts import token_format

SECOND_FACTORS: Final = b"second factors"
SESSIONS: Final = b"sessions"
QUERY_VECTORS: Final = b"query vectors"


def digest(*, text: str) -> str:
    """Return what is stored of a secret from now on, 64 hexadecimal digits."""
    return token_format.digest(text=text, pepper=_peppers()[0])


def digests(*, text: str) -> tuple[str, ...]:
    """Return what may be stored of a secret: under the pepper of now, then under earlier ones."""
    return tuple(token_format.digest(text=text, pepper=pepper) for pepper in _peppers())


def is_of(*, stored: str, text: str) -> bool:
    """Say whether a stored digest is this secret's, in constant time."""
    return any(hmac.compare_digest(stored, made) for made in digests(text=text))


def cipher(*, purpose: bytes) -> MultiFernet:
    """Return what encrypts under the pepper of now and decrypts under any."""
    return _cipher(_peppers(), purpose)


def _peppers() -> tuple[bytes, ...]:
    written = (settings.TOKEN_PEPPER, *settings.TOKEN_PEPPER_FALLBACKS)
    return tuple(str(pepper).encode() for pepper in written)


@functools.lru_cache(maxsize=8)
def _cipher(peppers: tuple[bytes, ...], purpose: bytes) -> MultiFernet:
    keys = (hmac.digest(pepper, purpose, hashlib.sha256) for pepper in peppers)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])
