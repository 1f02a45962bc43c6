"""What models cost, over REST: exact, by day, project and model, for who manages."""

from datetime import datetime
from decimal import Decimal

import pytest
from django.conf import LazySettings

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.extraction.actions import Spent, book_use
from tests.support.api import Api

SPENT = Spent(model="openai/small", calls=1, input_tokens=7, output_tokens=3)


def test_money_is_exact_and_summed_three_ways(
    api: Api, caller: Caller, now: datetime, settings: LazySettings
) -> None:
    settings.CAIRN_MODEL_PRICES = {"openai/small": (Decimal("0.1"), Decimal("0.2"))}
    with entered(caller), tenancy.unit():
        for _ in range(3):
            book_use(spent=SPENT, project_id=None, now=now)

    told = api.get(f"usage?month={now:%Y-%m}").json()

    assert (told["tokens"], told["cost"], told["cost_per_accepted"]) == (30, "0.0000039", None)
    part = {"calls": 3, "fallbacks": 0, "tokens": 30, "cost": "0.0000039"}
    assert told["days"] == [{"name": now.date().isoformat(), **part}]
    assert told["projects"] == [{"name": "", **part}]
    assert told["models"] == [{"name": "openai/small", **part}]


@pytest.mark.parametrize("month", ["2026-13", "novembe", "2026-1x", "9999-12", "0001-01"])
def test_what_is_no_month_is_refused(api: Api, month: str) -> None:
    answer = api.get(f"usage?month={month}")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/month"
