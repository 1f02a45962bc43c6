"""The pages of what models cost: by day, project and model, against the cap, for who manages."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.conf import LazySettings

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.extraction.actions import Spent, book_use
from memory.records.models import Memory
from tests.edges.pages.conftest import remembered
from tests.edges.pages.session_pages import Pages

SPENT = Spent(model="openai/small", calls=2, fallbacks=1, input_tokens=9_000, output_tokens=1_000)
PAGE = "/o/acme/settings/usage"


@pytest.fixture
def spent(shop: str, caller: Caller, settings: LazySettings) -> None:
    """What a model cost in the project and in none, and a memory that was accepted."""
    settings.CAIRN_MODEL_PRICES = {"openai/small": (Decimal(100), Decimal(200))}
    settings.CAIRN_MODEL_TOKENS_PER_MONTH = 20_000
    memory = remembered(caller)
    with entered(caller), tenancy.unit():
        now = datetime.now(UTC)
        book_use(spent=SPENT, project_id=memory.project_id, now=now)
        book_use(spent=SPENT, project_id=None, now=now)
        Memory.objects.update(source="extracted", needs_review=False)


@pytest.mark.usefixtures("spent")
def test_a_month_is_told_against_its_cap_and_a_project_tells_of_itself_alone(pages: Pages) -> None:
    page, project, empty = (
        pages.owner.get(address).text
        for address in (PAGE, f"{pages.shop}usage", f"{PAGE}?month=2025-02")
    )

    for text in ("20,000 of 20,000 tokens", "The cap is reached", "Each cost 2.2000."):
        assert text in page
    assert 'href="/o/acme/p/shop/usage"' in page
    assert ["no project" in text for text in (page, project)] == [True, False]
    for text in ("10,000 tokens", "There is no cap."):
        assert text in project
    for text in ("February 2025", "No model was asked", '?month=2025-01"', '?month=2025-03"'):
        assert text in empty
    for month in ("x", "2999-01", "0001-01", "2026-13"):
        present = pages.owner.get(f"{PAGE}?month={month}").text
        assert f"{datetime.now(UTC):%B %Y}" in present, month
