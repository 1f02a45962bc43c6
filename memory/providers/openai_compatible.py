"""Any endpoint that speaks OpenAI's protocol: OpenAI, Ollama, vLLM and the like.

In the flow: `vendors` imports this only where it is used, and wraps it in `guarded`. The
vendor's client builds and sends the request, without tries of its own; `openai_answers` reads
the bytes. An address on this machine counts as local.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import openai

from accounts.messages import message
from memory.providers import addresses, deadline, openai_answers, statuses
from memory.providers.contracts import ChatAnswer, ChatRequest, EmbeddingModel, Provider
from memory.providers.errors import ProviderInvalidAnswer, ProviderTimeout, ProviderUnavailable
from memory.providers.guard import Metered
from memory.providers.guarded import Purpose
from memory.providers.settings import ProviderSettings

if TYPE_CHECKING:
    import httpx2

NAME = Provider.OPENAI_COMPATIBLE
EMBEDDING_MAX_TOKENS = 8191  # OpenAI's embedding models
BATCH_TEXTS = 256  # well below the protocol's 2,048 inputs and 300,000 tokens
WITHOUT_KEY = "none"  # servers of one's own ask for no key, the client insists on one


class OpenAIEmbedder:
    """One request a batch to /embeddings."""

    batch_texts = BATCH_TEXTS

    def __init__(self, *, model: str, settings: ProviderSettings) -> None:
        """Open nothing yet."""
        self._name = model
        self._asked: dict[str, Any] = (
            {"dimensions": settings.openai_dimensions} if settings.openai_asks_dimensions else {}
        )
        self._client = _client(settings)
        self.is_local = addresses.is_on_this_machine(url=settings.openai_base_url)
        self.model = EmbeddingModel(
            key=f"{NAME}/{model}@{settings.openai_dimensions}",
            dimensions=settings.openai_dimensions,
            max_tokens=EMBEDDING_MAX_TOKENS,
            provider=NAME,
        )

    def embed(
        self, *, texts: tuple[str, ...], purpose: Purpose, seconds: float
    ) -> Metered[Sequence[object]]:
        """Return one row a text; raise ProviderError."""
        del purpose  # the protocol knows no difference
        with _translated():
            response = self._client.embeddings.with_raw_response.create(
                model=self._name,
                input=list(texts),
                encoding_format="float",
                timeout=seconds,
                **self._asked,
            )
        return openai_answers.embeddings(body=response.text, model=self._name)


class OpenAIChatModel:
    """One request to /chat/completions, asking for JSON that fits a schema."""

    provider = NAME.value

    def __init__(self, *, model: str, settings: ProviderSettings) -> None:
        """Open nothing yet."""
        self._name = model
        self._is_vendors_own = not settings.openai_base_url
        self._client = _client(settings)
        self.key = f"{NAME}/{model}"
        self.is_local = addresses.is_on_this_machine(url=settings.openai_base_url)

    def complete(self, *, request: ChatRequest, seconds: float) -> ChatAnswer:
        """Return an answer whose data is JSON; raise ProviderError."""
        with _translated():
            response = self._client.chat.completions.with_raw_response.create(
                model=self._name,
                messages=cast("Any", _messages(request)),
                response_format=cast("Any", _response_format(request)),
                timeout=seconds,
                **self._bounds(request),
            )
        return openai_answers.chat(body=response.text)

    def _bounds(self, request: ChatRequest) -> dict[str, Any]:
        # the vendor's newest models refuse both of the names that every other server knows
        if self._is_vendors_own:
            return {"max_completion_tokens": request.max_output_tokens}
        return {"max_tokens": request.max_output_tokens, "temperature": request.temperature}


def _client(settings: ProviderSettings) -> openai.OpenAI:
    return openai.OpenAI(
        api_key=settings.openai_api_key or WITHOUT_KEY,
        base_url=settings.openai_base_url or None,
        max_retries=0,
        # the client takes either generation of the HTTP library, its annotation only the newer
        http_client=cast("httpx2.Client", deadline.client(limits=settings.limits)),
    )


def _messages(request: ChatRequest) -> list[dict[str, str]]:
    return [{"role": each.role.value, "content": each.text} for each in request.messages]


def _response_format(request: ChatRequest) -> Mapping[str, object]:
    schema = {"name": request.schema_name, "strict": True, "schema": dict(request.json_schema)}
    return {"type": "json_schema", "json_schema": schema}


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except openai.APITimeoutError as error:
        raise ProviderTimeout(
            detail=message("{provider} did not answer in time.", provider=NAME), provider=NAME
        ) from error
    except openai.APIConnectionError as error:
        raise _unreachable(error) from error
    except openai.APIStatusError as error:
        raise statuses.error_of(
            provider=NAME,
            status=error.status_code,
            headers=dict(error.response.headers),
            code=str(error.code or ""),
        ) from error
    except openai.APIError as error:
        raise ProviderInvalidAnswer(
            detail=message("{provider} gave an unreadable answer.", provider=NAME), provider=NAME
        ) from error


def _unreachable(error: openai.APIConnectionError) -> ProviderInvalidAnswer | ProviderUnavailable:
    if isinstance(error.__cause__, deadline.AnswerTooLong):
        return ProviderInvalidAnswer(
            detail=message("{provider} answered without end.", provider=NAME), provider=NAME
        )
    return ProviderUnavailable(
        detail=message("{provider} cannot be reached.", provider=NAME),
        provider=NAME,
        hint="Check the base address.",
    )
