"""Any endpoint that speaks OpenAI's protocol: OpenAI, Ollama, vLLM and the like.

`registry` imports this only where it is used. The vendor's client builds and sends the request;
the bytes of the answer are read here, since the client checks no shapes. An address on this machine
counts as local.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import openai
from pydantic import BaseModel, ValidationError

from accounts.messages import message
from memory.providers import contracts, errors
from memory.providers.errors import ProviderInvalidAnswer, ProviderRefused
from memory.providers.guard import (
    BoundedClient,
    Guard,
    ProviderSettings,
    Purpose,
    RemoteEmbedder,
    error_of_exchange,
)

if TYPE_CHECKING:
    import httpx2

NAME: Final = contracts.Provider.OPENAI_COMPATIBLE
NO_KEY: Final = "none"  # servers of one's own ask for no key, the client insists on one
MOST_TOKENS: Final = 10**9  # a larger count is nonsense and not booked
Body = TypeVar("Body", bound=BaseModel)


class EmbeddingRow(BaseModel):
    """One vector of an answer."""

    embedding: list[float]
    index: int | None = None


class EmbeddingsBody(BaseModel):
    """The body of /embeddings, as far as it is read."""

    data: list[EmbeddingRow]
    model: str | None = None


class ChatText(BaseModel):
    """What the model wrote, or why it declined."""

    content: str | None = None
    refusal: str | None = None


class ChatChoice(BaseModel):
    """One of the answers of a model; only one is asked for."""

    message: ChatText
    finish_reason: str | None = None


class UsageBody(BaseModel):
    """What an answer says it cost."""

    usage: object = None


class ChatBody(UsageBody):
    """The body of /chat/completions, as far as it is read."""

    choices: list[ChatChoice]
    model: str | None = None


@dataclass(kw_only=True)
class OpenAIEmbedder(RemoteEmbedder[openai.OpenAI]):
    """One request a batch to /embeddings."""

    batch_texts = 256  # well below the protocol's 2,048 inputs and 300,000 tokens
    asks_dimensions: bool

    def request(self, *, texts: tuple[str, ...], purpose: Purpose, seconds: float) -> object:
        del purpose  # the protocol knows no difference
        with _translated_errors():
            response = self.client.embeddings.with_raw_response.create(
                model=self.name,
                input=list(texts),
                encoding_format="float",
                timeout=seconds,
                dimensions=self.model.dimensions if self.asks_dimensions else openai.omit,
            )
        return read_embeddings(body=response.text, model=self.name)


@dataclass(slots=True, kw_only=True)
class Bill:
    """What the tries for one answer cost: requests that were sent, and tokens of all answers."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, *, body: str) -> None:
        """Add the tokens of an answer, whatever else is wrong with it."""
        try:
            usage = UsageBody.model_validate_json(body).usage
        except ValidationError:
            return  # no answer of the protocol tells what it cost
        self.input_tokens += _tokens(usage, "prompt_tokens")
        self.output_tokens += _tokens(usage, "completion_tokens")


@dataclass(slots=True, kw_only=True)
class OpenAIChatModel:
    """One request to /chat/completions, for one tenant, asking for JSON that fits a schema."""

    key: str
    is_local: bool
    is_of_openai: bool
    client: openai.OpenAI
    guard: Guard
    tenant: str

    def complete_json(self, *, request: contracts.ChatRequest) -> contracts.ChatAnswer:
        bill = Bill()
        try:
            answer = self.guard.run(
                tenant=self.tenant,
                provider=NAME,
                seconds=min(self.guard.limits.total_seconds, request.deadline_seconds),
                call=partial(self._request, request, bill),
                most_calls=request.most_calls,
            )
        except errors.ProviderError as error:
            error.calls = bill.calls
            error.input_tokens, error.output_tokens = bill.input_tokens, bill.output_tokens
            raise
        return replace(
            answer,
            calls=bill.calls,
            input_tokens=bill.input_tokens,
            output_tokens=bill.output_tokens,
        )

    def _request(
        self, request: contracts.ChatRequest, bill: Bill, seconds: float
    ) -> contracts.ChatAnswer:
        messages = [{"role": each.role.value, "content": each.text} for each in request.messages]
        schema = {"name": request.schema_name, "strict": True, "schema": dict(request.json_schema)}
        # the vendor's newest models refuse both of the names that every other server knows
        bounds: dict[str, Any] = (
            {"max_completion_tokens": request.max_output_tokens}
            if self.is_of_openai
            else {"max_tokens": request.max_output_tokens, "temperature": 0.0}
        )
        bill.calls += 1
        with _translated_errors():
            response = self.client.chat.completions.with_raw_response.create(
                model=self.key.removeprefix(f"{NAME}/"),
                messages=cast("Any", messages),
                response_format=cast("Any", {"type": "json_schema", "json_schema": schema}),
                timeout=seconds,
                **bounds,
            )
        bill.add(body=response.text)
        answer = read_chat(body=response.text)
        accepts = request.json_schema if request.accepts is None else request.accepts
        contracts.check_schema(data=answer.data, schema=accepts, provider=NAME)
        return answer


def read_embeddings(*, body: str, model: str) -> list[list[float]]:
    """Return the rows in the order of their index.

    Raises ProviderInvalidAnswer: not an answer of the protocol, or one of another model.
    """
    answer = _read(EmbeddingsBody, body)
    answered = answer.model or ""
    # a version or tag behind the name is the same model ("name-2", "name:latest")
    if not (answered.startswith(model) or model.startswith(answered)):
        raise ProviderInvalidAnswer(
            detail=message(
                "{provider} embedded with another model than {asked!r}.", provider=NAME, asked=model
            ),
            provider=NAME,
            hint="Vectors of two models must not be mixed: set the name that the server answers.",
        )
    rows = {
        place if row.index is None else row.index: row.embedding
        for place, row in enumerate(answer.data)
    }
    if rows.keys() != set(range(len(answer.data))):
        raise _lacks(message("one index for each embedding"))
    return [rows[place] for place in range(len(rows))]


def read_chat(*, body: str) -> contracts.ChatAnswer:
    """Return the JSON object that the model wrote, not yet checked against a schema.

    Raises ProviderInvalidAnswer: not an answer of the protocol, cut off, or not JSON;
    ProviderRefused where the model declined.
    """
    answer = _read(ChatBody, body)
    if not answer.choices:
        raise _lacks("choices[0]")
    choice = answer.choices[0]
    if choice.message.refusal:
        raise ProviderRefused(
            detail="The model declined to answer.", provider=NAME, hint="Rephrase the question."
        )
    if choice.finish_reason == "length":
        raise _lacks(message("its end: the output limit cut it off"))
    if choice.message.content is None:
        raise _lacks("choices[0].message.content")
    return contracts.ChatAnswer(
        data=contracts.json_object(text=choice.message.content, provider=NAME),
        model=answer.model or "",
        input_tokens=_tokens(answer.usage, "prompt_tokens"),
        output_tokens=_tokens(answer.usage, "completion_tokens"),
    )


def _read(shape: type[Body], text: str) -> Body:
    try:
        return shape.model_validate_json(text)
    except ValidationError as error:
        path = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
        raise _lacks(path or "JSON") from error


def _tokens(usage: object, name: str) -> int:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and 0 <= count < MOST_TOKENS else 0


def _lacks(what: str) -> ProviderInvalidAnswer:
    detail = message("The answer of {provider} lacks {what}.", provider=NAME, what=what)
    return ProviderInvalidAnswer(detail=detail, provider=NAME)


def open_client(*, settings: ProviderSettings) -> openai.OpenAI:
    """Return a client of the settings; nothing is sent yet."""
    client = BoundedClient(base_url=settings.openai_base_url, limits=settings.limits)
    return openai.OpenAI(
        api_key=settings.openai_api_key or NO_KEY,
        base_url=settings.openai_base_url or None,
        max_retries=0,
        # the client takes either generation of the HTTP library, its annotation only the newer
        http_client=cast("httpx2.Client", client),
    )


@contextmanager
def _translated_errors() -> Iterator[None]:
    """Turn what the client raises into ProviderError."""
    try:
        yield
    except openai.APIConnectionError as error:
        raise error_of_exchange(provider=NAME, error=error.__cause__) from error
    except openai.APIStatusError as error:
        headers, code = dict(error.response.headers), str(error.code or "")
        raise errors.error_of_status(
            provider=NAME, status=error.status_code, headers=headers, code=code
        ) from error
    except openai.APIError as error:
        raise error_of_exchange(provider=NAME, error=error) from error
