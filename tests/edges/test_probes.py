"""Liveness and readiness; and how requests and files pass the ASGI handler."""

import asyncio
from collections.abc import Callable
from io import BytesIO
from typing import Any, Final

import pytest
from django.conf import LazySettings
from django.http import FileResponse, HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

from config import health
from config.handlers import OneThreadHandler
from config.health import Check
from memory.documents.actions.uploads import LARGEST_UPLOAD


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """What the checks will find; asked anew in each test."""
    findings: list[Check] = []
    monkeypatch.setattr(health, "readiness", lambda: tuple(findings))
    monkeypatch.setattr(health, "FINDINGS", health.Findings())
    return findings


def finding(name: str, *, ok: bool) -> Check:
    return Check(name=name, ok=ok, detail="secret path", fix="secret fix")


def test_without_a_worker_it_still_serves_and_findings_are_not_asked_for_at_every_request(
    client: Client, found: list[Check]
) -> None:
    found += [finding("database", ok=True), finding("worker", ok=False)]

    live, ready = client.get("/health/live"), client.get("/health/ready")
    found.append(finding("redis", ok=False))
    again = client.get("/health/ready")

    assert (live.status_code, ready.status_code) == (200, 200)
    checks = {"database": True, "worker": False}
    assert ready.json() == again.json() == {"status": "degraded", "checks": checks}


def test_installation_without_its_database_is_left_alone(
    client: Client, found: list[Check]
) -> None:
    found += [finding("database", ok=False)]

    answer = client.get("/health/ready")

    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert b"secret" not in answer.content


@pytest.mark.django_db
def test_real_installation_names_every_check(client: Client) -> None:
    health.FINDINGS = health.Findings()

    checks = client.get("/health/ready").json()["checks"]

    assert set(checks) == {
        "database", "migrations", "organizations", "beat", "jobs", "redis", "worker", "disk",
        "scanner", "backup",
    }  # fmt: skip


PIECE: Final = OneThreadHandler.chunk_size
LENGTH: Final = 40 * PIECE
given_out: list[BytesIO] = []
Message = dict[str, Any]


def a_file(request: HttpRequest) -> FileResponse:
    """Give a file of forty pieces."""
    given_out.append(BytesIO(b"x" * LENGTH))
    return FileResponse(given_out[-1], content_type="application/json")


def its_length(request: HttpRequest) -> HttpResponse:
    """Say how many bytes came."""
    return HttpResponse(str(len(request.read())))


urlpatterns = [path("file", a_file), path("length", its_length)]


@pytest.fixture
def handler(settings: LazySettings) -> OneThreadHandler:
    """The handler over the addresses of this file, without middleware."""
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = []
    given_out.clear()
    return OneThreadHandler()


def asked(
    handler: OneThreadHandler, address: str, *, body: bytes = b"", leaves: Callable[[int], bool]
) -> list[Message]:
    """Ask as a client that leaves once so many pieces have come; return what was sent."""
    sent: list[Message] = []
    scope = {
        "type": "http", "method": "POST", "path": address, "query_string": b"", "headers": [],
    }  # fmt: skip

    async def call() -> None:
        gone = asyncio.Event()
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> Message:
            for message in messages:
                return message
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if leaves(len(sent)):
                gone.set()
            await asyncio.sleep(0)  # as a server does between two pieces

        await handler(scope, receive, send)

    asyncio.run(call())
    return sent


def test_a_file_is_sent_piece_by_piece_and_closed(handler: OneThreadHandler) -> None:
    _, *pieces = asked(handler, "/file", leaves=lambda _: False)

    assert max(len(piece.get("body", b"")) for piece in pieces) == PIECE
    assert sum(len(piece.get("body", b"")) for piece in pieces) == LENGTH
    assert given_out[0].closed


def test_a_file_that_nobody_takes_any_more_is_left_and_closed(handler: OneThreadHandler) -> None:
    sent = asked(handler, "/file", leaves=lambda count: count == 3)

    assert len(sent) < 10
    assert given_out[0].closed


def test_the_largest_upload_comes_in_whole(handler: OneThreadHandler) -> None:
    body = b"x" * (LARGEST_UPLOAD + 1)

    _, answer, *_ = asked(handler, "/length", body=body, leaves=lambda _: False)

    assert answer["body"] == str(len(body)).encode()
