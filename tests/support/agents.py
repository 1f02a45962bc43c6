"""An agent: the official MCP client, with a token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def agent(*, address: str, token: str, mode: str, suffix: str = "") -> AsyncIterator[Client]:
    """Connect an agent; `mode` is "legacy" (initialize) or a modern protocol version."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
        transport = streamable_http_client(f"{address}/mcp{suffix}", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


async def ask(
    *, address: str, token: str, tool: str, mode: str = "legacy", suffix: str = "", **given: Any
) -> Any:
    """Call one tool and return its result."""
    async with agent(address=address, token=token, mode=mode, suffix=suffix) as client:
        return await client.call_tool(tool, given)
