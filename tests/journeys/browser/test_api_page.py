"""The API page works under the policy of every page: no inline styles, no foreign files."""

import pytest

from tests.journeys.browser.conftest import Open

pytestmark = pytest.mark.browser


def test_calls_are_shown_and_open(open_page: Open) -> None:
    page = open_page("/docs/api")
    page.set_default_timeout(60_000)  # it draws more than a hundred calls, a busy machine slowly

    page.click("#operations-memories-list_memories button.opblock-summary-control")

    shown = page.wait_for_selector("#operations-memories-list_memories .opblock-body")
    assert shown is not None
    assert shown.is_visible()
