"""The contracts of a model vendor and the values that cross them.

Every implementation raises only the errors of `memory.providers.errors`. Vectors are rows of
float32 and of unit length, so that the inner product is the cosine.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Provider(StrEnum):
    """Whose model it is; the first part of every model key."""

    LOCAL = "local"
    STATIC = "static"
    HASHING = "hashing"
    OPENAI_COMPATIBLE = "openai"
    COHERE = "cohere"
    FAKE = "fake"


class ChatRole(StrEnum):
    """Who speaks in a chat message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """What identifies a vector space; recorded beside each vector, never mixed with another."""

    key: str
    dimensions: int
    max_tokens: int
    provider: Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a conversation with a chat model."""

    role: ChatRole
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A conversation to be completed by one JSON object that fits a schema.

    `accepts`: what an answer must fit at least, where the caller checks the rest part by part.
    """

    messages: tuple[ChatMessage, ...]
    schema_name: str
    json_schema: Mapping[str, object]
    max_output_tokens: int = 1024
    temperature: float = 0.0
    deadline_seconds: float = 60.0  # a caller for whom a person waits sets 2 or less
    accepts: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """A JSON object checked against the request's schema, and the tokens that it cost."""

    data: Mapping[str, object]
    model: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSpan:
    """What a name reader marks: its label, from which character of the text to before which.

    `is_everyday`: its one word stands in a dictionary, so its capital may be a sentence's.
    """

    label: str
    start: int
    end: int
    is_everyday: bool = False


NameReader = Callable[[tuple[str, ...]], tuple[tuple[ReadSpan, ...], ...]]


class Embedder(Protocol):
    """Turns texts into unit-length vectors of one model. Every method raises ProviderError."""

    model: EmbeddingModel  # the vector space the answers belong to
    is_local: bool  # the texts stay on this machine

    def embed_documents(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), dimensions), in the order of the texts."""
        ...

    def embed_queries(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), dimensions), to be compared with document vectors."""
        ...


class LocalModel(Protocol):
    """An embedder of this machine, which makes no difference between documents and queries."""

    model: EmbeddingModel

    def embed(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), dimensions), in the order of the texts."""
        ...


class Reranker(Protocol):
    """Scores texts against a query, better than the first stage can."""

    key: str  # "provider/model"
    is_local: bool  # the texts stay on this machine

    def rerank(self, *, query: str, texts: tuple[str, ...]) -> tuple[float, ...]:
        """Return one relevance in [0, 1] a text, in their order; raise ProviderError."""
        ...


class ChatModel(Protocol):
    """Completes a conversation with JSON that fits a schema."""

    key: str  # "provider/model"
    is_local: bool  # the texts stay on this machine

    def complete_json(self, *, request: ChatRequest) -> ChatAnswer:
        """Return an answer whose data fits the request's schema; raise ProviderError."""
        ...
