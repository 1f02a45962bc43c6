"""How each vendor's models are made from the settings: one table a kind.

In the flow: `vendors` looks a provider up here. Modules of vendors are imported where they are
first used: their clients and runtimes take up to 45 MB and half a second. A remote embedder's key
names its dimensions too ("openai/name@1024"): vectors of another length are another space.
"""

# ruff: noqa: PLC0415 - see above

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from memory.providers.contracts import Embedder, Provider, Reranker
from memory.providers.guarded import RemoteChatModel, RemoteEmbedder, RemoteReranker
from memory.providers.settings import ProviderSettings

SPACE = re.compile(r"(?P<model>.+)@(?P<dimensions>[1-9][0-9]{0,4})\Z", re.DOTALL)

COHERE_DEFAULT = f"{Provider.COHERE}/embed-v4.0"


def completed(*, key: str, settings: ProviderSettings) -> str:
    """Return the whole key of an embedder: with the model and the dimensions that are configured.

    One that no table knows is returned as it is.
    """
    provider, _, name = key.partition("/")
    if key == Provider.OPENAI_COMPATIBLE:
        name = settings.openai_embedding_model
    dimensions = {
        Provider.OPENAI_COMPATIBLE.value: settings.openai_dimensions,
        Provider.COHERE.value: settings.cohere_dimensions,
    }.get(provider)
    if dimensions is None or not name or SPACE.match(name):
        return key
    return f"{provider}/{name}@{dimensions}"


def offered(*, settings: ProviderSettings) -> tuple[str, ...]:
    """Return the whole keys that people may choose from: local ones, and what is configured."""
    local = tuple(key for key in LOCAL_EMBEDDERS if not key.startswith(Provider.HASHING))
    named = (
        Provider.OPENAI_COMPATIBLE.value if settings.openai_embedding_model else "",
        COHERE_DEFAULT if settings.cohere_api_key else "",
        settings.embedder,
    )
    whole = (completed(key=key, settings=settings) for key in named if key)
    return tuple(dict.fromkeys((*local, *whole)))


def _hashing(settings: ProviderSettings) -> Embedder:
    from memory.providers import hashing

    del settings
    return hashing.HashingEmbedder()


def _turned(settings: ProviderSettings) -> Embedder:
    from memory.providers import hashing

    del settings
    return hashing.TurnedEmbedder()


def _local(settings: ProviderSettings) -> Embedder:
    from memory.providers import local

    return local.LocalEmbedder(models_dir=settings.models_dir, threads=settings.local_threads)


def _static(settings: ProviderSettings) -> Embedder:
    from memory.providers import static

    return static.StaticEmbedder(models_dir=settings.models_dir)


def _openai_embedder(settings: ProviderSettings, name: str) -> RemoteEmbedder:
    from memory.providers import openai_compatible

    model, dimensions = _space(name)
    asked = replace(settings, openai_dimensions=dimensions)
    return openai_compatible.OpenAIEmbedder(model=model, settings=asked)


def _cohere_embedder(settings: ProviderSettings, name: str) -> RemoteEmbedder:
    from memory.providers import cohere_api

    model, dimensions = _space(name)
    asked = replace(settings, cohere_dimensions=dimensions)
    return cohere_api.CohereEmbedder(model=model, settings=asked)


def _cohere_reranker(settings: ProviderSettings, name: str) -> RemoteReranker:
    from memory.providers import cohere_api

    return cohere_api.CohereReranker(model=name, settings=settings)


def _openai_chat(settings: ProviderSettings, name: str) -> RemoteChatModel:
    from memory.providers import openai_compatible

    return openai_compatible.OpenAIChatModel(model=name, settings=settings)


def _late_interaction(settings: ProviderSettings) -> Reranker:
    from memory.providers import late_interaction, static

    tokens = static.StaticEmbedder(models_dir=settings.models_dir)
    return late_interaction.LateInteractionReranker(tokens=tokens)


LOCAL_EMBEDDERS: Mapping[str, Callable[[ProviderSettings], Embedder]] = {
    "local/all-minilm-l6-v2": _local,
    "static/potion-base-8m": _static,
    "hashing/words-384": _hashing,
    "hashing/turned-384": _turned,
}
REMOTE_EMBEDDERS: Mapping[str, Callable[[ProviderSettings, str], RemoteEmbedder]] = {
    Provider.OPENAI_COMPATIBLE: _openai_embedder,
    Provider.COHERE: _cohere_embedder,
}
LOCAL_RERANKERS: Mapping[str, Callable[[ProviderSettings], Reranker]] = {
    "static/maxsim": _late_interaction,
}
REMOTE_RERANKERS: Mapping[str, Callable[[ProviderSettings, str], RemoteReranker]] = {
    Provider.COHERE: _cohere_reranker,
}
CHAT_MODELS: Mapping[str, Callable[[ProviderSettings, str], RemoteChatModel]] = {
    Provider.OPENAI_COMPATIBLE: _openai_chat,
}


def _space(name: str) -> tuple[str, int]:
    found = SPACE.match(name)
    if found is None:
        raise ValueError(f"{name!r} names no dimensions.")
    return found["model"], int(found["dimensions"])
