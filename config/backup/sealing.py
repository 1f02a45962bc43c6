"""Encryption of streams: no chunk can be altered, moved, repeated or cut off unnoticed.

Chunks are sealed with AES-256-GCM as age does it (STREAM; https://age-encryption.org/v1): the nonce
counts the chunks, and its last byte marks the final one. Each file has a key of its own by HKDF,
from a master key by scrypt of the operator's secret and the backup's salt, so no nonce comes twice.
"""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

CHUNK_BYTES: Final = 1_048_576
TAG_BYTES: Final = 16
KEY_BYTES: Final = 32
SALT_BYTES: Final = 16
LEAST_SECRET: Final = 16  # characters of a passphrase or bytes of a key file
SCRYPT_COST: Final = 2**17  # OWASP's password storage cheat sheet: N=2^17, r=8, p=1; 128 MiB
SCRYPT_BLOCK: Final = 8


class Damaged(Exception):
    """A stream is not as it was sealed: altered, cut off, or sealed with another key."""


@dataclass(frozen=True, slots=True)
class Key:
    """The master key of one backup."""

    master: bytes

    @classmethod
    def derive(cls, *, secret: bytes, salt: bytes) -> "Key":
        """Derive the key of a backup from the operator's secret; takes 0.4 s on purpose."""
        return cls(_stretch(secret, salt))

    def of(self, name: str) -> bytes:
        """Return the key of one file."""
        return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=name.encode()).derive(
            self.master
        )

    def digest(self, name: str, text: bytes) -> str:
        """Return a digest that only who has the key can make, 64 hexadecimal digits."""
        return hmac.digest(self.of(name), text, "sha256").hex()


@lru_cache(maxsize=4)  # a process that opens a backup again
def _stretch(secret: bytes, salt: bytes) -> bytes:
    kdf = Scrypt(salt=salt, length=KEY_BYTES, n=SCRYPT_COST, r=SCRYPT_BLOCK, p=1)
    return kdf.derive(secret)


def seal(*, chunks: Iterator[bytes], key: bytes) -> Iterator[bytes]:
    """Encrypt a stream; memory holds two chunks."""
    cipher = AESGCM(key)
    for number, (chunk, is_last) in enumerate(_even(chunks, CHUNK_BYTES)):
        yield cipher.encrypt(_nonce(number, is_last), chunk, None)


def unseal(*, chunks: Iterator[bytes], key: bytes) -> Iterator[bytes]:
    """Decrypt a stream; raises Damaged at the first chunk that is not as it was sealed."""
    cipher = AESGCM(key)
    for number, (chunk, is_last) in enumerate(_even(chunks, CHUNK_BYTES + TAG_BYTES)):
        try:
            yield cipher.decrypt(_nonce(number, is_last), chunk, None)
        except InvalidTag as error:
            raise Damaged(f"chunk {number} is not as it was written") from error


def _even(chunks: Iterator[bytes], size: int) -> Iterator[tuple[bytes, bool]]:
    """Cut a stream into pieces of one size, the last one shorter, with whether it is the last."""
    held = bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) > size:
            yield bytes(held[:size]), False
            del held[:size]
    yield bytes(held), True


def _nonce(number: int, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])
