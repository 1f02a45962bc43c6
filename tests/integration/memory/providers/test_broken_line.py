"""The line to a vendor breaks: an error within the deadline, and an answer when it is mended."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from memory.providers.errors import ProviderTimeout, ProviderUnavailable
from memory.providers.guard import ProviderSettings
from memory.providers.registry import Vendors
from tests.integration.memory.providers.conftest import QUICK
from tests.support.fault_proxy import HALF_OPEN, REFUSING, RESETTING, SOUND, Fault, FaultProxy
from tests.support.vendor_server import Vendor

KEY = "openai/small"
TEXTS = ("retry the webhook",)
BROKEN = (
    (HALF_OPEN, ProviderTimeout),
    (Fault(stall_after=400), ProviderTimeout),
    (Fault(bytes_per_second=200), ProviderTimeout),
    (RESETTING, ProviderUnavailable),
    (REFUSING, ProviderUnavailable),
)


@pytest.fixture
def line(vendor: Vendor) -> Iterator[FaultProxy]:
    """A line to the vendor."""
    port = urlsplit(vendor.url).port
    assert port is not None
    with FaultProxy(target=port) as running:
        yield running


@pytest.fixture
def over_line(line: FaultProxy) -> Vendors:
    """The product's vendors over that line; a few failures do not keep them from trying again."""
    settings = ProviderSettings(
        embedder=KEY,
        openai_base_url=f"http://127.0.0.1:{line.port}/v1",
        openai_dimensions=384,
        limits=replace(QUICK, failures_to_open=100),
    )
    return Vendors(settings=settings)


@pytest.mark.parametrize(("fault", "told"), BROKEN)
def test_a_broken_line_is_told_and_a_mended_one_used(
    fault: Fault, told: type[Exception], line: FaultProxy, over_line: Vendors
) -> None:
    embedder = over_line.embedder(key=KEY, tenant="t")
    line.set(fault)
    with pytest.raises(told):
        embedder.embed_documents(texts=TEXTS)

    line.set(SOUND)
    line.reset()
    mended = over_line.embedder(key=KEY, tenant="u")

    assert mended.embed_documents(texts=TEXTS).shape == (1, 384)
