"""An installation whose embedder is the vendor on the loopback interface."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from memory.providers import registry
from memory.providers.settings import Limits, ProviderSettings
from tests.support.vendor_server import Vendor, running_vendor

KEY = "openai/long@1024"
ONCE = Limits(retries=0, interactive_seconds=10.0)


@contextmanager
def installed_vendor() -> Iterator[Vendor]:
    """Use its long vectors until the block ends."""
    before = settings.CAIRN_PROVIDERS["embedder"]
    with running_vendor() as running:
        registry.configure(
            settings=ProviderSettings(
                embedder="openai/long", openai_base_url=f"{running.url}/v1", limits=ONCE
            )
        )
        yield running
    registry.configure(settings=ProviderSettings(embedder=before))
