"""The contracts' embedders, rerankers and chat models, around a raw vendor.

In the flow: `vendors` hands these out. A local model's answers are checked; a remote model's
calls also go through the guard, bound to one tenant: documents within the total deadline, queries
and reranking, for which a person waits, within the interactive one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Protocol

import numpy as np

from memory.providers import answers
from memory.providers.answers import Relevance
from memory.providers.contracts import ChatAnswer, ChatRequest, Embedder, EmbeddingModel, Vectors
from memory.providers.guard import Guard, Metered, Scope
from memory.providers.settings import Limits


class Purpose(StrEnum):
    """What a vector is for; some vendors embed the two differently."""

    DOCUMENT = "document"
    QUERY = "query"


class RemoteEmbedder(Protocol):
    """One request to a remote embedder; its rows are not checked yet."""

    model: EmbeddingModel
    is_local: bool
    batch_texts: int

    def embed(
        self, *, texts: tuple[str, ...], purpose: Purpose, seconds: float
    ) -> Metered[Sequence[object]]:
        """Return one row a text within `seconds`; raise ProviderError."""
        ...


class RemoteReranker(Protocol):
    """One request to a remote reranker; its scores are not checked yet."""

    key: str
    provider: str
    is_local: bool

    def rerank(
        self, *, query: str, texts: tuple[str, ...], seconds: float
    ) -> Metered[tuple[Relevance, ...]]:
        """Return scores by place within `seconds`; raise ProviderError."""
        ...


class RemoteChatModel(Protocol):
    """One request to a remote chat model; its data is JSON, not checked against the schema yet."""

    key: str
    provider: str
    is_local: bool

    def complete(self, *, request: ChatRequest, seconds: float) -> ChatAnswer:
        """Return an answer within `seconds`; raise ProviderError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarding:
    """What every remote call of one tenant is held to."""

    guard: Guard
    limits: Limits
    tenant: str

    def scope(self, provider: str) -> Scope:
        """Return whose circuit and budget a call of this provider uses."""
        return Scope(tenant=self.tenant, provider=provider)


class CheckedEmbedder:
    """A local embedder whose answers are checked."""

    def __init__(self, *, inner: Embedder) -> None:
        """Wrap the embedder."""
        self._inner = inner
        self.model = inner.model
        self.is_local = inner.is_local

    def embed_documents(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), dimensions) of unit rows; raise ProviderError."""
        rows = self._inner.embed_documents(texts=texts)
        return answers.unit_vectors(rows=rows, count=len(texts), model=self.model)

    def embed_query(self, *, text: str) -> Vectors:
        """Return an array (dimensions,) of unit length; raise ProviderError."""
        vector: Vectors = self.embed_queries(texts=(text,))[0]
        return vector

    def embed_queries(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), dimensions) of unit rows; raise ProviderError."""
        rows = self._inner.embed_queries(texts=texts)
        return answers.unit_vectors(rows=rows, count=len(texts), model=self.model)


class GuardedEmbedder:
    """A remote embedder of one tenant."""

    def __init__(self, *, inner: RemoteEmbedder, guarding: Guarding) -> None:
        """Wrap the vendor."""
        self._inner = inner
        self._guarding = guarding
        self.model = inner.model
        self.is_local = inner.is_local

    def embed_documents(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), dimensions) of unit rows; raise ProviderError."""
        return self._batches(texts, Purpose.DOCUMENT, self._guarding.limits.total_seconds)

    def embed_query(self, *, text: str) -> Vectors:
        """Return an array (dimensions,) of unit length; raise ProviderError."""
        vector: Vectors = self.embed_queries(texts=(text,))[0]
        return vector

    def embed_queries(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), dimensions) of unit rows; raise ProviderError."""
        return self._batches(texts, Purpose.QUERY, self._guarding.limits.interactive_seconds)

    def _batches(self, texts: tuple[str, ...], purpose: Purpose, seconds: float) -> Vectors:
        size = self._inner.batch_texts
        batches = [
            self._batch(texts[start : start + size], purpose, seconds)
            for start in range(0, len(texts), size)
        ]
        none = np.zeros((0, self.model.dimensions), dtype=np.float32)
        return np.concatenate([none, *batches])

    def _batch(self, texts: tuple[str, ...], purpose: Purpose, seconds: float) -> Vectors:
        return self._guarding.guard.run(
            scope=self._guarding.scope(self.model.provider),
            seconds=seconds,
            call=partial(self._checked, texts, purpose),
        )

    def _checked(
        self, texts: tuple[str, ...], purpose: Purpose, seconds: float
    ) -> Metered[Vectors]:
        raw = self._inner.embed(texts=texts, purpose=purpose, seconds=seconds)
        rows = answers.unit_vectors(rows=raw.value, count=len(texts), model=self.model)
        return Metered(value=rows, tokens=raw.tokens)


class GuardedReranker:
    """A remote reranker of one tenant."""

    def __init__(self, *, inner: RemoteReranker, guarding: Guarding) -> None:
        """Wrap the vendor."""
        self._inner = inner
        self._guarding = guarding
        self.key = inner.key
        self.is_local = inner.is_local

    def rerank(self, *, query: str, texts: tuple[str, ...]) -> tuple[float, ...]:
        """Return one relevance in [0, 1] a text; raise ProviderError."""
        if not texts:
            return ()
        return self._guarding.guard.run(
            scope=self._guarding.scope(self._inner.provider),
            seconds=self._guarding.limits.interactive_seconds,
            call=partial(self._checked, query, texts),
        )

    def _checked(
        self, query: str, texts: tuple[str, ...], seconds: float
    ) -> Metered[tuple[float, ...]]:
        raw = self._inner.rerank(query=query, texts=texts, seconds=seconds)
        scores = answers.scores_in_order(
            relevances=raw.value, count=len(texts), provider=self._inner.provider
        )
        return Metered(value=scores, tokens=raw.tokens)


class GuardedChatModel:
    """A remote chat model of one tenant."""

    def __init__(self, *, inner: RemoteChatModel, guarding: Guarding) -> None:
        """Wrap the vendor."""
        self._inner = inner
        self._guarding = guarding
        self.key = inner.key
        self.is_local = inner.is_local

    def complete_json(self, *, request: ChatRequest) -> ChatAnswer:
        """Return an answer that fits the request's schema; raise ProviderError."""
        return self._guarding.guard.run(
            scope=self._guarding.scope(self._inner.provider),
            seconds=min(self._guarding.limits.total_seconds, request.deadline_seconds),
            call=partial(self._checked, request),
        )

    def _checked(self, request: ChatRequest, seconds: float) -> Metered[ChatAnswer]:
        answer = self._inner.complete(request=request, seconds=seconds)
        schema = request.json_schema if request.accepts is None else request.accepts
        answers.fitting(data=answer.data, schema=schema, provider=self._inner.provider)
        return Metered(value=answer, tokens=answer.input_tokens + answer.output_tokens)
