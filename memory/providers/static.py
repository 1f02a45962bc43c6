"""Static token vectors, potion-base-8M, as an embedder and as a reranker; no runtime.

A text takes a tenth of a millisecond. Its vector is the mean of its tokens' rows of one table,
scaled to unit length (model2vec; Tulkens and van Dongen 2024). The length of a row is the model's
own weight of the token, much like an inverse document frequency.

The reranker is late interaction (ColBERT; Khattab and Zaharia 2020) over the same rows, for
dialogue and prose; it costs quality on code, where the caller leaves it out. It compares a token
once however many texts have it, and a word is tokenized once in a process as long as it is
remembered: words come again, and the tokenizer took more time than all else.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
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
WORDS_MOST: Final = 16_384  # that are remembered with their tokens: 4 MB; a default
LONGEST_WORD: Final = 32  # characters of one that is
PAIRS_MOST: Final = 1 << 20  # of tokens that are compared at once: 4 MB; a default


class TokenVectors(NamedTuple):
    """A text's tokens: unit rows (count, 256) and their weights (count,), the rows' lengths."""

    rows: Vectors
    weights: npt.NDArray[np.float32]


class _Table(NamedTuple):
    """What was loaded: the tokens of a word, the rows of all tokens and their lengths."""

    tokens: Callable[[str], tuple[int, ...]]
    rows: Vectors
    lengths: npt.NDArray[np.float32]
    unknown: int


class StaticEmbedder(LocalModel):
    """Embeds with the token table in a models folder; raises ProviderUnavailable without it."""

    model = MODEL

    def __init__(self, *, models_dir: Path) -> None:
        self._folder = models_dir / POTION.name
        self._lock = Lock()
        self._loaded: _Table | None = None

    def embed(self, *, texts: tuple[str, ...]) -> Vectors:
        table = self._table().rows
        means = [table[self.tokens(text=text)].mean(axis=0) for text in texts]
        rows = [mean / np.linalg.norm(mean) for mean in means]
        return np.array(rows, dtype=np.float32).reshape(len(rows), MODEL.dimensions)

    def tokens(self, *, text: str) -> list[int]:
        """Return the places of a text's known tokens; one without any has the unknown token."""
        table = self._table()
        every = [place for word in text.split(" ") for place in table.tokens(word)]
        # a text without one known token still needs a direction
        return [place for place in every if place != table.unknown] or [table.unknown]

    def vectors_of(self, *, tokens: npt.ArrayLike) -> TokenVectors:
        """Return the unit rows and weights of tokens."""
        table = self._table()
        places: npt.NDArray[np.intp] = np.asarray(tokens, dtype=np.intp)
        weights = table.lengths[places]
        lengths = np.maximum(weights, 1e-9, dtype=np.float32)[:, None]
        unit: Vectors = np.divide(table.rows[places], lengths, dtype=np.float32)
        return TokenVectors(rows=unit, weights=weights)

    def _table(self) -> _Table:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> _Table:
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
        rows = load_file(weights)["embeddings"]
        return _Table(
            tokens=_remembering(tokenizer),
            rows=rows,
            lengths=np.linalg.norm(rows, axis=1),
            unknown=tokenizer.token_to_id(UNKNOWN_TOKEN) or 0,
        )


def _remembering(tokenizer: Tokenizer) -> Callable[[str], tuple[int, ...]]:
    """Return what tokenizes a word; spaces part words whatever is around them."""

    def tokenize(word: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(word, add_special_tokens=False).ids)

    remembered = lru_cache(maxsize=WORDS_MOST)(tokenize)
    return lambda word: (tokenize if len(word) > LONGEST_WORD else remembered)(word)


class LateInteractionReranker:
    """Scores texts by how well each query token is met by some token of the text."""

    key = "static/maxsim"
    is_local = True

    def __init__(self, *, models_dir: Path) -> None:
        self._tokens = StaticEmbedder(models_dir=models_dir)

    def rerank(self, *, query: str, texts: tuple[str, ...]) -> tuple[float, ...]:
        if not texts:
            return ()
        asked, places_asked = np.unique(self._tokens.tokens(text=query), return_inverse=True)
        tokens = [self._tokens.tokens(text=text) for text in texts]
        distinct, places = np.unique(np.concatenate(tokens), return_inverse=True)
        starts = np.cumsum([0, *map(len, tokens[:-1])])
        return max_similarities(
            query=self._tokens.vectors_of(tokens=asked),
            asked=places_asked,
            rows=self._tokens.vectors_of(tokens=distinct).rows,
            places=places,
            starts=starts,
        )


def max_similarities(
    *,
    query: TokenVectors,
    asked: npt.NDArray[np.intp],
    rows: Vectors,
    places: npt.NDArray[np.intp],
    starts: npt.NDArray[np.intp],
) -> tuple[float, ...]:
    """Return Σ_t w_t · max_u cos(t, u) / Σ_t w_t over query tokens t and tokens u of each text.

    Cut at 0 and 1. The tokens of the query are `asked` in `query`. Those of all texts are `places`
    in the unit `rows`, one text behind the other, and begin at `starts`. Khattab and Zaharia 2020,
    with w_t the length of t's static vector: without these weights it ranks worse than the first
    stage. A long query is compared a part at a time, since with all texts it would need gigabytes.
    """
    step = max(1, PAIRS_MOST // len(places))
    parts = []
    for first in range(0, len(query.rows), step):
        # a product by BLAS has threads, which spin
        near = np.einsum("td,ud->tu", query.rows[first : first + step], rows)
        parts.append(np.maximum.reduceat(near[:, places], starts, axis=1))
    best = np.concatenate(parts)[asked]
    weights = query.weights[asked]
    total = float(weights.sum())
    means = weights @ best / (total if total > 0 else 1.0)
    return tuple(np.clip(means, 0.0, 1.0).tolist())


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
