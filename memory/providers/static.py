"""Static token vectors, potion-base-8M, as an embedder and as a reranker; no runtime.

A text takes a tenth of a millisecond. Its vector is the mean of its tokens' rows of one table,
scaled to unit length (model2vec; Tulkens and van Dongen 2024). The length of a row is the model's
own weight of the token, much like an inverse document frequency.

The reranker is late interaction (ColBERT; Khattab and Zaharia 2020) over the same rows, for
dialogue and prose; it costs quality on code, where the caller leaves it out.
"""

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from accounts.messages import message
from memory.providers.contracts import EmbeddingModel, LocalModel, Provider, Vectors
from memory.providers.errors import ProviderUnavailable
from memory.providers.weights import POTION

MODEL: Final = EmbeddingModel(key=f"static/{POTION.name}", dimensions=256)
UNKNOWN_TOKEN: Final = "[UNK]"  # noqa: S105 - a word of the vocabulary


class TokenVectors(NamedTuple):
    """A text's tokens: unit rows (count, 256) and their weights (count,), the rows' lengths."""

    rows: Vectors
    weights: npt.NDArray[np.float32]


class StaticEmbedder(LocalModel):
    """Embeds with the token table in a models folder; raises ProviderUnavailable without it."""

    model = MODEL

    def __init__(self, *, models_dir: Path) -> None:
        self._folder = models_dir / POTION.name
        self._lock = Lock()
        self._table: tuple[Tokenizer, Vectors, int] | None = None

    def embed(self, *, texts: tuple[str, ...]) -> Vectors:
        means = [self._rows(text).mean(axis=0) for text in texts]
        rows = [mean / np.linalg.norm(mean) for mean in means]
        return np.array(rows, dtype=np.float32).reshape(len(rows), MODEL.dimensions)

    def token_vectors(self, *, text: str) -> TokenVectors:
        """Return the unit rows and weights of a text's tokens."""
        rows = self._rows(text)
        weights = np.linalg.norm(rows, axis=1)
        return TokenVectors(rows=rows / np.maximum(weights, 1e-9)[:, None], weights=weights)

    def _rows(self, text: str) -> Vectors:
        with self._lock:
            if self._table is None:
                self._table = self._load()
            tokenizer, table, unknown = self._table
        places = tokenizer.encode(text, add_special_tokens=False).ids
        known = [place for place in places if place != unknown]
        # a text without one known token still needs a direction
        rows: Vectors = table[known or [unknown]]
        return rows

    def _load(self) -> tuple[Tokenizer, Vectors, int]:
        weights, tokens = (self._folder / file.name for file in POTION.files)
        if not (weights.is_file() and tokens.is_file()):
            raise ProviderUnavailable(
                detail=message(
                    "The static embedder has no model in {folder}.", folder=str(self._folder)
                ),
                provider=Provider.STATIC,
                hint=message(
                    "Run: python -m memory.providers.weights --into {folder}",
                    folder=str(self._folder.parent),
                ),
            )
        tokenizer = Tokenizer.from_file(str(tokens))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        unknown = tokenizer.token_to_id(UNKNOWN_TOKEN) or 0
        return tokenizer, load_file(weights)["embeddings"], unknown


class LateInteractionReranker:
    """Scores texts by how well each query token is met by some token of the text."""

    key = "static/maxsim"
    is_local = True

    def __init__(self, *, models_dir: Path) -> None:
        self._tokens = StaticEmbedder(models_dir=models_dir)

    def rerank(self, *, query: str, texts: tuple[str, ...]) -> tuple[float, ...]:
        asked = self._tokens.token_vectors(text=query)
        return tuple(
            max_similarity(query=asked, text=self._tokens.token_vectors(text=text))
            for text in texts
        )


def max_similarity(*, query: TokenVectors, text: TokenVectors) -> float:
    """Return Σ_t w_t · max_u cos(t, u) / Σ_t w_t over query tokens t and text tokens u.

    Cut at 0 and 1. Khattab and Zaharia 2020, with w_t the length of t's static vector: without
    these weights it ranks worse than the first stage.
    """
    best = (query.rows @ text.rows.T).max(axis=1)
    total = float(query.weights.sum())
    mean = float(query.weights @ best) / total if total > 0 else 0.0
    return float(np.clip(mean, 0.0, 1.0))


# A deterministic embedder without weights: words hashed to coordinates. For unit tests only.
#
# It stands in for a model where a test needs vectors whose closeness follows shared words. Each
# lower-cased word adds +1 or -1 to a coordinate chosen by its hash (Weinberger et al. 2009,
# feature hashing); the sum is brought to unit length. There are two spaces of one length, so that
# tests of switching models would notice a comparison across them: it would mean nothing.

HASHING_MODEL = EmbeddingModel(key="hashing/words-384", dimensions=384)
WORD = re.compile(r"\w+")


class HashingEmbedder(LocalModel):
    """Embeds by hashed words; equal texts give equal vectors on every machine."""

    model = HASHING_MODEL
    salt: ClassVar[bytes] = b""

    def embed(self, *, texts: tuple[str, ...]) -> Vectors:
        rows = np.zeros((len(texts), HASHING_MODEL.dimensions), dtype=np.float32)
        for place, text in enumerate(texts):
            row = rows[place]
            for word in WORD.findall(text.lower()) or [text]:
                digest = int.from_bytes(self._digest(word), "big")
                row[(digest >> 1) % HASHING_MODEL.dimensions] += 1.0 if digest & 1 else -1.0
            if not row.any():  # opposite signs cancelled out
                row[self._digest(text)[0]] = 1.0
            rows[place] = row / np.linalg.norm(row)
        return rows

    def _digest(self, word: str) -> bytes:
        written = word.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(written, digest_size=8, salt=self.salt).digest()


class TurnedEmbedder(HashingEmbedder):
    """The same into other coordinates."""

    model = replace(HASHING_MODEL, key="hashing/turned-384")
    salt = b"turned"
