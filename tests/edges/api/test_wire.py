"""What only a real server shows: raw bytes, chunks, waiting, fifty writers."""

import json
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import LazySettings
from django.db import connection

from accounts import tasks
from tests.support.api import STATEMENT
from tests.support.goals import Scale
from tests.support.live import Place
from tests.support.statements import numbered

pytestmark = pytest.mark.django_db


WRITERS: Final = 50
PATIENCE: Final = 60.0  # seconds for one answer


@pytest.fixture
def http(address: str, place: Place) -> Iterator[httpx.Client]:
    """A client with a token, over as many lines as there are writers."""
    headers = {"Authorization": f"Bearer {place.token}"}
    # The server ends a line after five idle seconds; the client must not be about to use it then.
    limits = httpx.Limits(max_connections=WRITERS, keepalive_expiry=2)
    url = f"{address}/api/v1"
    with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE, limits=limits) as client:
        yield client


def _exchange(address: str, raw: bytes) -> bytes:
    host, port = urlsplit(address).netloc.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        line.sendall(raw)
        return b"".join(iter(lambda: line.recv(65_536), b""))


def _work_until_answered(asked: Future[httpx.Response]) -> None:
    """Do the work of a worker, in the thread of a pool, until the answer is there."""
    while not wait((asked,), timeout=0.05).done:
        tasks.wake("interactive")
    connection.close()


RAW = {
    "invalid UTF-8 in the path": b"GET /api/v1/projects/\xff\xfe HTTP/1.1",
    "NUL in the path": b"GET /api/v1/memories/%00 HTTP/1.1",
    "surrogate in the query": b"GET /api/v1/memories?q=%ed%a0%80 HTTP/1.1",
    "no such method": b"BREW /api/v1/memories HTTP/1.1",
    "long path": b"GET /api/v1/" + b"a" * 60_000 + b" HTTP/1.1",
    "negative length": b"POST /api/v1/memories HTTP/1.1\r\nContent-Length: -1",
    "double length": b"POST /api/v1/memories HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
    "bad chunk": b"POST /api/v1/memories HTTP/1.1\r\nTransfer-Encoding: chunked",
    "latin header": b"GET /api/v1/me HTTP/1.1\r\nX-Cairn-Organization: \xe9\xff",
    "latin token": b"GET /api/v1/me HTTP/1.1\r\nX-API-Key: \xe9\xff",
    "forged address": b"GET /api/v1/me HTTP/1.1\r\nX-Forwarded-For: \xff, ::, 999.1.1.1",
}


@pytest.mark.parametrize("kind", RAW)
def test_no_bytes_break_the_server(address: str, place: Place, kind: str) -> None:
    token = f"\r\nAuthorization: Bearer {place.token}" if "token" not in kind else ""
    host = f"\r\nHost: {urlsplit(address).netloc}\r\nConnection: close\r\n\r\n"

    answer = _exchange(address, RAW[kind] + (token + host).encode() + b"zz\r\n" * ("chunk" in kind))

    assert int(answer.split(b" ", 2)[1]) < 500, answer[:300]


def test_clients_that_hang_up_take_no_connection_along(address: str, place: Place) -> None:
    head = f"GET /api/v1/memories HTTP/1.1\r\nHost: {urlsplit(address).netloc}\r\n"
    raw = f"{head}Authorization: Bearer {place.token}\r\n\r\n".encode()
    host, port = urlsplit(address).netloc.split(":")

    for _ in range(20):
        with socket.create_connection((host, int(port))) as line:
            line.sendall(raw)
    headers = {"Authorization": f"Bearer {place.token}"}
    answers = [httpx.get(f"{address}/api/v1/memories", headers=headers) for _ in range(10)]

    assert {answer.status_code for answer in answers} == {200}


def test_a_chunked_body_is_read_within_the_same_bound(http: httpx.Client) -> None:
    body = json.dumps({"project": "shop", "content": STATEMENT}).encode()
    headers = {"Content-Type": "application/json"}

    read, refused = (
        http.post("/memories", content=iter(parts), headers=headers)
        for parts in ([body], [b"x" * 100_000] * 20)
    )

    assert (read.status_code, refused.status_code) == (201, 413)


def test_a_write_waits_until_a_worker_has_embedded_it(
    http: httpx.Client, settings: LazySettings
) -> None:
    settings.EMBED_INLINE = False
    sent = {"project": "shop", "content": "The export queue is drained before each deployment."}

    with ThreadPoolExecutor(2) as pool:
        asked = pool.submit(http.post, "/memories?wait=20", json=sent)
        pool.submit(_work_until_answered, asked).result()

    assert asked.result().json()["embedding"] == "stored"
    assert asked.result().json()["memory"]["embedded"] is True


def test_those_who_wait_leave_room_for_others(http: httpx.Client) -> None:
    newest = http.get("/changes?limit=200").json()["next_after"]

    with ThreadPoolExecutor(24) as pool:
        waiting = [pool.submit(http.get, f"/changes?wait=3&after={newest}") for _ in range(24)]
        others = [http.get("/me") for _ in range(3)]
        still_waiting = [one for one in waiting if not one.done()]
        answers = [one.result() for one in waiting]

    assert {answer.status_code for answer in others + answers} == {200}
    assert still_waiting


SHARED: Final = 10  # memories that all of them write


@dataclass(slots=True, kw_only=True)
class Writer:
    """Counts up in memories, each time from what it has just read."""

    http: httpx.Client
    statuses: list[int] = field(default_factory=list)

    def count_up(self, path: str) -> None:
        """Add one to a memory's count, reading again whenever somebody was faster."""
        while True:
            read = self.http.get(path)
            counted = {"count": read.json()["attributes"]["count"] + 1}
            tag = {"If-Match": read.headers["ETag"]}
            answer = self.http.patch(path, json={"attributes": counted}, headers=tag)
            self.statuses.append(answer.status_code)
            if answer.status_code != 412:
                return

    def forget_the_version(self, path: str) -> None:
        """Try to edit without saying which version."""
        answer = self.http.patch(path, json={"attributes": {"count": 0}})
        self.statuses.append(answer.status_code)


def _remembered(http: httpx.Client, number: int) -> str:
    sent: dict[str, Any] = {"content": numbered(number=number), "project": "shop", "type": "fact"}
    answer = http.post("/memories", json={**sent, "attributes": {"count": 0}})
    return f"/memories/{answer.json()['memory']['id']}"


@pytest.mark.goal(name="G15")
def test_no_count_of_fifty_writers_is_lost(
    http: httpx.Client, scale: Scale, figure: Callable[[str], None]
) -> None:
    each = scale.of(short=4, long=100)
    paths = [_remembered(http, number) for number in range(SHARED)]

    statuses = _write(http, paths, each)

    counts = [http.get(path).json() for path in paths]
    histories = [http.get(f"{path}/history").json()["items"] for path in paths]
    stored = sum(one["attributes"]["count"] for one in counts)
    told = {status: statuses.count(status) for status in sorted(set(statuses))}
    figure(f"{WRITERS * each - stored} of {WRITERS * each:,} updates lost, {told}")
    assert stored == WRITERS * each == told.pop(200)
    assert set(told) <= {412, 428}
    assert told[428] == WRITERS
    for one, versions in zip(counts, histories, strict=True):
        numbers = [version["number"] for version in versions]
        assert numbers == [*range(one["attributes"]["count"] + 1, 0, -1)]


def _write(http: httpx.Client, paths: list[str], each: int) -> list[int]:
    """Let all writers count up at once; return every status they were answered."""

    def write(number: int) -> list[int]:
        writer = Writer(http=http)
        writer.forget_the_version(paths[number % SHARED])
        for turn in range(each):
            writer.count_up(paths[(number + turn) % SHARED])
        return writer.statuses

    with ThreadPoolExecutor(WRITERS) as pool:
        return [status for statuses in pool.map(write, range(WRITERS)) for status in statuses]
