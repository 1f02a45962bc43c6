"""A process that answers requests and runs a task with traces on, and ends when all are sent.

Asked at once: a call with a wrong token, an address with a word in it, and a task that wakes.
"""

import asyncio
import sys

import httpx

from config import asgi, tracing


async def main(word: str) -> None:
    """Ask as a client does."""
    tracing.start_export(service="traced")
    transport = httpx.ASGITransport(app=asgi.application)
    headers = {"Authorization": f"Bearer crn_{word}{'0' * 40}", "User-Agent": word}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        await client.get(f"/api/v1/memories?query={word}", headers=headers)
        await client.get(f"/invite/{word}?text={word}")
        await client.get(f"/{word}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
    from accounts import tasks

    tasks.wake.apply(args=["bulk"])
    tracing.stop_export()
