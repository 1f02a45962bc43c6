"""Real weights and a vendor on the loopback interface."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory.providers.guard import Limits, ProviderSettings
from memory.providers.registry import Vendors
from tests.support import models
from tests.support.vendor_server import Fault, Vendor, running_vendor

PATIENT = Limits(total_seconds=60, interactive_seconds=60, retries=0, answer_bytes=1_000_000)
QUICK = replace(PATIENT, total_seconds=0.5, interactive_seconds=0.3)
SILENT = (Fault.DRIP, Fault.HANG, Fault.HANG_AFTER_HEADERS)  # what only a deadline ends


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The folder with the local models."""
    return models.models_dir()


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    """A vendor whose script the test writes."""
    with running_vendor() as running:
        yield running


@pytest.fixture
def limits(request: pytest.FixtureRequest) -> Limits:
    """Wait long for a vendor that answers, and briefly for one that never will."""
    call = getattr(request.node, "callspec", None)
    return QUICK if call is not None and call.params.get("fault") in SILENT else PATIENT


@pytest.fixture
def vendors(vendor: Vendor, limits: Limits) -> Vendors:
    """The product's set of vendors, pointed at the loopback one, without retries."""
    settings = ProviderSettings(
        embedder="openai/small", reranker="cohere/rerank", openai_base_url=f"{vendor.url}/v1",
        openai_chat_model="chat", openai_dimensions=384, cohere_base_url=vendor.url,
        cohere_api_key="a-key", cohere_dimensions=384, limits=limits,
    )  # fmt: skip
    return Vendors(settings=settings)
