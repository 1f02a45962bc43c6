"""A deterministic embedder without weights: words hashed to coordinates. For unit tests only.

It stands in for a model where a test needs vectors whose closeness follows shared words. Each
lower-cased word adds +1 or -1 to a coordinate chosen by its hash (Weinberger et al. 2009, feature
hashing); the sum is brought to unit length. There are two spaces of one length, so that tests of
switching models would notice a comparison across them: it would mean nothing.
"""

import hashlib
import re
from dataclasses import replace
from typing import ClassVar

import numpy as np

from memory.providers.contracts import EmbeddingModel, Provider, Vectors

MODEL = EmbeddingModel(
    key="hashing/words-384", dimensions=384, max_tokens=100_000, provider=Provider.HASHING
)
TURNED = replace(MODEL, key="hashing/turned-384")
WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Embeds by hashed words; equal texts give equal vectors on every machine."""

    model = MODEL
    is_local = True
    salt: ClassVar[bytes] = b""

    def embed_documents(self, *, texts: tuple[str, ...]) -> Vectors:
        return self.embed_queries(texts=texts)

    def embed_query(self, *, text: str) -> Vectors:
        return _hashed(text, self.salt)

    def embed_queries(self, *, texts: tuple[str, ...]) -> Vectors:
        rows = [self.embed_query(text=text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), MODEL.dimensions)


class TurnedEmbedder(HashingEmbedder):
    """The same into other coordinates."""

    model = TURNED
    salt = b"turned"


def _hashed(text: str, salt: bytes) -> Vectors:
    vector = np.zeros(MODEL.dimensions, dtype=np.float32)
    for word in WORD.findall(text.lower()) or [text]:
        digest = int.from_bytes(_digest(word, salt), "big")
        sign = 1.0 if digest & 1 else -1.0
        vector[(digest >> 1) % MODEL.dimensions] += sign
    return _unit(vector, fallback=_digest(text, salt)[0])


def _digest(word: str, salt: bytes) -> bytes:
    written = word.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(written, digest_size=8, salt=salt).digest()


def _unit(vector: Vectors, *, fallback: int) -> Vectors:
    length = float(np.linalg.norm(vector))
    if length == 0.0:  # opposite signs cancelled out
        vector[fallback] = length = 1.0
    return vector / np.float32(length)
