"""From a model key to a ready vendor, one per process.

In the flow: actions call `default_embedder`, `embedder`, `reranker` and `chat_model`. What they
get is bound to the tenant, guarded and checked; weights and clients load at the first use.
The settings come from `configure` or, without it, from Django's CAIRN_PROVIDERS.
"""

from pathlib import Path
from threading import Lock

from memory.providers import builders, vendors
from memory.providers.contracts import ChatModel, Embedder, EmbeddingModel, Reranker
from memory.providers.guard import Budget, Count, Unlimited
from memory.providers.settings import ProviderSettings, from_mapping

UNLIMITED = Unlimited()

_lock = Lock()
_configured: list[vendors.Vendors] = []  # none or one: the process-wide set


def configure(*, settings: ProviderSettings, budget: Budget = UNLIMITED) -> None:
    """Use these settings and this budget from now on and forget every loaded model."""
    fresh = vendors.Vendors(settings=settings, budget=budget)
    with _lock:
        _configured[:] = [fresh]


def reset() -> None:
    """Forget settings and loaded models; the next use reads Django's settings again."""
    with _lock:
        _configured.clear()


def models_dir() -> Path:
    """Return the folder of what was fetched or made once for models, and for rules."""
    return _current().settings.models_dir


def default_embedder(*, tenant: str = "") -> Embedder:
    """Return the installation's embedder, guarded for this tenant (its schema name).

    Raises:
        ProviderUnavailable: no such model, or its weights are not on this machine.
    """
    current = _current()
    return current.embedder(key=current.settings.embedder, tenant=tenant)


def embedder(*, key: str, tenant: str = "") -> Embedder:
    """Return the embedder of a model key such as "local/all-minilm-l6-v2".

    Raises:
        ProviderUnavailable: no such model, or its weights are not on this machine.
    """
    return _current().embedder(key=key, tenant=tenant)


def embedding_model(*, key: str = "") -> EmbeddingModel:
    """Return what a key stands for ("" = the installation's choice) and load nothing.

    Raises:
        ProviderUnavailable: no such model.
    """
    current = _current()
    return current.embedding_model(key=key or current.settings.embedder)


def known_embedders() -> tuple[str, ...]:
    """Return the keys of embedders that this installation has or is configured for."""
    return builders.offered(settings=_current().settings)


def reranker(*, tenant: str = "") -> Reranker | None:
    """Return the installation's reranker, or None where none is configured.

    Raises:
        ProviderUnavailable: no such model.
    """
    return _current().reranker(tenant=tenant)


def chat_model(*, tenant: str = "") -> ChatModel | None:
    """Return the installation's chat model, or None where none is configured.

    Raises:
        ProviderUnavailable: no such model.
    """
    return _current().chat_model(tenant=tenant)


def counts() -> tuple[Count, ...]:
    """Return how often each thing happened to remote calls in this process."""
    return _current().counts()


def _current() -> vendors.Vendors:
    with _lock:
        if not _configured:
            _configured.append(vendors.Vendors(settings=_from_django(), budget=UNLIMITED))
        return _configured[0]


def _from_django() -> ProviderSettings:
    from django.conf import settings  # noqa: PLC0415 - the command line tools run without Django

    return from_mapping(given=settings.CAIRN_PROVIDERS)
