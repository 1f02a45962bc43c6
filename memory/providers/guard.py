"""Calls of remote models: bounded, tried again, spared when they fail, and checked.

A call gets the seconds that are left of a total that includes its retries and waits; a Retry-After
that does not fit into it ends the call at once. The vendors' clients make no tries of their own:
they know neither that total nor that an answer of a wrong shape is worth another try. They send
through `BoundedClient`. Their own timeouts bound one read, so that an answer of one byte a second
never ends; here the read timeout given with a request is the total from sending to the last byte of
the body, and connecting has its own bound.

Circuits (Nygard 2007) are per tenant and provider, so that one tenant's wrong key stops nobody
else; they live in the process, which bounds a dead vendor to five tries a process and minute.
"""

import ipaddress
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Final, Generic, TypeVar
from urllib.parse import urlsplit

import httpx
import numpy as np
from tenacity import RetryCallState, Retrying, retry_if_exception, wait_exponential

from accounts import metrics
from accounts.messages import message
from memory.providers import errors
from memory.providers.contracts import EmbeddingModel, Vectors, unit_vectors

DEFAULT_EMBEDDER = "local/all-minilm-l6-v2"  # no key, no network, no GPU
LOCAL_RERANKER = "static/maxsim"  # without a key, late interaction
FIRST_WAIT_SECONDS: Final = 0.25  # doubles with each retry; default, not measured
SHORTEST_SECONDS: Final = 0.001  # a timeout of 0 would mean none
Answer = TypeVar("Answer")
Client = TypeVar("Client")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long and how often one call may try before the caller goes on without it."""

    connect_seconds: float = 5.0
    total_seconds: float = 60.0  # retries included
    interactive_seconds: float = 2.0  # reliability figure G11: a request waits no longer
    retries: int = 2
    failures_to_open: int = 5  # reliability figure G11
    open_seconds: float = 60.0  # reliability figure G11
    answer_bytes: int = 32 * 1024 * 1024  # 1,000 vectors of 1,024 figures as JSON text


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """The models of an installation by key ("provider/name", "" = none) and how to reach them.

    Django's CAIRN_PROVIDERS names these fields. The name may be left out of the key "openai": it is
    then `openai_embedding_model`. Keys of vendors never appear in a repr.
    """

    models_dir: Path = Path("var/models")
    embedder: str = DEFAULT_EMBEDDER
    reranker: str = LOCAL_RERANKER
    local_threads: int = 1
    openai_base_url: str = ""  # "" = the vendor's own
    openai_api_key: str = field(default="", repr=False)
    openai_embedding_model: str = ""
    openai_chat_model: str = ""  # "" = no chat model
    openai_dimensions: int = 1024
    openai_asks_dimensions: bool = True  # some servers refuse to be asked
    cohere_base_url: str = ""  # "" = the vendor's own
    cohere_api_key: str = field(default="", repr=False)
    cohere_dimensions: int = 1024
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Refuse figures that no vendor can mean."""
        for name in ("local_threads", "openai_dimensions", "cohere_dimensions"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be 1 or more.")


class AnswerTooLong(httpx.TransportError):
    """The body has more bytes than an answer may have."""


class BoundedClient(httpx.Client):
    """A client whose every request is bounded by its read timeout as a total."""

    def __init__(self, *, base_url: str, limits: Limits) -> None:
        """Open nothing yet; a server on this machine is never asked for through a proxy."""
        direct: dict[str, None] = {}
        if is_on_this_machine(url=base_url):
            direct[f"all://{httpx.URL(base_url).netloc.decode()}"] = None
        super().__init__(mounts=direct, follow_redirects=False)
        self._limits = limits

    def send(
        self, request: httpx.Request, *, stream: bool = False, **options: Any
    ) -> httpx.Response:
        """Send, and return a response whose body minds the deadline and the size.

        Raises httpx.TransportError: no connection, no answer in time, or too long an answer.
        """
        asked = request.extensions.get("timeout", {}).get("read")
        total = self._limits.total_seconds if asked is None else float(asked)
        ends_at = time.monotonic() + total
        bounds = dict.fromkeys(("read", "write", "pool"), max(SHORTEST_SECONDS, total))
        bounds["connect"] = min(self._limits.connect_seconds, bounds["read"])
        request.extensions = {**request.extensions, "timeout": bounds}
        response = super().send(request, stream=True, **options)
        # the connection reads its bound anew when the body begins
        bounds["read"] = max(SHORTEST_SECONDS, ends_at - time.monotonic())
        response.stream = _BoundedBody(response.stream, ends_at, self._limits.answer_bytes)
        if not stream:
            try:
                response.read()
            finally:
                response.close()
        return response


class _BoundedBody(httpx.SyncByteStream):
    def __init__(
        self, inner: httpx.SyncByteStream | httpx.AsyncByteStream, ends_at: float, most_bytes: int
    ) -> None:
        if not isinstance(inner, httpx.SyncByteStream):
            raise TypeError("The bounded client is synchronous.")
        self._inner = inner
        self._ends_at = ends_at
        self._most_bytes = most_bytes

    def __iter__(self) -> Iterator[bytes]:
        count = 0
        for piece in self._inner:
            count += len(piece)
            if count > self._most_bytes:
                raise AnswerTooLong(f"The answer is longer than {self._most_bytes} bytes.")
            if time.monotonic() > self._ends_at:
                raise httpx.ReadTimeout("The answer was not complete in time.")
            yield piece

    def close(self) -> None:
        self._inner.close()


def error_of_exchange(*, provider: str, error: BaseException | None) -> errors.ProviderError:
    """Return the error of an exchange that ended without a whole answer."""
    if isinstance(error, httpx.TimeoutException):
        detail = message("{provider} did not answer in time.", provider=provider)
        return errors.ProviderTimeout(detail=detail, provider=provider)
    if isinstance(error, AnswerTooLong):
        detail = message("{provider} answered without end.", provider=provider)
        return errors.ProviderInvalidAnswer(detail=detail, provider=provider)
    if isinstance(error, httpx.HTTPError):
        detail = message("{provider} cannot be reached.", provider=provider)
        hint = "Check the base address."
        return errors.ProviderUnavailable(detail=detail, provider=provider, hint=hint)
    detail = message("{provider} gave an unreadable answer.", provider=provider)
    return errors.ProviderInvalidAnswer(detail=detail, provider=provider)


def is_on_this_machine(*, url: str) -> bool:
    """Say whether an address is a loopback one, so that texts sent there stay here."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name: it may lead anywhere
        return False


class Purpose(StrEnum):
    """What a vector is for; some vendors embed the two differently."""

    DOCUMENT = "document"
    QUERY = "query"


@dataclass(slots=True)
class _Circuit:
    """How often a provider failed in a row, and until when no call passes."""

    failures: int = 0
    blocked_until: float = 0.0


class Guard:
    """Runs calls of remote models; one a process, shared by its threads."""

    def __init__(
        self,
        *,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Start with every circuit closed; the clock counts seconds and never goes back."""
        self.limits = limits
        self._clock = clock
        self._sleep = sleep
        self._lock = Lock()
        self._circuits: dict[tuple[str, str], _Circuit] = {}  # those that failed lately

    def run(
        self,
        *,
        tenant: str,
        provider: str,
        seconds: float,
        call: Callable[[float], Answer],
        most_calls: int | None = None,
    ) -> Answer:
        """Return the answer of `call`, which is given the seconds left and checks its answer.

        It is called so often at most, once at least.

        Raises ProviderError as `call` does, once no retry may help or fits into `seconds`.
        """
        ends_at = self._clock() + seconds
        tries = self.limits.retries + 1
        most = tries if most_calls is None else min(tries, most_calls)

        def gives_up(state: RetryCallState) -> bool:
            is_too_late = self._clock() + state.upcoming_sleep >= ends_at
            return is_too_late or state.attempt_number >= most

        retrying = Retrying(
            retry=retry_if_exception(
                lambda error: isinstance(error, errors.ProviderError) and error.is_transient
            ),
            wait=_wait_seconds,
            stop=gives_up,
            sleep=self._sleep,
            reraise=True,
        )
        answer: Answer = retrying(self._try_once, (tenant, provider), ends_at, call)
        return answer

    def _try_once(
        self, scope: tuple[str, str], ends_at: float, call: Callable[[float], Answer]
    ) -> Answer:
        self._check_circuit(scope)
        began = time.perf_counter()
        try:
            answer = call(ends_at - self._clock())
        except errors.ProviderError as error:
            _count(scope[1], error.code, began)
            with self._lock:
                if not error.is_transient:  # a refusal shows that the provider lives
                    self._circuits.pop(scope, None)
                    raise
                circuit = self._circuits.setdefault(scope, _Circuit())
                circuit.failures += 1
                circuit.blocked_until = self._clock() + self.limits.open_seconds
            raise
        _count(scope[1], "ok", began)
        with self._lock:
            self._circuits.pop(scope, None)
        return answer

    def _check_circuit(self, scope: tuple[str, str]) -> None:
        """Raise CircuitOpen after failures in a row; after some seconds one call passes to probe.

        A probe that never reports gives way to the next one after the same time.
        """
        now = self._clock()
        with self._lock:
            circuit = self._circuits.get(scope)
            if circuit is None or circuit.failures < self.limits.failures_to_open:
                return
            left = circuit.blocked_until - now
            if left <= 0:
                circuit.blocked_until = now + self.limits.open_seconds
                return
        raise errors.CircuitOpen(
            detail=message(
                "{provider} failed {times} times in a row and is left alone.",
                provider=scope[1],
                times=circuit.failures,
            ),
            provider=scope[1],
            hint=message("It is tried again in {seconds} s.", seconds=round(left)),
        )


def _count(provider: str, outcome: str, began: float) -> None:
    seconds = time.perf_counter() - began
    metrics.MODEL_CALL_SECONDS.labels(provider, outcome).observe(seconds)


def _wait_seconds(state: RetryCallState) -> float:
    """Return 0.25 s, doubled with each retry, or what the vendor asks for where that is longer."""
    wait = wait_exponential(multiplier=FIRST_WAIT_SECONDS)(state)
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, errors.ProviderRateLimited):
        return max(wait, error.retry_after_seconds)
    return wait


@dataclass(kw_only=True)
class RemoteEmbedder(ABC, Generic[Client]):
    """An embedder of a vendor, for one tenant; a subclass sends one request.

    A person waits for queries, so they have the shorter deadline; nobody waits for documents.
    """

    batch_texts: ClassVar[int]

    model: EmbeddingModel
    name: str  # the vendor's own
    is_local: bool
    client: Client
    guard: Guard
    tenant: str

    @abstractmethod
    def request(self, *, texts: tuple[str, ...], purpose: Purpose, seconds: float) -> object:
        """Return one row a text within `seconds`, not checked yet; raise ProviderError."""

    def embed_documents(self, *, texts: tuple[str, ...]) -> Vectors:
        return self._embed(texts, Purpose.DOCUMENT, self.guard.limits.total_seconds)

    def embed_queries(self, *, texts: tuple[str, ...]) -> Vectors:
        return self._embed(texts, Purpose.QUERY, self.guard.limits.interactive_seconds)

    def _embed(self, texts: tuple[str, ...], purpose: Purpose, seconds: float) -> Vectors:
        vectors = [np.zeros((0, self.model.dimensions), dtype=np.float32)]
        for start in range(0, len(texts), self.batch_texts):
            batch = texts[start : start + self.batch_texts]
            vectors.append(
                self.guard.run(
                    tenant=self.tenant,
                    provider=self.model.provider,
                    seconds=seconds,
                    call=partial(self._embed_batch, batch, purpose),
                )
            )
        return np.concatenate(vectors)

    def _embed_batch(self, texts: tuple[str, ...], purpose: Purpose, seconds: float) -> Vectors:
        rows = self.request(texts=texts, purpose=purpose, seconds=seconds)
        return unit_vectors(rows=rows, count=len(texts), model=self.model)
