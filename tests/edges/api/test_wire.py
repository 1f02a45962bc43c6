"""What only a real server shows: raw bytes on the wire, chunked bodies, waiting for a worker."""

import json
import socket
from concurrent.futures import Future, ThreadPoolExecutor, wait
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import LazySettings
from django.db import connection

from accounts import tasks
from tests.support.api import STATEMENT
from tests.support.live import Place

pytestmark = pytest.mark.django_db


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


def test_a_chunked_body_is_read_within_the_same_bound(address: str, place: Place) -> None:
    body = json.dumps({"project": "shop", "content": STATEMENT}).encode()
    headers = {"Authorization": f"Bearer {place.token}", "Content-Type": "application/json"}

    read, refused = (
        httpx.post(f"{address}/api/v1/memories", content=iter(parts), headers=headers, timeout=20)
        for parts in ([body], [b"x" * 100_000] * 20)
    )

    assert (read.status_code, refused.status_code) == (201, 413)


def test_a_write_waits_until_a_worker_has_embedded_it(
    address: str, place: Place, settings: LazySettings
) -> None:
    settings.EMBED_INLINE = False
    sent = {"project": "shop", "content": "The export queue is drained before each deployment."}
    headers = {"Authorization": f"Bearer {place.token}"}

    with ThreadPoolExecutor(2) as pool:
        asked = pool.submit(
            httpx.post,
            f"{address}/api/v1/memories?wait=20",
            json=sent,
            headers=headers,
            timeout=30,
        )
        pool.submit(_work_until_answered, asked).result()

    assert asked.result().json()["embedding"] == "stored"
    assert asked.result().json()["memory"]["embedded"] is True


def test_those_who_wait_leave_room_for_others(address: str, place: Place) -> None:
    headers = {"Authorization": f"Bearer {place.token}"}
    newest = httpx.get(f"{address}/api/v1/changes?limit=200", headers=headers).json()["next_after"]
    url = f"{address}/api/v1/changes?wait=3&after={newest}"

    with ThreadPoolExecutor(24) as pool:
        waiting = [pool.submit(httpx.get, url, headers=headers, timeout=20) for _ in range(24)]
        others = [httpx.get(f"{address}/api/v1/me", headers=headers) for _ in range(3)]
        still_waiting = [one for one in waiting if not one.done()]
        answers = [one.result() for one in waiting]

    assert {answer.status_code for answer in others + answers} == {200}
    assert still_waiting
