"""What a model judges candidates to be to what is known, and that words decide where it fails."""

import json
from typing import Any

import pytest

from accounts import tenancy
from memory.records.models import Conflict, Memory, MemoryLink
from memory.sessions.models import Statistic
from teams.actions import change_project
from tests.support import vendors
from tests.support.agent_runs import Shop
from tests.support.memories import sent
from tests.support.vendor_server import Fault, Vendor

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
FIVE = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."
FAR = "We decided to move from Redis 6 to Valkey because of the license."
ADDS = (
    "The checkout worker in `shop/checkout.py` retries a payment 3 times and writes each of them "
    "into the ledger."
)


class Judge:
    """A model that writes one candidate down, and judges it."""

    def __init__(self, vendor: Vendor, shop: Shop) -> None:
        self.vendor, self.shop = vendor, shop

    def says(self, text: str, relation: str, certainty: float = 0.9) -> None:
        """Set its answers."""
        one = {
            "turn": 1, "text": text, "type": "fact", "topics": [], "importance": 0.5,
            "entities": [], "files": [], "relation": "new", "event_time": None,
        }  # fmt: skip
        judged = {"pair": 1, "relation": relation, "certainty": certainty}
        self.vendor.chat_content = json.dumps({"memories": [one]})
        self.vendor.answers["relations"] = json.dumps({"relations": [judged]})

    def reads(self, text: str, *, shared: bool = True, turns: int = 2) -> dict[str, Any]:
        """Hand in a conversation of so many turns, and take what is worth keeping of the first."""
        run = self.shop.opened(self.shop.owner, shared=shared, models_agreed=True)
        run.says(*(f"We fixed a bug: remember this. {text}", "Noted.")[:turns])
        return dict(run.ends().consolidated())

    @property
    def asked(self) -> list[str]:
        """What it was asked for."""
        return [one["response_format"]["json_schema"]["name"] for one in self.vendor.asked]


@pytest.fixture
def judge(vendor: Vendor, shop: Shop) -> Judge:
    """A model beside what the project knows."""
    shop.remember(OLD)
    return Judge(vendor, shop)


def _links() -> list[tuple[str, bool, float]]:
    with tenancy.unit():
        rows = MemoryLink.objects.order_by("id")
        return list(rows.values_list("kind", "automatic", "confidence"))


def _kinds() -> list[str]:
    return [kind for kind, _, _ in _links()]


def _active() -> int:
    with tenancy.unit():
        return Memory.objects.filter(status="active").count()


@pytest.mark.parametrize("relation", ["extend", "derive"])
def test_an_edge_is_made_with_its_certainty_and_both_stay(judge: Judge, relation: str) -> None:
    judge.says(ADDS, relation, certainty=0.8)

    counts = judge.reads(ADDS)

    assert (counts["compared"], counts["judged"], counts["calls"]) == (1, 1, 2)
    assert (_links(), _active()) == ([(relation, True, 0.8)], 2)
    with tenancy.unit():
        assert not Conflict.objects.exists()


@pytest.mark.parametrize("relation", ["update", "contradicts"])
def test_no_model_retires_anything_alone(judge: Judge, relation: str) -> None:
    judge.says(ADDS, relation)

    judge.reads(ADDS)

    assert _active() == 2
    with tenancy.unit():
        assert Conflict.objects.get().verdict == ""


@pytest.mark.parametrize(("certainty", "links"), [(0.9, []), (0.3, ["contradicts"])])
def test_what_a_model_surely_holds_for_unrelated_is_no_conflict(
    judge: Judge, certainty: float, links: list[str]
) -> None:
    judge.says(FIVE, "none", certainty)

    counts = judge.reads(FIVE)

    assert counts.get("dropped", {}).get("relation_unsure", 0) == len(links)
    assert _kinds() == links


def test_words_decide_where_the_model_fails_and_the_result_says_so(judge: Judge) -> None:
    judge.says(FIVE, "none")
    judge.vendor.script = [Fault.NONE, Fault.GARBAGE]

    counts = judge.reads(FIVE)

    assert counts["degraded"] == {"model_failed": 1}
    assert _kinds() == ["contradicts"]
    with tenancy.unit():
        booked = Statistic.objects.get(kind="model_use").counts
    assert (booked["calls"], booked["fallbacks"]) == (2, 1)


def test_nothing_near_costs_no_call(judge: Judge) -> None:
    judge.says(FAR, "contradicts")

    judge.reads(FAR)

    assert (judge.asked, _kinds()) == (["memories"], [])


@pytest.mark.parametrize(
    ("name", "limit", "turns", "degraded"),
    [
        ("max_llm_calls_per_turn", 1, 1, {"turn_calls_spent": 1}),
        ("max_llm_calls_per_turn", 1, 2, None),
        ("max_llm_calls_per_turn", 2, 1, None),
        ("max_llm_calls_per_session", 1, 2, {"session_calls_spent": 1}),
    ],
)
def test_turns_and_sessions_cost_no_more_calls_than_their_project_says(
    judge: Judge, name: str, limit: int, turns: int, degraded: dict[str, int] | None
) -> None:
    shop = judge.shop
    change_project(caller=shop.owner, ref=shop.slug, changes={name: limit}, if_version=None)
    judge.says(FIVE, "none")

    counts = judge.reads(FIVE, turns=turns)

    assert judge.asked == (["memories"] if degraded else ["memories", "relations"])
    assert counts.get("degraded") == degraded
    assert _kinds() == (["contradicts"] if degraded else [])


def test_a_note_of_ones_own_is_not_compared_with_what_is_for_all_nor_shown_to_a_model_elsewhere(
    vendor: Vendor, shop: Shop
) -> None:
    judge = Judge(vendor, shop)
    shop.remember(OLD, scope="personal")
    judge.says(FIVE, "none")

    for_all, asked = judge.reads(FIVE), judge.asked
    vendors.chat_at(url=vendors.by_its_name(vendor=vendor))
    counts = judge.reads(FIVE, shared=False)

    assert (for_all["compared"], asked) == (0, ["memories"])
    assert (counts["compared"], counts["judged"]) == (1, 0)
    assert counts["degraded"]["models_not_agreed"] == 1
    assert not any(OLD in json.dumps(one) for one in vendor.asked)


def test_an_explicit_add_asks_no_model(judge: Judge) -> None:
    outcome = sent(judge.shop.owner, judge.shop.now, FIVE, project=judge.shop.slug)

    assert outcome.conflict_id is not None
    assert judge.vendor.asked == []
