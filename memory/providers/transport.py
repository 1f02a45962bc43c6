"""An HTTP client that ends a whole exchange in time and refuses endless answers.

The vendors' clients send through it. Their own timeouts bound one read, so that an answer of one
byte a second never ends; here the read timeout given with a request is the total from sending to
the last byte of the body, and connecting has its own bound.
"""

import ipaddress
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

# Which models an installation uses, as one frozen value.
#
# Django's CAIRN_PROVIDERS names its fields. Keys of vendors never appear in a repr.

DEFAULT_EMBEDDER = "local/all-minilm-l6-v2"  # no key, no network, no GPU
DEFAULT_RERANKER = "static/maxsim"  # without a key, late interaction


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
    """The models by key ("provider/name", "" = none) and how to reach them.

    The name may be left out of the key "openai": it is then `openai_embedding_model`.
    """

    models_dir: Path = Path("var/models")
    embedder: str = DEFAULT_EMBEDDER
    reranker: str = DEFAULT_RERANKER
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


def from_mapping(*, given: Mapping[str, object]) -> ProviderSettings:
    """Return the settings whose fields a mapping names; the rest keep their defaults.

    Raises:
        ValueError: a name is not a field; the sentence lists those that are.
    """
    known = {each.name for each in fields(ProviderSettings)}
    unknown = sorted(given.keys() - known)
    if unknown:
        raise ValueError(
            f"Unknown model settings: {', '.join(unknown)}. Known: {', '.join(sorted(known))}."
        )
    values: dict[str, Any] = dict(given)
    return ProviderSettings(**values)


SHORTEST_SECONDS: Final = 0.001  # a timeout of 0 would mean none


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

        Raises:
            httpx.TransportError: no connection, no answer in time, or too long an answer.
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


def is_on_this_machine(*, url: str) -> bool:
    """Say whether an address is a loopback one, so that texts sent there stay here."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name: it may lead anywhere
        return False
