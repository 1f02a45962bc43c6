"""While no embedder answers, agents are told that only words were compared.

Its organization begins with the vendor that fails, so it has a module of its own.
"""

import pytest

from accounts import live
from accounts.live import Backoff
from tests.support.agents import agent
from tests.support.live import Place
from tests.support.vendor_server import Status
from tests.support.vendors import installed_vendor

pytestmark = pytest.mark.django_db

STATEMENT = "The stock service counts parcels twice when a scanner loses its line."


@pytest.mark.parametrize("tool", ["search", "context"])
async def test_an_agent_is_told_what_was_missing(
    address: str, place: Place, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "redis", Backoff())
    asked = {"query": STATEMENT, "project": "shop"}

    with installed_vendor() as vendor:
        async with agent(address=address, token=place.token, mode="auto") as client:
            await client.call_tool("add_memory", {"content": STATEMENT, "project": "shop"})
            whole = await client.call_tool(tool, asked)
            vendor.script = [Status(status=500)] * 20
            found = await client.call_tool(tool, {**asked, "query": f"{STATEMENT} Why?"})

    assert whole.structured_content["degraded"] == []
    assert found.structured_content["degraded"] == ["no_vectors"]
    assert STATEMENT in str(found.structured_content)
