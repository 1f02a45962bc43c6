"""Cohere's embedder and reranker.

In the flow: `vendors` imports this only where it is used (the client costs 45 MB), and wraps it
in `guarded`. Queries and documents are embedded differently there.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import cohere
import httpx
from cohere.core.api_error import ApiError
from cohere.core.request_options import RequestOptions

from accounts.messages import message
from memory.providers import deadline, statuses
from memory.providers.answers import Relevance
from memory.providers.contracts import EmbeddingModel, Provider
from memory.providers.errors import (
    ProviderError,
    ProviderInvalidAnswer,
    ProviderTimeout,
    ProviderUnavailable,
)
from memory.providers.guard import Metered
from memory.providers.guarded import Purpose
from memory.providers.settings import ProviderSettings

NAME = Provider.COHERE
EMBEDDING_MAX_TOKENS = 128_000  # embed-v4
BATCH_TEXTS = 96  # the interface's limit
WITHOUT_KEY = "none"  # refused there with a clear status; an empty one breaks the request


class CohereEmbedder:
    """One request a batch to /v2/embed."""

    batch_texts = BATCH_TEXTS
    is_local = False

    def __init__(self, *, model: str, settings: ProviderSettings) -> None:
        """Open nothing yet."""
        self._name = model
        self._client = _client(settings)
        self.model = EmbeddingModel(
            key=f"{NAME}/{model}@{settings.cohere_dimensions}",
            dimensions=settings.cohere_dimensions,
            max_tokens=EMBEDDING_MAX_TOKENS,
            provider=NAME,
        )

    def embed(
        self, *, texts: tuple[str, ...], purpose: Purpose, seconds: float
    ) -> Metered[Sequence[object]]:
        """Return one row a text; raise ProviderError."""
        with _translated():
            answer = self._client.embed(
                model=self._name,
                input_type=f"search_{purpose.value}",
                texts=list(texts),
                output_dimension=self.model.dimensions,
                embedding_types=["float"],
                request_options=_options(seconds),
            )
            rows = answer.embeddings.float_
        if not isinstance(rows, list):
            raise _unreadable()
        return Metered(value=rows, tokens=_billed(answer.meta))


class CohereReranker:
    """One request to /v2/rerank."""

    provider = NAME.value
    is_local = False

    def __init__(self, *, model: str, settings: ProviderSettings) -> None:
        """Open nothing yet."""
        self._name = model
        self._client = _client(settings)
        self.key = f"{NAME}/{model}"

    def rerank(
        self, *, query: str, texts: tuple[str, ...], seconds: float
    ) -> Metered[tuple[Relevance, ...]]:
        """Return scores by place; raise ProviderError."""
        with _translated():
            answer = self._client.rerank(
                model=self._name,
                query=query,
                documents=list(texts),
                top_n=len(texts),
                request_options=_options(seconds),
            )
            relevances = tuple(
                Relevance(index=int(each.index), score=float(each.relevance_score))
                for each in answer.results
            )
        return Metered(value=relevances, tokens=_billed(answer.meta))


def _client(settings: ProviderSettings) -> cohere.ClientV2:
    return cohere.ClientV2(
        api_key=settings.cohere_api_key or WITHOUT_KEY,
        base_url=settings.cohere_base_url or None,
        httpx_client=deadline.client(limits=settings.limits),
        log_warning_experimental_features=False,
    )


def _options(seconds: float) -> RequestOptions:
    return RequestOptions(timeout=seconds, max_retries=0)


def _billed(meta: object) -> int:
    units = getattr(meta, "billed_units", None)
    tokens = getattr(units, "input_tokens", None)
    return int(tokens) if isinstance(tokens, int | float) and 0 <= tokens < 10**9 else 0


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except httpx.TimeoutException as error:
        raise ProviderTimeout(
            detail=message("{provider} did not answer in time.", provider=NAME), provider=NAME
        ) from error
    except deadline.AnswerTooLong as error:
        raise ProviderInvalidAnswer(
            detail=message("{provider} answered without end.", provider=NAME), provider=NAME
        ) from error
    except httpx.HTTPError as error:
        raise ProviderUnavailable(
            detail=message("{provider} cannot be reached.", provider=NAME), provider=NAME
        ) from error
    except ApiError as error:
        raise _refused(error) from error
    except (ValueError, TypeError, AttributeError) as error:  # the client checks no shapes
        raise _unreadable() from error


def _refused(error: ApiError) -> ProviderError:
    status = error.status_code or 0
    if status < 400:
        return _unreadable()
    return statuses.error_of(provider=NAME, status=status, headers=error.headers or {})


def _unreadable() -> ProviderInvalidAnswer:
    return ProviderInvalidAnswer(
        detail=message("{provider} gave an unreadable answer.", provider=NAME), provider=NAME
    )
