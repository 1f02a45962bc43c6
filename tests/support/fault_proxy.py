"""A TCP line that can be broken on purpose, between a program and a server it uses.

The proxy listens on loopback and forwards to a port or to a unix socket. What is wrong with the
line is a frozen `Fault`, exchanged while everything runs. Bytes held back by a fault are passed on
when it ends, as a network that comes back would do. It runs on an event loop in its own thread.
"""

import asyncio
import socket
import struct
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any, Self, TypeVar

CHUNK = 65_536  # bytes taken at once
RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER with no time: closing sends RST
ANSWER_SECONDS = 10  # of the loop in its thread, for one order
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with the line; nothing by default.

    Each chunk waits `delay_ms` plus up to `jitter_ms`. `stall_after` bytes of both directions pass
    a connection, then it stands still and stays open (0: half-open). `bytes_per_second` bounds each
    direction. With `resets` a new connection is reset, with `refuses` nobody listens.
    """

    delay_ms: float = 0
    jitter_ms: float = 0
    stall_after: int | None = None
    bytes_per_second: int | None = None
    resets: bool = False
    refuses: bool = False


SOUND = Fault()
HALF_OPEN = Fault(stall_after=0)
RESETTING = Fault(resets=True)
REFUSING = Fault(refuses=True)


@dataclass(slots=True, eq=False)
class _Link:
    """One connection through the proxy: both ends, and the bytes passed under the present fault."""

    near: asyncio.StreamWriter
    far: asyncio.StreamWriter
    passed: int = 0


@dataclass(slots=True, kw_only=True)
class FaultProxy:
    """Use it as a context manager; `target` is a port of loopback or the path of a socket."""

    target: int | Path
    seed: int = 20_261_120
    fault: Fault = SOUND
    port: int = 0
    _links: set[_Link] = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _server: asyncio.Server | None = None
    _thread: Thread | None = None
    _chance: Random = field(default_factory=Random)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __enter__(self) -> Self:
        """Start to listen; `port` says where."""
        self._chance.seed(self.seed)
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._do(self._listen())
        return self

    def __exit__(self, *raised: object) -> None:
        """End every connection and the thread."""
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        if self._thread is not None:
            self._thread.join()
        self._loop.close()

    def set(self, fault: Fault) -> None:
        """Exchange what is wrong with the line, for open connections and new ones."""
        self._do(self._set(fault))

    def reset(self) -> int:
        """Reset every open connection; return how many there were."""
        return self._do(self._reset())

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._links)

    def _do(self, order: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(order, self._loop).result(ANSWER_SECONDS)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        await self._set(REFUSING)
        await self._reset()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _set(self, fault: Fault) -> None:
        self.fault = fault
        for link in self._links:
            link.passed = 0
        if fault.refuses and self._server is not None:
            self._server.close()
            self._server = None
        elif not fault.refuses and self._server is None:
            await self._listen()
        self._changed.set()
        self._changed = asyncio.Event()

    async def _reset(self) -> int:
        links = tuple(self._links)
        for link in links:
            _abort(link.near)
            _abort(link.far)
        return len(links)

    async def _accept(self, reader: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        if self.fault.resets:
            _abort(near)
            return
        try:
            answers, far = await self._connect()
        except OSError:
            _abort(near)
            return
        link = _Link(near, far)
        self._links.add(link)
        try:
            await self._carry(link, reader, answers)
        finally:
            self._links.discard(link)
            near.close()
            far.close()

    async def _carry(
        self, link: _Link, questions: asyncio.StreamReader, answers: asyncio.StreamReader
    ) -> None:
        ways = {
            asyncio.ensure_future(self._pump(link, questions, link.far)),
            asyncio.ensure_future(self._pump(link, answers, link.near)),
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.target, Path):
            return await asyncio.open_unix_connection(self.target)
        return await asyncio.open_connection("127.0.0.1", self.target)

    async def _pump(
        self, link: _Link, source: asyncio.StreamReader, sink: asyncio.StreamWriter
    ) -> None:
        while chunk := await source.read(CHUNK):
            await self._wait(self.fault, len(chunk))
            while chunk:
                room = await self._room(link, len(chunk))
                sink.write(chunk[:room])
                await sink.drain()
                chunk = chunk[room:]

    async def _wait(self, fault: Fault, size: int) -> None:
        seconds = (fault.delay_ms + self._chance.uniform(0, fault.jitter_ms)) / 1_000
        if fault.bytes_per_second is not None:
            seconds += size / fault.bytes_per_second
        if seconds:
            await asyncio.sleep(seconds)

    async def _room(self, link: _Link, wanted: int) -> int:
        while True:
            limit = self.fault.stall_after
            room = wanted if limit is None else min(wanted, limit - link.passed)
            if room > 0:
                link.passed += room
                return room
            await self._changed.wait()


def _abort(writer: asyncio.StreamWriter) -> None:
    end: socket.socket = writer.get_extra_info("socket")
    if end.family == socket.AF_INET:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    writer.transport.abort()
