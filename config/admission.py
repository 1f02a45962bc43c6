"""How many requests of an organization a web process works on at once; further ones wait.

All threads of a process share one interpreter, so what a flood costs others is decided by how much
of it is at work, not by how much has arrived. An organization that asks alone may have several
requests at work. As soon as others ask too, one that has used more than its share of the last
seconds has one at a time, and of those that wait the one that used least goes first. Who waits
holds no thread and no connection. Too many, or too long: 429 with Retry-After.

Whose a request is would take a look into the database, which is work already. So the organization
is the one that its credential had last time. A credential not seen before counts for its address:
made-up ones gain nothing. Calls that wait for news take turns of their own, because they do little.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Hashable, MutableMapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from starlette.datastructures import Headers

from accounts.api.requests import address_of
from accounts.errors import RateLimited
from accounts.messages import message

FREE: Final = ("/health/", "/static/", "/metrics")  # cheap, and needed while others wait
LEAST_AT_WORK: Final = 1
LONGEST_WAIT_SECONDS: Final = 10.0
ACTIVE_SECONDS: Final = 2.0  # for which an organization counts as asking after its last request
HALF_LIFE_SECONDS: Final = 5.0  # of what was used; defaults, not measured
MOST_KNOWN: Final = 10_000  # credentials whose organization is remembered
RETRY_SECONDS: Final = 2

_credential: ContextVar[int | None] = ContextVar("cairn_credential", default=None)


@dataclass(slots=True)
class Share:
    """What one organization has at work, what waits, and what it used of late in seconds."""

    at_work: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    used_seconds: float = 0.0
    noted_at: float = 0.0

    def note(self, *, now: float, seconds: float = 0.0) -> None:
        """Add to what was used; what was used before counts less with time."""
        self.used_seconds *= 0.5 ** ((now - self.noted_at) / HALF_LIFE_SECONDS)
        self.used_seconds += seconds
        self.noted_at = now

    def is_active(self, *, now: float) -> bool:
        """Say whether it asks now or has just asked."""
        return bool(self.at_work or self.waiting) or now - self.noted_at < ACTIVE_SECONDS


class Gate:
    """Lets requests in by turns. Used from one event loop; `learn` from any thread."""

    def __init__(self, *, most_at_work: int, most_waiting: int) -> None:
        self.most_at_work = most_at_work
        self.most_waiting = most_waiting
        self.shares: dict[Hashable, Share] = {}
        self._owners: dict[int, UUID] = {}

    def learn(self, *, organization_id: UUID) -> None:
        """Remember whose the credential of the request being answered is."""
        credential = _credential.get()
        if credential is not None:
            if len(self._owners) >= MOST_KNOWN:
                self._owners.clear()
            self._owners[credential] = organization_id

    @asynccontextmanager
    async def turn(self, scope: MutableMapping[str, Any]) -> AsyncIterator[None]:
        """Wait until a request may be worked on, for as long as the block lasts.

        Raises RateLimited when too many of its organization wait already, or it waits too long.
        """
        if scope["path"].startswith(FREE):
            yield
            return
        share = self._share(self._owner(scope))
        await self._enter(share)
        began = time.monotonic()
        try:
            yield
        finally:
            share.at_work -= 1
            share.note(now=time.monotonic(), seconds=time.monotonic() - began)
            self._wake()

    def _owner(self, scope: MutableMapping[str, Any]) -> Hashable:
        headers = Headers(raw=scope["headers"])
        credential = headers.get("authorization") or headers.get("x-api-key")
        known = None
        if credential:
            _credential.set(hash(credential))
            known = self._owners.get(hash(credential))
        peer = (scope.get("client") or ("", 0))[0]
        waits = b"wait=" in scope.get("query_string", b"")
        return known or address_of(headers=headers, peer=peer), waits

    def _share(self, owner: Hashable) -> Share:
        now = time.monotonic()
        if owner not in self.shares:
            self.shares = {
                one: share for one, share in self.shares.items() if share.is_active(now=now)
            }
        share = self.shares.setdefault(owner, Share(noted_at=now))
        share.note(now=now)
        return share

    async def _enter(self, share: Share) -> None:
        if not share.waiting and share.at_work < self._limit(share):
            share.at_work += 1
            return
        if len(share.waiting) >= self.most_waiting:
            raise _refusal()
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        share.waiting.append(place)
        is_in = False
        try:
            async with asyncio.timeout(LONGEST_WAIT_SECONDS):
                await place
            is_in = True
        except TimeoutError as error:
            raise _refusal() from error
        finally:
            if not is_in:
                self._give_up(share, place)

    def _give_up(self, share: Share, place: asyncio.Future[None]) -> None:
        if place.done() and not place.cancelled():  # let in at the moment in which it left
            share.at_work -= 1
            self._wake()
        elif place in share.waiting:
            share.waiting.remove(place)

    def _limit(self, share: Share) -> int:
        now = time.monotonic()
        active = [one for one in self.shares.values() if one.is_active(now=now)]
        fair = sum(one.used_seconds for one in active) / max(1, len(active))
        is_heavy = len(active) > 1 and share.used_seconds > fair
        return LEAST_AT_WORK if is_heavy else self.most_at_work

    def _wake(self) -> None:
        waiting = [share for share in self.shares.values() if share.waiting]
        for share in sorted(waiting, key=lambda one: one.used_seconds):
            limit = self._limit(share)
            while share.waiting and share.at_work < limit:
                place = share.waiting.popleft()
                if not place.done():  # else its client has gone
                    share.at_work += 1
                    place.set_result(None)


def _refusal() -> RateLimited:
    return RateLimited(
        detail=message("Too many requests of your organization wait to be answered."),
        retry_after_seconds=RETRY_SECONDS,
    )


gate = Gate(most_at_work=settings.REQUESTS_AT_WORK, most_waiting=settings.REQUESTS_WAITING)
