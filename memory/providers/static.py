"""Static token vectors, potion-base-8M: no runtime, a tenth of a millisecond a text.

In the flow: an embedder for bulk and small machines, and the token vectors of the late
interaction in `late_interaction`. A text's vector is the mean of its tokens' rows of one table,
scaled to unit length (model2vec; Tulkens and van Dongen 2024). The length of a row is the
model's own weight of the token, much like an inverse document frequency.
"""

from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from accounts.messages import message
from memory.providers.contracts import EmbeddingModel, Provider, Vectors
from memory.providers.errors import ProviderUnavailable
from memory.providers.pins import POTION

MODEL = EmbeddingModel(
    key=f"static/{POTION.name}", dimensions=256, max_tokens=100_000, provider=Provider.STATIC
)
UNKNOWN_TOKEN = "[UNK]"  # noqa: S105 - a word of the vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenVectors:
    """A text's tokens: unit rows (count, 256) and their weights (count,), the rows' lengths."""

    rows: Vectors
    weights: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    tokenizer: Tokenizer
    rows: Vectors
    unknown: int


class StaticEmbedder:
    """Embeds with the token table in a models folder."""

    model = MODEL
    is_local = True

    def __init__(self, *, models_dir: Path) -> None:
        """Remember where the models are; nothing is loaded yet."""
        self._folder = models_dir / POTION.name
        self._lock = Lock()
        self._loaded: _Table | None = None

    def embed_documents(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), 256) of unit rows; raise ProviderUnavailable."""
        rows = [self.embed_query(text=text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), MODEL.dimensions)

    def embed_query(self, *, text: str) -> Vectors:
        """Return an array (256,) of unit length; raise ProviderUnavailable."""
        mean = self._rows(text).mean(axis=0)
        scaled: Vectors = mean / np.linalg.norm(mean)
        return scaled

    def embed_queries(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return what `embed_documents` does: the model knows no difference."""
        return self.embed_documents(texts=texts)

    def token_vectors(self, *, text: str) -> TokenVectors:
        """Return the unit rows and weights of a text's tokens; raise ProviderUnavailable."""
        rows = self._rows(text)
        weights = np.linalg.norm(rows, axis=1)
        return TokenVectors(rows=rows / np.maximum(weights, 1e-9)[:, None], weights=weights)

    def _rows(self, text: str) -> Vectors:
        table = self._table()
        places = table.tokenizer.encode(text, add_special_tokens=False).ids
        known = [place for place in places if place != table.unknown]
        # a text without one known token still needs a direction
        rows: Vectors = table.rows[known or [table.unknown]]
        return rows

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
        unknown = tokenizer.token_to_id(UNKNOWN_TOKEN)
        rows = load_file(weights)["embeddings"]
        return _Table(tokenizer=tokenizer, rows=rows, unknown=0 if unknown is None else unknown)
