"""Reach people outside of an answer: call their open pages, send them mails.

The channel layer carries nothing but the call itself. A page that hears it reads the database with
a Caller made anew, so what is lost without Redis comes a few seconds later, when it looks unasked.

A Redis that hangs costs whoever asks it a whole timeout. What may be lost without harm (the call to
open pages, the wake-up of a worker, a count) shares one rest, `redis`: after a failure nobody asks
for a few seconds, so a request pays at most once, and only one request in a few seconds.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from redis.exceptions import RedisError

from accounts.errors import Unavailable

log = logging.getLogger(__name__)

REST_SECONDS: Final = 5.0
AWAY: Final = (RedisError, OSError, RuntimeError)  # timeouts; a connection reset while unused
LONGEST_CALL_S: Final = 1.0  # callers of one process wait for each other
LANGUAGES: Final = ("en", "fr")  # of mails


@dataclass(slots=True, kw_only=True)
class Backoff:
    """`resumes_at` is a moment of the clock, which counts seconds and never goes back."""

    clock: Callable[[], float] = time.monotonic
    resumes_at: float = float("-inf")

    def start(self) -> None:
        """Rest from now on."""
        self.resumes_at = self.clock() + REST_SECONDS

    def is_active(self) -> bool:
        """Say whether the rest goes on."""
        return self.clock() < self.resumes_at


redis = Backoff()


@contextmanager
def needs_redis(*, detail: str, hint: str) -> Iterator[None]:
    """Raise Unavailable where Redis, which the block cannot do without, does not answer."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise Unavailable(detail=detail, hint=hint) from error


def wake_pages(*, group: str) -> None:
    """Call the open pages of a group now. Without Redis they find out by looking."""
    layer = get_channel_layer()
    if layer is None or redis.is_active():
        return
    try:
        async_to_sync(_call)(layer, group)
    except AWAY as error:
        redis.start()
        log.warning("Open pages were not called: %s", str(error) or type(error).__name__)


def wake_pages_of(*, user_id: UUID) -> None:
    """Call the open pages of a person after commit: some right of theirs may have ended."""
    transaction.on_commit(lambda: wake_pages(group=person_group(user_id=user_id)))


def person_group(*, user_id: UUID) -> str:
    """Return the group of a person's open pages, in whichever organization."""
    return f"person.{user_id.hex}"


async def _call(layer: Any, group: str) -> None:
    async with asyncio.timeout(LONGEST_CALL_S):
        await layer.group_send(group, {"type": "feed.grew"})


def send_template(name: str, *, language: str, to: str, context: Mapping[str, Any]) -> bool:
    """Send a mail of our own, a template by language whose first line is the subject.

    Those of sign-up and sign-in are allauth's (`accounts.adapters`). Says whether it was taken; an
    installation without a mail server takes none. Raises SMTPException or OSError where it fails.
    """
    if not settings.SENDS_MAIL:
        return False
    known = language if language in LANGUAGES else LANGUAGES[0]
    text = render_to_string(f"accounts/{name}.{known}.txt", dict(context))
    subject, _, body = text.partition("\n")
    return send_mail(" ".join(subject.split()), body.lstrip(), None, [to]) == 1
