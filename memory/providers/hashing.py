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
    salt: ClassVar[bytes] = b""

    def embed(self, *, texts: tuple[str, ...]) -> Vectors:
        rows = np.zeros((len(texts), MODEL.dimensions), dtype=np.float32)
        for place, text in enumerate(texts):
            row = rows[place]
            for word in WORD.findall(text.lower()) or [text]:
                digest = int.from_bytes(self._digest(word), "big")
                row[(digest >> 1) % MODEL.dimensions] += 1.0 if digest & 1 else -1.0
            if not row.any():  # opposite signs cancelled out
                row[self._digest(text)[0]] = 1.0
            rows[place] = row / np.linalg.norm(row)
        return rows

    def _digest(self, word: str) -> bytes:
        written = word.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(written, digest_size=8, salt=self.salt).digest()


class TurnedEmbedder(HashingEmbedder):
    """The same into other coordinates."""

    model = TURNED
    salt = b"turned"
