"""Installations whose embedder or chat model is the vendor on the loopback interface."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.conf import settings

from memory.providers import registry
from memory.providers.guard import Limits, ProviderSettings
from tests.support.vendor_server import Vendor, running_vendor

KEY: Final = "openai/long@1024"
ONCE: Final = Limits(retries=0, interactive_seconds=10.0)
IMPATIENT: Final = Limits(retries=0, total_seconds=0.5, connect_seconds=0.5)
CHAT_MODEL: Final = "small"


@contextmanager
def installed(**given: Any) -> Iterator[None]:
    """Give the installation these settings beside its usual embedder until the block ends."""
    usual: dict[str, Any] = {"embedder": settings.CAIRN_PROVIDERS["embedder"]}
    registry.configure(settings=ProviderSettings(**{**usual, **given}))
    try:
        yield
    finally:
        registry.configure(settings=ProviderSettings(**usual))


@contextmanager
def reranking_vendor() -> Iterator[Vendor]:
    """Use its reranker and its chat model until the block ends."""
    with (
        running_vendor() as running,
        installed(
            reranker="cohere/rerank-v3", cohere_base_url=running.url, cohere_api_key="x",
            openai_base_url=f"{running.url}/v1", openai_api_key="x", openai_chat_model=CHAT_MODEL,
        ),
    ):  # fmt: skip
        yield running


@contextmanager
def installed_vendor() -> Iterator[Vendor]:
    """Use its long vectors until the block ends."""
    with (
        running_vendor() as running,
        installed(embedder="openai/long", openai_base_url=f"{running.url}/v1", limits=ONCE),
    ):
        yield running


@contextmanager
def chatting_vendor(*, model: str = CHAT_MODEL, limits: Limits = IMPATIENT) -> Iterator[Vendor]:
    """Ask its chat model until the block ends."""
    with running_vendor() as running, installed():
        chat_at(url=running.url, model=model, limits=limits)
        yield running


def chat_at(*, url: str, model: str = CHAT_MODEL, limits: Limits = IMPATIENT) -> None:
    """Let the chat model from now on be one at this address."""
    registry.configure(
        settings=ProviderSettings(
            embedder=settings.CAIRN_PROVIDERS["embedder"],
            openai_base_url=f"{url}/v1",
            openai_api_key="x",
            openai_chat_model=model,
            limits=limits,
        )
    )


def by_its_name(*, vendor: Vendor) -> str:
    """Return the address of a vendor as one that may be on another machine."""
    return vendor.url.replace("127.0.0.1", socket.gethostname())
