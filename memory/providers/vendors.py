"""The set of vendors one process uses: built once a model key, bound to each tenant.

In the flow: `registry` holds one `Vendors`; it builds by the first part of the key.
"""

from collections.abc import Callable
from threading import Lock

from memory.providers import hashing
from memory.providers.contracts import ChatModel, Embedder, EmbeddingModel, Provider, Reranker
from memory.providers.errors import ProviderUnavailable
from memory.providers.settings import ProviderSettings


class Vendors:
    """Models by key, loaded at first use and shared by all tenants of the process."""

    def __init__(self, *, settings: ProviderSettings) -> None:
        """Keep the settings; nothing is loaded yet."""
        self.settings = settings
        self._lock = Lock()
        self._embedders: dict[str, Embedder] = {}

    def embedder(self, *, key: str, tenant: str) -> Embedder:
        """Return the embedder of a key."""
        with self._lock:
            if key not in self._embedders:
                self._embedders[key] = _embedder_builder(key)(self.settings, key)
            return self._embedders[key]

    def embedding_model(self, *, key: str) -> EmbeddingModel:
        """Return what a key stands for."""
        return self.embedder(key=key, tenant="").model

    def reranker(self, *, tenant: str) -> Reranker | None:
        """Return the configured reranker, or None."""
        return None

    def chat_model(self, *, tenant: str) -> ChatModel | None:
        """Return the configured chat model, or None."""
        return None


def _embedder_builder(key: str) -> Callable[[ProviderSettings, str], Embedder]:
    builder = EMBEDDER_BUILDERS.get(key.partition("/")[0])
    if builder is None:
        known = ", ".join(sorted(EMBEDDER_BUILDERS))
        raise ProviderUnavailable(
            detail=f"No embedder is called {key!r}.",
            hint=f'Use "provider/model"; providers: {known}.',
        )
    return builder


def _hashing(settings: ProviderSettings, key: str) -> Embedder:
    del settings, key
    return hashing.HashingEmbedder()


def _local(settings: ProviderSettings, key: str) -> Embedder:
    from memory.providers import local  # noqa: PLC0415 - brings the runtime, 0.2 s and 40 MB

    del key
    return local.LocalEmbedder(models_folder=settings.models_folder, threads=settings.local_threads)


EMBEDDER_BUILDERS: dict[str, Callable[[ProviderSettings, str], Embedder]] = {
    Provider.HASHING: _hashing,
    Provider.LOCAL: _local,
}
