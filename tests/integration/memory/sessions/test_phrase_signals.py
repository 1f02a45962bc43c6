"""What a session showed in a model's words, and in a template's where the model fails."""

import json
from typing import Any

import pytest

from accounts import tenancy
from memory.observer.actions.session_findings import promote_piece
from memory.records.models import Memory
from memory.sessions.models import Statistic
from teams.actions import change_project
from tests.integration.memory.sessions.test_finalize import report, working
from tests.support import vendors
from tests.support.agent_runs import STREAM, Run, Shop, promoted
from tests.support.vendor_server import Fault, Vendor

LATER = "Correction: the till rounds each line of a receipt and never its sum."


def says(vendor: Vendor, *texts: str) -> None:
    """Let the model put the signals into these words, in their order."""
    told = [{"signal": number, "text": text} for number, text in enumerate(texts, 1)]
    vendor.answers["phrases"] = json.dumps({"phrases": told})


def phrasing(run: Run) -> Any:
    """Return what is told of the phrasing."""
    return run.observed["phrasing"]


def shorter(shop: Shop) -> str:
    """Return what the template says of the surest signal, with its first sentence cut short."""
    shop.ran(project=None, external_id="before")
    plain = promoted()[0].content
    return plain.replace("Corrected by the agent itself", "Corrected by the agent")


def test_a_model_puts_what_is_kept_into_words_in_one_call(vendor: Vendor, shop: Shop) -> None:
    words = shorter(shop)
    vendor.asked.clear()
    says(vendor, words)

    run = shop.ran(models_agreed=True)

    row = run.row
    with tenancy.unit():
        found = Memory.objects.get(session_id=run.id, type="gotcha")
        booked = Statistic.objects.get(kind="model_use", project_id=row.project_id)
    assert (found.content, found.needs_review) == (words, True)
    assert (len(vendor.asked), row.result["calls"], booked.counts["calls"]) == (1, 1, 1)
    assert phrasing(run) == {"phrased": 1, "dropped": {}, "degraded": ""}


def test_the_template_speaks_where_the_model_fails_and_the_session_says_so(
    vendor: Vendor, shop: Shop
) -> None:
    vendor.script = [Fault.GARBAGE]

    run = shop.ran(models_agreed=True)

    assert promoted()[0].content.startswith("Corrected by the agent itself")
    assert phrasing(run) == {"phrased": 0, "dropped": {}, "degraded": "model_failed"}
    with tenancy.unit():
        booked = Statistic.objects.get(kind="model_use").counts
    assert (booked["calls"], booked["fallbacks"]) == (1, 1)


def test_invented_words_are_dropped_and_counted(vendor: Vendor, shop: Shop) -> None:
    says(vendor, "Always run `make deploy` 3 times after touching src/shop/prices.py.")

    run = shop.ran(models_agreed=True)

    assert promoted()[0].content.startswith("Corrected by the agent itself")
    assert sum(phrasing(run)["dropped"].values()) == 1


@pytest.mark.parametrize(
    ("is_agreed", "degraded"), [(True, "session_calls_spent"), (False, "models_not_agreed")]
)
def test_a_session_without_calls_or_without_consent_is_shown_to_no_model(
    vendor: Vendor, shop: Shop, is_agreed: bool, degraded: str
) -> None:
    if is_agreed:
        none = {"max_llm_calls_per_session": 0}
        change_project(caller=shop.owner, ref=shop.slug, changes=none, if_version=None)
    else:
        vendors.chat_at(url=vendors.by_its_name(vendor=vendor))

    run = shop.ran(models_agreed=is_agreed)

    assert (vendor.asked, phrasing(run)["degraded"]) == ([], degraded)


def test_a_session_that_goes_on_after_its_end_is_phrased_once(vendor: Vendor, shop: Shop) -> None:
    run = shop.opened(cwd="/home/ana/shop", models_agreed=True)
    for part in (STREAM[:14], STREAM[14:]):
        run.does(*part)
        says(vendor)
        run.finalized()

    assert len(vendor.asked) == 1
    assert phrasing(run)["degraded"] == "phrased_before"
    assert run.row.result["phrasing_calls"] == 1


def test_the_pieces_of_a_long_build_leave_the_call_to_its_end(vendor: Vendor, shop: Shop) -> None:
    run = working(shop, models_agreed=True)
    run.does(report())
    promote_piece(session_id=run.id, now=run.now)
    before = len(vendor.asked)
    run.does({"sequence": 101, "kind": "reasoning", "step": 9, "text": LATER}, report(102))
    says(vendor)

    run.finalized()

    assert (before, len(vendor.asked)) == (0, 1)
    assert LATER in json.dumps(vendor.asked)
    assert len(promoted()) == 3


def test_the_same_signal_in_other_words_is_known_in_the_next_session(
    vendor: Vendor, shop: Shop
) -> None:
    says(vendor, shorter(shop))
    shop.ran(models_agreed=True)

    run = shop.ran(models_agreed=True, external_id="again")

    assert run.observed["dropped"]["known"] == 2
    with tenancy.unit():
        new = Memory.objects.filter(session_id=run.id)
        assert not new.filter(type__in=("gotcha", "dead_end")).exists()
