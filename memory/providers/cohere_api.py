"""Cohere's embedder and reranker.

`registry` imports this only where it is used, because the client costs 45 MB. Queries and
documents are embedded differently there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import cohere
import httpx
from cohere.core.api_error import ApiError
from cohere.core.request_options import RequestOptions

from memory.providers import errors
from memory.providers.contracts import Provider, scores_in_order
from memory.providers.guard import (
    BoundedClient,
    Guard,
    ProviderSettings,
    Purpose,
    RemoteEmbedder,
    error_of_exchange,
)

NAME: Final = Provider.COHERE
NO_KEY: Final = "none"  # refused there with a clear status; an empty one breaks the request


class CohereEmbedder(RemoteEmbedder[cohere.ClientV2]):
    """One request a batch to /v2/embed."""

    batch_texts = 96  # the interface's limit

    def request(self, *, texts: tuple[str, ...], purpose: Purpose, seconds: float) -> object:
        with _translated_errors():
            answer = self.client.embed(
                model=self.name,
                input_type=f"search_{purpose.value}",
                texts=list(texts),
                output_dimension=self.model.dimensions,
                embedding_types=["float"],
                request_options=RequestOptions(timeout=seconds, max_retries=0),
            )
            return answer.embeddings.float_


@dataclass(slots=True, kw_only=True)
class CohereReranker:
    """One request to /v2/rerank, for one tenant."""

    key: str
    client: cohere.ClientV2
    guard: Guard
    tenant: str
    is_local: bool = False

    def rerank(self, *, query: str, texts: tuple[str, ...]) -> tuple[float, ...]:
        if not texts:
            return ()
        return self.guard.run(
            tenant=self.tenant,
            provider=NAME,
            seconds=self.guard.limits.interactive_seconds,
            call=partial(self._request, query, texts),
        )

    def _request(self, query: str, texts: tuple[str, ...], seconds: float) -> tuple[float, ...]:
        with _translated_errors():
            answer = self.client.rerank(
                model=self.key.removeprefix(f"{NAME}/"),
                query=query,
                documents=list(texts),
                top_n=len(texts),
                request_options=RequestOptions(timeout=seconds, max_retries=0),
            )
            scores = [(int(each.index), float(each.relevance_score)) for each in answer.results]
        return scores_in_order(scores=scores, count=len(texts), provider=NAME)


def open_client(*, settings: ProviderSettings) -> cohere.ClientV2:
    """Return a client of the settings; nothing is sent yet."""
    return cohere.ClientV2(
        api_key=settings.cohere_api_key or NO_KEY,
        base_url=settings.cohere_base_url or None,
        httpx_client=BoundedClient(base_url=settings.cohere_base_url, limits=settings.limits),
        log_warning_experimental_features=False,
    )


@contextmanager
def _translated_errors() -> Iterator[None]:
    """Turn what the client raises into ProviderError; the client checks no shapes."""
    try:
        yield
    except (httpx.HTTPError, ApiError, ValueError, TypeError, AttributeError) as error:
        status = error.status_code or 0 if isinstance(error, ApiError) else 0
        if isinstance(error, ApiError) and status >= 400:
            headers = error.headers or {}
            raise errors.error_of_status(provider=NAME, status=status, headers=headers) from error
        raise error_of_exchange(provider=NAME, error=error) from error
