"""Scripted models for tests and for trying the product without a vendor; shipped with it.

In the flow: stand where a remote model would, behind the same contracts. A script is a tuple of
answers and errors, given out in order; its last entry repeats. What was asked is kept.
"""

from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np

from memory.providers.contracts import ChatAnswer, ChatRequest, EmbeddingModel, Provider, Vectors
from memory.providers.errors import ProviderError
from memory.providers.hashing import HashingEmbedder

Answer = TypeVar("Answer")


class Script(Generic[Answer]):
    """Answers and errors in the order in which they are given out."""

    def __init__(self, *, entries: Sequence[Answer | ProviderError]) -> None:
        """Keep at least one entry.

        Raises:
            ValueError: there is none.
        """
        if not entries:
            raise ValueError("A script needs at least one answer or error.")
        self._entries = tuple(entries)
        self._given = 0

    def next_answer(self) -> Answer:
        """Return the next answer, or raise the next error."""
        entry = self._entries[min(self._given, len(self._entries) - 1)]
        self._given += 1
        if isinstance(entry, ProviderError):
            raise entry
        return entry


class ScriptedEmbedder:
    """Embeds by hashed words, failing where the script holds an error (None = answer)."""

    is_local = False

    def __init__(self, *, script: Sequence[ProviderError | None] = (None,)) -> None:
        """Follow the script, call by call."""
        words = HashingEmbedder()
        self.model = EmbeddingModel(
            key="fake/words-384",
            dimensions=words.model.dimensions,
            max_tokens=words.model.max_tokens,
            provider=Provider.FAKE,
        )
        self.asked: tuple[tuple[str, ...], ...] = ()
        self._words = words
        self._script = Script(entries=script)

    def embed_documents(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), 384), or raise what the script says."""
        self.asked += (texts,)
        self._script.next_answer()
        return self._words.embed_documents(texts=texts)

    def embed_query(self, *, text: str) -> Vectors:
        """Return an array (384,), or raise what the script says."""
        vector: Vectors = self.embed_documents(texts=(text,))[0]
        return vector

    def embed_queries(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), 384), or raise what the script says."""
        return self.embed_documents(texts=texts)


class ScriptedReranker:
    """Scores by the cosine of hashed words, failing where the script holds an error."""

    key = "fake/words"
    is_local = False

    def __init__(self, *, script: Sequence[ProviderError | None] = (None,)) -> None:
        """Follow the script, call by call."""
        self.asked: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self._words = HashingEmbedder()
        self._script = Script(entries=script)

    def rerank(self, *, query: str, texts: tuple[str, ...]) -> tuple[float, ...]:
        """Return one score in [0, 1] a text, or raise what the script says."""
        self.asked += ((query, texts),)
        self._script.next_answer()
        cosines = self._words.embed_documents(texts=texts) @ self._words.embed_query(text=query)
        return tuple(float(score) for score in np.clip(cosines, 0.0, 1.0))


class ScriptedChatModel:
    """Answers with what the script holds."""

    key = "fake/chat"
    is_local = False

    def __init__(self, *, script: Sequence[ChatAnswer | ProviderError]) -> None:
        """Follow the script, call by call."""
        self.asked: tuple[ChatRequest, ...] = ()
        self._script = Script(entries=script)

    def complete_json(self, *, request: ChatRequest) -> ChatAnswer:
        """Return the next answer, or raise the next error."""
        self.asked += (request,)
        return self._script.next_answer()
