"""The set of vendors one process uses: built once a model key, bound to each tenant.

In the flow: `registry` holds one `Vendors`; it looks up in `builders` by the whole key, for the
models on this machine, or by the provider before the slash.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock
from typing import TypeVar, cast

from accounts.messages import message
from memory.providers import builders
from memory.providers.contracts import ChatModel, Embedder, EmbeddingModel, Provider, Reranker
from memory.providers.errors import ProviderUnavailable
from memory.providers.guard import Budget, Count, Guard
from memory.providers.guarded import (
    CheckedEmbedder,
    GuardedChatModel,
    GuardedEmbedder,
    GuardedReranker,
    Guarding,
)
from memory.providers.settings import ProviderSettings

Built = TypeVar("Built")


class Vendors:
    """Models by key, loaded at first use and shared by all tenants of the process."""

    def __init__(self, *, settings: ProviderSettings, budget: Budget) -> None:
        """Keep the settings; nothing is loaded yet."""
        self.settings = settings
        self._guard = Guard(
            limits=settings.limits, clock=time.monotonic, sleep=time.sleep, budget=budget
        )
        self._lock = Lock()
        self._built: dict[tuple[str, str], object] = {}

    def embedder(self, *, key: str, tenant: str) -> Embedder:
        """Return the embedder of a key; raise ProviderUnavailable where there is none."""
        whole = builders.completed(key=key, settings=self.settings)
        local = builders.LOCAL_EMBEDDERS.get(whole)
        if local is not None:
            inner = self._once("embedder", whole, partial(local, self.settings))
            return CheckedEmbedder(inner=inner)
        build, name = _remote(message("embedder"), whole, builders.REMOTE_EMBEDDERS)
        remote = self._once("embedder", whole, partial(build, self.settings, name))
        return GuardedEmbedder(inner=remote, guarding=self._guarding(tenant))

    def embedding_model(self, *, key: str) -> EmbeddingModel:
        """Return what a key stands for; raise ProviderUnavailable where there is none."""
        return self.embedder(key=key, tenant="").model

    def reranker(self, *, tenant: str) -> Reranker | None:
        """Return the configured reranker, or None; raise ProviderUnavailable where unknown."""
        key = self.settings.reranker
        if not key:
            return None
        local = builders.LOCAL_RERANKERS.get(key)
        if local is not None:
            return self._once("reranker", key, partial(local, self.settings))
        build, name = _remote(message("reranker"), key, builders.REMOTE_RERANKERS)
        remote = self._once("reranker", key, partial(build, self.settings, name))
        return GuardedReranker(inner=remote, guarding=self._guarding(tenant))

    def chat_model(self, *, tenant: str) -> ChatModel | None:
        """Return the configured chat model, or None."""
        if not self.settings.openai_chat_model:
            return None
        key = f"{Provider.OPENAI_COMPATIBLE}/{self.settings.openai_chat_model}"
        build, name = _remote(message("chat model"), key, builders.CHAT_MODELS)
        remote = self._once("chat", key, partial(build, self.settings, name))
        return GuardedChatModel(inner=remote, guarding=self._guarding(tenant))

    def counts(self) -> tuple[Count, ...]:
        """Return what happened to remote calls so far."""
        return self._guard.counts()

    def _guarding(self, tenant: str) -> Guarding:
        return Guarding(guard=self._guard, limits=self.settings.limits, tenant=tenant)

    def _once(self, kind: str, key: str, build: Callable[[], Built]) -> Built:
        with self._lock:
            if (kind, key) not in self._built:
                self._built[kind, key] = build()
            return cast("Built", self._built[kind, key])


def _remote(what: str, key: str, table: Mapping[str, Built]) -> tuple[Built, str]:
    provider, _, name = key.partition("/")
    if provider not in table or not name:
        raise ProviderUnavailable(
            detail=message("No {what} is called {key!r}.", what=what, key=key),
            hint=message(
                'Use "provider/model" with one of {known}, or a model of this machine: {local}.',
                known=tuple(sorted(table)),
                local=tuple(sorted(builders.LOCAL_EMBEDDERS)),
            ),
        )
    return table[provider], name
