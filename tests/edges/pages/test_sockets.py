"""A live page is never left open without anybody telling it anything."""

import asyncio

from frontend.consumers import TRY_LATER, ChangesConsumer


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
