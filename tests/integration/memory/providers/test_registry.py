"""From a model key to a ready vendor."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from memory.providers import registry
from memory.providers.errors import ProviderUnavailable
from memory.providers.guard import ProviderSettings
from tests.support.vendor_server import Vendor


@pytest.fixture(autouse=True)
def configured(models_dir: Path) -> Iterator[None]:
    """The installation's defaults on real weights; nothing of it outlives a test."""
    registry.configure(settings=ProviderSettings(models_dir=models_dir))
    yield
    registry.reset()


def test_the_default_models_are_local_and_answer() -> None:
    embedder, reranker = registry.embedder(tenant="acme"), registry.reranker(tenant="acme")

    assert embedder.model.key == "local/all-minilm-l6-v2"
    assert embedder.embed_queries(texts=("anything",))[0].shape == (384,)
    assert reranker is not None
    assert len(reranker.rerank(query="a", texts=("b", "c"))) == 2
    assert (embedder.is_local, reranker.is_local) == (True, True)
    assert registry.chat_model(tenant="acme") is None


SPACES = {
    "": (384, "local/all-minilm-l6-v2"),
    "static/potion-base-8m": (256, "static/potion-base-8m"),
    "openai/text-embedding-3-small": (1024, "openai/text-embedding-3-small@1024"),
    "openai/text-embedding-3-small@512": (512, "openai/text-embedding-3-small@512"),
    "openai/@cf/baai/bge-small": (1024, "openai/@cf/baai/bge-small@1024"),
    "cohere/embed-v4.0": (1024, "cohere/embed-v4.0@1024"),
    "cohere/embed-v4.0@256": (256, "cohere/embed-v4.0@256"),
}


def test_a_key_stands_for_one_vector_space_and_an_unknown_one_is_refused_with_the_known() -> None:
    for key, space in SPACES.items():
        model = registry.embedder(key=key).model
        assert (model.dimensions, model.key) == space
    for key in ("local/other", "nobody/x", "openai", "openai/", "x" * 1000):
        with pytest.raises(ProviderUnavailable) as raised:
            registry.embedder(key=key, tenant="acme")
        assert "local/all-minilm-l6-v2" in raised.value.hint


def test_the_name_of_an_openai_model_may_come_from_its_own_setting() -> None:
    registry.configure(settings=ProviderSettings(embedder="openai", openai_embedding_model="nomic"))

    assert registry.embedder().model.key == "openai/nomic@1024"


def test_a_server_on_this_machine_counts_as_local(vendor: Vendor) -> None:
    registry.configure(settings=ProviderSettings(openai_base_url=f"{vendor.url}/v1"))

    assert registry.embedder(key="openai/nomic").is_local
    assert not registry.embedder(key="cohere/embed-v4.0").is_local


def test_without_configuration_the_installations_settings_count(settings: Settings) -> None:
    registry.reset()
    settings.CAIRN_PROVIDERS = {"embedder": "static/potion-base-8m"}

    assert registry.embedder().model.key == "static/potion-base-8m"
