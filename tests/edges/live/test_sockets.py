"""A socket is opened only by a safe page of our own, and is never left open in silence."""

import asyncio
from typing import Any

import pytest

from frontend.consumers import TRY_LATER, ChangesConsumer, same_origin

HOST = "cairn.example.test"


def _scope(origin: str | None) -> dict[str, Any]:
    named = [] if origin is None else [(b"origin", origin.encode("latin-1"))]
    return {"headers": [(b"host", HOST.encode()), *named]}


@pytest.mark.parametrize(
    "origin",
    [
        None, "", "null", "https://evil.example", f"https://{HOST}.evil.example", HOST, "\xff",
        f"https://evil.{HOST}", f"https://{HOST}:8443", f"https://user@{HOST}",
    ],
)  # fmt: skip
def test_a_foreign_page_opens_no_socket(origin: str | None) -> None:
    assert not same_origin(scope=_scope(origin))


def test_our_page_opens_a_socket_under_https_with_tls_alone(settings: Any) -> None:
    assert same_origin(scope=_scope(f"http://{HOST}"))

    settings.SESSION_COOKIE_SECURE = True

    assert same_origin(scope=_scope(f"https://{HOST}"))
    assert not same_origin(scope=_scope(f"http://{HOST}"))


class Page(ChangesConsumer):
    """A page that keeps with which codes it was sent away."""

    codes: tuple[int | None, ...] = ()

    async def close(self, code: int | None = None, reason: str | None = None) -> None:
        self.codes += (code,)


async def _break() -> None:
    raise KeyError("nobody expected this")


async def test_a_page_whose_pump_breaks_is_sent_away() -> None:
    page = Page()
    pump = asyncio.create_task(_break())
    pump.add_done_callback(page._pump_ended)

    await asyncio.wait({pump})
    await page.leaving

    assert page.codes == (TRY_LATER,)
