"""How many requests of an organization a web process works on at once; further ones wait.

All threads of a process share one interpreter, so what a flood costs others is decided by how much
of it is at work, not by how much has arrived. An organization that asks alone may have several
requests at work. As soon as others ask too, one that has used a good deal, and more than its share
of the last seconds, has one at a time, and of those that wait the one that used least goes first.
Behind a request that lasts long, like an import, another one is let in all the same. Who waits
holds no thread and no connection; one whose client hangs up meanwhile still waits its time. Too
many, or too long: 429 with Retry-After.

Whose a request is would take a look into the database, which is work already. So the organization
is the one that its credential had last time. A credential not seen before counts for the network it
comes from: made-up ones gain nothing. A call that waits for news (`accounts.api.jobs`) has no turn
for as long as it only waits.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Hashable, Iterator, MutableMapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from starlette.datastructures import Headers

from accounts.api import jobs
from accounts.api.requests import address_of
from accounts.authentication import network
from accounts.errors import RateLimited, Unauthenticated
from accounts.messages import message

FREE: Final = ("/health/", "/static/", "/metrics")  # cheap, and needed while others wait
LEAST_AT_WORK: Final = 1
LONGEST_WAIT_SECONDS: Final = 10.0
ACTIVE_SECONDS: Final = 2.0  # for which an organization counts as asking after its last request
HALF_LIFE_SECONDS: Final = 5.0  # of what was used; defaults, not measured
HEAVY_SECONDS: Final = 1.0  # used, up to which nobody is held back; all the time of one makes 7
LONG_SECONDS: Final = 2.0  # at work, after which a request holds no other one back
MOST_KNOWN: Final = 10_000  # credentials whose organization is remembered
RETRY_SECONDS: Final = 2

_credential: ContextVar[int | None] = ContextVar("cairn_credential", default=None)


@dataclass(slots=True, eq=False)
class Share:
    """What one organization has at work, what waits, and what it used of late in seconds."""

    at_work: int = 0
    long_at_work: int = 0  # of them
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


class Turn:
    """One request at work. It begins and ends in the event loop."""

    def __init__(self, *, gate: "Gate", share: Share) -> None:
        """Take the place that the share has been given."""
        self._gate, self._share = gate, share
        self._loop = asyncio.get_running_loop()
        self._is_at_work = self._is_long = self._is_over = False
        self._begin()

    def end(self) -> None:
        """End it for good."""
        self._is_over = True
        self._leave()

    @contextmanager
    def idle(self) -> Iterator[None]:
        """Let others take their turns for as long as the block lasts; used in a thread."""
        self._loop.call_soon_threadsafe(self._leave)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._come_back)

    def _begin(self) -> None:
        self._is_at_work, self._began = True, time.monotonic()
        self._timer = self._loop.call_later(LONG_SECONDS, self._become_long)

    def _become_long(self) -> None:
        self._is_long = True
        self._share.long_at_work += 1
        self._gate.wake()

    def _leave(self) -> None:
        if not self._is_at_work:
            return
        self._timer.cancel()
        now = time.monotonic()
        self._share.note(now=now, seconds=now - self._began)
        self._share.at_work -= 1
        self._share.long_at_work -= self._is_long
        self._is_at_work = self._is_long = False
        self._gate.wake()

    def _come_back(self) -> None:
        if not self._is_over:
            self._share.at_work += 1
            self._begin()


class Gate:
    """Lets requests in by turns. Used from one event loop; `learn` and `forget` from any thread."""

    def __init__(self, *, most_at_work: int, most_waiting: int) -> None:
        self.most_at_work = most_at_work
        self.most_waiting = most_waiting
        self.shares: dict[Hashable, Share] = {}
        self._queued: set[Share] = set()  # those with requests that wait
        self._looked_at = 0.0  # when shares were last looked through for those not active
        self._owners: dict[int, UUID] = {}

    def learn(self, *, organization_id: UUID) -> None:
        """Remember whose the credential of the request being answered is."""
        credential = _credential.get()
        if credential is not None:
            if len(self._owners) >= MOST_KNOWN:
                self._owners.clear()
            self._owners[credential] = organization_id

    def forget(self) -> None:
        """Forget whose the credential of the request being answered was: it is no longer good."""
        self._owners.pop(_credential.get() or 0, None)

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
        turn = Turn(gate=self, share=share)
        jobs.idle.set(turn.idle)
        try:
            yield
        except Unauthenticated:
            self.forget()
            raise
        finally:
            turn.end()

    def _owner(self, scope: MutableMapping[str, Any]) -> Hashable:
        headers = Headers(raw=scope["headers"])
        credential = headers.get("authorization") or headers.get("x-api-key")
        if credential:
            _credential.set(hash(credential))
            if known := self._owners.get(hash(credential)):
                return known
        peer = (scope.get("client") or ("", 0))[0]
        return network(address=address_of(headers=headers, peer=peer))

    def _share(self, owner: Hashable) -> Share:
        now = time.monotonic()
        if owner not in self.shares and now - self._looked_at > ACTIVE_SECONDS:
            self._looked_at = now
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
        self._queued.add(share)
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
            self.wake()
        elif place in share.waiting:
            share.waiting.remove(place)

    def _limit(self, share: Share) -> int:
        if share.used_seconds <= HEAVY_SECONDS:
            return self.most_at_work
        now = time.monotonic()
        active = [one for one in self.shares.values() if one.is_active(now=now)]
        fair = sum(one.used_seconds for one in active) / max(1, len(active))
        is_heavy = len(active) > 1 and share.used_seconds > fair
        least = min(LEAST_AT_WORK + share.long_at_work, self.most_at_work)
        return least if is_heavy else self.most_at_work

    def wake(self) -> None:
        """Let in those that wait and may be worked on now."""
        self._queued = {share for share in self._queued if share.waiting}
        for share in sorted(self._queued, key=lambda one: one.used_seconds):
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
