"""The contracts of a model vendor, the values that cross them, and the check of every answer.

Every implementation raises only the errors of `memory.providers.errors`. Vectors are rows of
float32 and of unit length, so that the inner product is the cosine. What is wrong in an answer's
count, dimension, figures or shape becomes ProviderInvalidAnswer before anyone sees it, so that
nothing malformed is ever stored.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

import jsonschema
import numpy as np
import numpy.typing as npt

from accounts.messages import message
from memory.providers.errors import ProviderInvalidAnswer

Vectors = npt.NDArray[np.float32]
LARGEST_FIGURE: Final = 1e18  # no embedding comes near; above it squares overflow
SMALLEST_LENGTH: Final = 1e-6  # below it a vector's direction is rounding noise


class Provider(StrEnum):
    """Whose model it is; the first part of every model key."""

    LOCAL = "local"
    STATIC = "static"
    HASHING = "hashing"
    OPENAI_COMPATIBLE = "openai"
    COHERE = "cohere"


class ChatRole(StrEnum):
    """Who speaks in a chat message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """What identifies a vector space; recorded beside each vector, never mixed with another."""

    key: str  # "provider/model", of a vendor with its dimensions behind an @
    dimensions: int

    @property
    def provider(self) -> str:
        """Whose model it is."""
        return self.key.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a conversation with a chat model."""

    role: ChatRole
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A conversation to be completed by one JSON object that fits a schema."""

    messages: tuple[ChatMessage, ...]
    schema_name: str
    json_schema: Mapping[str, object]
    max_output_tokens: int = 1024
    deadline_seconds: float = 60.0  # a caller for whom a person waits sets 2 or less
    accepts: Mapping[str, object] | None = None  # what an answer must fit; None: the schema
    most_calls: int | None = None  # tries that may be paid for; None: as many as the limits say


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """A JSON object checked against the request's schema, and what all tries for it cost."""

    data: Mapping[str, object]
    model: str
    input_tokens: int
    output_tokens: int
    calls: int = 1


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


def unit_vectors(*, rows: object, count: int, model: EmbeddingModel) -> Vectors:
    """Return the rows as float32 (count, dimensions), each scaled to unit length.

    Raises ProviderInvalidAnswer for another shape, no figures, NaN, infinite, or a zero vector.
    """
    try:
        array: npt.NDArray[np.float64] = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        what = message("vectors that are not equally long rows of figures")
        raise _invalid(model.provider, what) from error
    if count == 0 and array.size == 0:
        return np.zeros((0, model.dimensions), dtype=np.float32)
    if array.ndim != 2 or array.shape[0] != count:
        got = len(array) if array.ndim else 0
        what = message("{vectors} vectors for {texts} texts", vectors=got, texts=count)
        raise _invalid(model.provider, what)
    if array.shape[1] != model.dimensions:
        found, wanted = array.shape[1], model.dimensions
        raise ProviderInvalidAnswer(
            detail=message(
                "{key} answered with {dimensions} dimensions instead of {wanted}.",
                key=model.key,
                dimensions=found,
                wanted=wanted,
            ),
            provider=model.provider,
            hint=message(
                "Set the provider's dimensions to {dimensions}, or choose a model that can be "
                "asked for {wanted}.",
                dimensions=found,
                wanted=wanted,
            ),
        )
    if not (np.abs(array) < LARGEST_FIGURE).all():
        raise _invalid(model.provider, message("a vector with NaN or infinite figures"))
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    if (lengths < SMALLEST_LENGTH).any():
        raise _invalid(model.provider, message("a zero vector"))
    scaled: Vectors = (array / lengths).astype(np.float32)
    return scaled


class LocalModel(ABC):
    """An embedder of this machine, whose answers are checked; documents and queries are alike."""

    model: EmbeddingModel
    is_local = True

    @abstractmethod
    def embed(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), dimensions), in the order of the texts."""

    def embed_documents(self, *, texts: tuple[str, ...]) -> Vectors:
        return unit_vectors(rows=self.embed(texts=texts), count=len(texts), model=self.model)

    embed_queries = embed_documents


def scores_in_order(
    *, scores: Sequence[tuple[int, float]], count: int, provider: str
) -> tuple[float, ...]:
    """Return one score in [0, 1] a text, in the order of the texts, from pairs (text, score).

    Raises ProviderInvalidAnswer for a text without a score or with two, or one out of range.
    """
    by_index = dict(scores)
    if len(scores) != count or by_index.keys() != set(range(count)):
        what = message("scores that do not match the {texts} texts one to one", texts=count)
        raise _invalid(provider, what)
    if not all(0.0 <= score <= 1.0 for score in by_index.values()):
        raise _invalid(provider, message("a score outside 0 to 1"))
    return tuple(by_index[index] for index in range(count))


def json_object(*, text: str, provider: str) -> Mapping[str, object]:
    """Return the JSON object that is the whole text.

    Raises ProviderInvalidAnswer: no JSON, cut off, not an object, NaN, or nested too deep.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _invalid(provider, message("text that is not JSON")) from error
    if not isinstance(value, dict):
        raise _invalid(provider, message("JSON that is not an object"))
    return value


def check_schema(
    *, data: Mapping[str, object], schema: Mapping[str, object], provider: str
) -> None:
    """Check an object against a JSON schema (draft 2020-12).

    Raises ProviderInvalidAnswer, which names the place and never the content.
    """
    validator = jsonschema.Draft202012Validator(schema)
    fault = jsonschema.exceptions.best_match(validator.iter_errors(data))
    if fault is not None:
        rule, path = str(fault.validator), fault.json_path
        raise _invalid(
            provider, message("JSON that breaks {rule!r} at {path}", rule=rule, path=path)
        )


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _invalid(provider: str, what: str) -> ProviderInvalidAnswer:
    return ProviderInvalidAnswer(
        detail=message("{provider} answered with {what}.", provider=provider, what=what),
        provider=provider,
    )
