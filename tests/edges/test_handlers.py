"""How requests and files pass the ASGI handler: bodies whole, files piece by piece, ends clean."""

import asyncio
from collections.abc import Callable
from io import BytesIO
from typing import Any, Final

import pytest
from django.conf import LazySettings
from django.http import FileResponse, HttpRequest, HttpResponse
from django.urls import path

from config.handlers import OneThreadHandler
from memory.documents.actions.uploads import LARGEST_UPLOAD

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
