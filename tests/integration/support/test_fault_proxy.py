"""Each fault of the line is what it says, shown with a real server behind it."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer, ThreadingUnixStreamServer
from threading import Thread

import pytest

from tests.support.fault_proxy import HALF_OPEN, REFUSING, RESETTING, SOUND, Fault, FaultProxy

SHORT_S = 0.3  # for what must not arrive
LONG_S = 10.0  # for what must


class Echo(StreamRequestHandler):
    """Sends back each line."""

    def handle(self) -> None:
        """Serve one connection."""
        for line in self.rfile:
            self.wfile.write(line)


@pytest.fixture
def proxy() -> Iterator[FaultProxy]:
    """A line to a server that echoes."""
    with ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        with FaultProxy(target=server.server_address[1]) as running:
            yield running
        server.shutdown()


@pytest.fixture
def line(proxy: FaultProxy) -> Iterator[socket.socket]:
    """A connection that has been used once."""
    with connected(proxy) as opened:
        assert asked(opened, b"hello\n") == b"hello\n"
        yield opened


def connected(proxy: FaultProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=LONG_S)


def asked(line: socket.socket, text: bytes, *, seconds: float = LONG_S) -> bytes:
    """Send a text and return what comes back, at most as much."""
    line.settimeout(seconds)
    line.sendall(text)
    return received(line, len(text))


def received(line: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size and (more := line.recv(size - len(got))):
        got += more
    return got


def took_s(line: socket.socket, text: bytes) -> float:
    began = time.monotonic()
    assert asked(line, text) == text
    return time.monotonic() - began


def test_a_sound_line_passes_everything(line: socket.socket) -> None:
    text = b"x" * 300_000 + b"\n"

    assert asked(line, text) == text


def test_latency_delays_each_direction(proxy: FaultProxy, line: socket.socket) -> None:
    proxy.set(Fault(delay_ms=60, jitter_ms=20))

    assert took_s(line, b"slow\n") >= 0.12


def test_a_throttled_line_takes_its_time(proxy: FaultProxy, line: socket.socket) -> None:
    proxy.set(Fault(bytes_per_second=10_000))

    assert took_s(line, b"y" * 999 + b"\n") >= 0.2


def test_a_reset_ends_open_connections_and_not_new_ones(
    proxy: FaultProxy, line: socket.socket
) -> None:
    assert proxy.reset() == 1

    with pytest.raises(ConnectionResetError):
        received(line, 1)
    with connected(proxy) as fresh:
        assert asked(fresh, b"again\n") == b"again\n"


def test_a_resetting_line_takes_no_new_connection(proxy: FaultProxy) -> None:
    proxy.set(RESETTING)

    with pytest.raises(ConnectionResetError), connected(proxy) as fresh:
        received(fresh, 1)


def test_a_half_open_line_is_silent_and_stays(proxy: FaultProxy, line: socket.socket) -> None:
    proxy.set(HALF_OPEN)
    with pytest.raises(TimeoutError):
        asked(line, b"anyone?\n", seconds=SHORT_S)
    assert proxy.connections == 1

    proxy.set(SOUND)
    line.settimeout(LONG_S)

    assert received(line, 8) == b"anyone?\n"


def test_a_new_connection_over_a_half_open_line_hears_nothing(proxy: FaultProxy) -> None:
    proxy.set(HALF_OPEN)

    with connected(proxy) as fresh, pytest.raises(TimeoutError):
        asked(fresh, b"anyone?\n", seconds=SHORT_S)


def test_a_line_stalls_after_its_bytes(proxy: FaultProxy, line: socket.socket) -> None:
    proxy.set(Fault(stall_after=10))

    with pytest.raises(TimeoutError):
        asked(line, b"1234567\n", seconds=SHORT_S)
    proxy.set(SOUND)
    line.settimeout(LONG_S)

    assert received(line, 6) == b"34567\n"


def test_a_refusing_line_has_nobody_listening_until_it_is_sound_again(proxy: FaultProxy) -> None:
    port = proxy.port
    proxy.set(REFUSING)
    with pytest.raises(ConnectionRefusedError):
        connected(proxy)

    proxy.set(SOUND)

    assert proxy.port == port
    with connected(proxy) as fresh:
        assert asked(fresh, b"back\n") == b"back\n"


def test_a_refusing_line_leaves_open_connections_alone(
    proxy: FaultProxy, line: socket.socket
) -> None:
    proxy.set(REFUSING)

    assert asked(line, b"still\n") == b"still\n"


def test_a_unix_socket_can_stand_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "echo.sock"
    with ThreadingUnixStreamServer(str(path), Echo) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

        with FaultProxy(target=path) as proxy, connected(proxy) as line:
            assert asked(line, b"unix\n") == b"unix\n"
        server.shutdown()


def test_what_is_behind_it_may_be_away(proxy: FaultProxy) -> None:
    proxy.target = 1

    with pytest.raises(ConnectionResetError), connected(proxy) as fresh:
        received(fresh, 1)
