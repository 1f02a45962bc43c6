"""Tell open pages to look again: at the feed of their organization, and at their own rights.

The channel layer carries nothing but the call itself. A page that hears it reads the database with
a Caller made anew, so what is lost without Redis comes a few seconds later, when it looks unasked.
"""

import asyncio
import logging
from typing import Any, Final
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from redis.exceptions import RedisError

from accounts import redis_backoff

log = logging.getLogger(__name__)

AWAY: Final = (RedisError, OSError, RuntimeError)  # timeouts; a connection reset while unused
LONGEST_CALL_S: Final = 1.0  # callers of one process wait for each other


def wake_pages(*, group: str) -> None:
    """Call the open pages of a group now. Without Redis they find out by looking."""
    layer = get_channel_layer()
    if layer is None or redis_backoff.redis.is_active():
        return
    try:
        async_to_sync(_send)(layer, group)
    except AWAY as error:
        redis_backoff.redis.start()
        log.warning("Open pages were not called: %s", str(error) or type(error).__name__)


def wake_pages_of(*, user_id: UUID) -> None:
    """Call the open pages of a person after commit: some right of theirs may have ended."""
    transaction.on_commit(lambda: wake_pages(group=person_group(user_id=user_id)))


def person_group(*, user_id: UUID) -> str:
    """Return the group of a person's open pages, in whichever organization."""
    return f"person.{user_id.hex}"


async def _send(layer: Any, group: str) -> None:
    async with asyncio.timeout(LONGEST_CALL_S):
        await layer.group_send(group, {"type": "feed.grew"})
