"""From a model key to a ready vendor, one set per process.

What `embedder`, `reranker` and `chat_model` return is bound to the tenant (its schema name),
guarded and checked. The settings come from `configure` or, without it, from Django's
CAIRN_PROVIDERS. A remote embedder's key names its dimensions too ("openai/name@1024"): vectors of
another length are another space.
"""

# ruff: noqa: PLC0415 - clients and runtimes take up to 45 MB and half a second: loaded at first use

import logging
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar, cast

from accounts.messages import message
from memory.providers import contracts
from memory.providers.errors import ProviderUnavailable
from memory.providers.guard import LOCAL_RERANKER, Guard, ProviderSettings, is_on_this_machine

if TYPE_CHECKING:
    import cohere
    import openai

log = logging.getLogger(__name__)

OPENAI: Final = contracts.Provider.OPENAI_COMPATIBLE.value
COHERE: Final = contracts.Provider.COHERE.value
COHERE_DEFAULT: Final = f"{COHERE}/embed-v4.0"
LOCAL_EMBEDDERS: Final = (
    "local/all-minilm-l6-v2",
    "static/potion-base-8m",
    "hashing/words-384",
    "hashing/turned-384",
)
SPACE: Final = re.compile(r"(?P<model>.+)@(?P<dimensions>[1-9][0-9]{0,4})\Z", re.DOTALL)
Built = TypeVar("Built")


class Vendors:
    """Clients and models, loaded at first use and shared by all tenants of the process."""

    def __init__(self, *, settings: ProviderSettings) -> None:
        self.settings = settings
        self._guard = Guard(limits=settings.limits)
        self._lock = Lock()
        self._built: dict[str, object] = {}

    def embedder(self, *, key: str, tenant: str) -> contracts.Embedder:
        """Return the embedder of a key; raise ProviderUnavailable where there is none."""
        whole = self.complete_key(key=key)
        if whole in LOCAL_EMBEDDERS:
            return self._once(whole, partial(_local_model, whole, self.settings))
        provider, _, name = whole.partition("/")
        space = SPACE.match(name)
        if provider not in {COHERE, OPENAI} or space is None:
            raise _unknown(message("embedder"), whole, (COHERE, OPENAI))
        model = contracts.EmbeddingModel(key=whole, dimensions=int(space["dimensions"]))
        if provider == COHERE:
            from memory.providers.cohere_api import CohereEmbedder

            return CohereEmbedder(
                model=model,
                name=space["model"],
                is_local=False,
                client=self._cohere_client(),
                guard=self._guard,
                tenant=tenant,
            )
        from memory.providers.openai_compatible import OpenAIEmbedder

        return OpenAIEmbedder(
            model=model,
            name=space["model"],
            is_local=is_on_this_machine(url=self.settings.openai_base_url),
            client=self._openai_client(),
            guard=self._guard,
            tenant=tenant,
            asks_dimensions=self.settings.openai_asks_dimensions,
        )

    def reranker(self, *, tenant: str) -> contracts.Reranker | None:
        """Return the configured reranker, or None; raise ProviderUnavailable where unknown."""
        key = self.settings.reranker
        if not key:
            return None
        if key == LOCAL_RERANKER:
            from memory.providers.static import LateInteractionReranker

            return self._once(
                key, partial(LateInteractionReranker, models_dir=self.settings.models_dir)
            )
        provider, _, name = key.partition("/")
        if provider != COHERE or not name:
            raise _unknown(message("reranker"), key, (COHERE,))
        from memory.providers.cohere_api import CohereReranker

        client = self._cohere_client()
        return CohereReranker(key=key, client=client, guard=self._guard, tenant=tenant)

    def chat_model(self, *, tenant: str) -> contracts.ChatModel | None:
        """Return the configured chat model, or None."""
        if not self.settings.openai_chat_model:
            return None
        from memory.providers.openai_compatible import OpenAIChatModel

        return OpenAIChatModel(
            key=f"{OPENAI}/{self.settings.openai_chat_model}",
            is_local=is_on_this_machine(url=self.settings.openai_base_url),
            is_of_openai=not self.settings.openai_base_url,
            client=self._openai_client(),
            guard=self._guard,
            tenant=tenant,
        )

    def complete_key(self, *, key: str) -> str:
        """Return the whole key of an embedder: with the configured model and dimensions.

        One that nothing here knows is returned as it is.
        """
        provider, _, name = key.partition("/")
        if key == OPENAI:
            name = self.settings.openai_embedding_model
        dimensions = {
            OPENAI: self.settings.openai_dimensions,
            COHERE: self.settings.cohere_dimensions,
        }
        if provider not in dimensions or not name or SPACE.match(name):
            return key
        return f"{provider}/{name}@{dimensions[provider]}"

    def _cohere_client(self) -> "cohere.ClientV2":
        from memory.providers import cohere_api

        return self._once(COHERE, partial(cohere_api.open_client, settings=self.settings))

    def _openai_client(self) -> "openai.OpenAI":
        from memory.providers import openai_compatible

        return self._once(OPENAI, partial(openai_compatible.open_client, settings=self.settings))

    def _once(self, key: str, build: Callable[[], Built]) -> Built:
        with self._lock:
            if key not in self._built:
                self._built[key] = build()
            return cast("Built", self._built[key])


_lock = Lock()
_configured: list[Vendors] = []  # none or one: the process-wide set


def configure(*, settings: ProviderSettings) -> None:
    """Use these settings from now on and forget every loaded model."""
    with _lock:
        _configured[:] = [Vendors(settings=settings)]


def reset() -> None:
    """Forget settings and loaded models; the next use reads Django's settings again."""
    with _lock:
        _configured.clear()


def models_dir() -> Path:
    """Return the folder of what was fetched or made once for models, and for rules."""
    return _current().settings.models_dir


def embedder(*, key: str = "", tenant: str = "") -> contracts.Embedder:
    """Return the embedder of a model key, by default the installation's; load nothing yet.

    Raises ProviderUnavailable where there is no such model.
    """
    current = _current()
    return current.embedder(key=key or current.settings.embedder, tenant=tenant)


def preload() -> None:
    """Load the installation's models of this machine, for processes that are forked from this one.

    One without its weights is left to those who use it: they answer without, and say so.
    """
    settings = _current().settings
    try:
        if runs_here(key=settings.embedder) and settings.local_threads == 1:
            embedder().embed_queries(texts=("a text",))
        if settings.reranker == LOCAL_RERANKER and (model := reranker()) is not None:
            model.rerank(query="a text", texts=("another text",))
    except ProviderUnavailable as error:
        log.warning("A model was not loaded: %s", error.detail)


def runs_here(*, key: str) -> bool:
    """Say whether an embedder runs in this process, so that no network can keep it from us."""
    return key in LOCAL_EMBEDDERS


def known_embedders() -> tuple[str, ...]:
    """Return the keys of embedders that this installation has or is configured for."""
    current = _current()
    named = (
        OPENAI if current.settings.openai_embedding_model else "",
        COHERE_DEFAULT if current.settings.cohere_api_key else "",
        current.settings.embedder,
    )
    local = tuple(key for key in LOCAL_EMBEDDERS if not key.startswith(contracts.Provider.HASHING))
    remote = tuple(current.complete_key(key=key) for key in named if key)
    return tuple(dict.fromkeys(local + remote))


def reranker(*, tenant: str = "") -> contracts.Reranker | None:
    """Return the installation's reranker, or None where none is configured.

    Raises ProviderUnavailable where there is no such model.
    """
    return _current().reranker(tenant=tenant)


def chat_model(*, tenant: str = "") -> contracts.ChatModel | None:
    """Return the installation's chat model, or None where none is configured."""
    return _current().chat_model(tenant=tenant)


def _current() -> Vendors:
    with _lock:
        if not _configured:
            from django.conf import settings  # the command line tools run without Django

            _configured.append(Vendors(settings=ProviderSettings(**settings.CAIRN_PROVIDERS)))
        return _configured[0]


def _unknown(what: str, key: str, known: tuple[str, ...]) -> ProviderUnavailable:
    return ProviderUnavailable(
        detail=message("No {what} is called {key!r}.", what=what, key=key),
        hint=message(
            'Use "provider/model" with one of {known}, or a model of this machine: {local}.',
            known=known,
            local=tuple(sorted(LOCAL_EMBEDDERS)),
        ),
    )


def _local_model(key: str, settings: ProviderSettings) -> contracts.LocalModel:
    if key.startswith(contracts.Provider.LOCAL):
        from memory.providers.local import LocalEmbedder

        return LocalEmbedder(models_dir=settings.models_dir, threads=settings.local_threads)
    if key.startswith(contracts.Provider.STATIC):
        from memory.providers.static import StaticEmbedder

        return StaticEmbedder(models_dir=settings.models_dir)
    from memory.providers.static import HashingEmbedder, TurnedEmbedder

    return TurnedEmbedder() if key == TurnedEmbedder.model.key else HashingEmbedder()
