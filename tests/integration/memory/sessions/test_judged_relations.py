"""What a model judges candidates to be to what is known, and that words decide where it fails."""

import json
from datetime import datetime
from typing import Any

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.observer.actions.consolidate import consolidate
from memory.records.models import Conflict, Memory, MemoryLink
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.models import Statistic
from teams.actions import change_project
from tests.support import vendors
from tests.support.memories import sent, stored
from tests.support.vendor_server import Fault, Status, Vendor

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
FIVE = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."
FAR = "We decided to move from Redis 6 to Valkey because of the license."
ADDS = (
    "The checkout worker in `shop/checkout.py` retries a payment 3 times and writes each of them "
    "into the ledger."
)
pytestmark = pytest.mark.usefixtures("in_organization")


def _says(vendor: Vendor, text: str, relation: str, certainty: float = 0.9) -> None:
    """Let the model write one candidate down, and judge it."""
    one = {
        "turn": 1, "text": text, "type": "fact", "topics": [], "importance": 0.5, "entities": [],
        "files": [], "relation": "new", "event_time": None,
    }  # fmt: skip
    judged = {"pair": 1, "relation": relation, "certainty": certainty}
    vendor.chat_content = json.dumps({"memories": [one]})
    vendor.answers["relations"] = json.dumps({"relations": [judged]})


def _taken(
    caller: Caller, now: datetime, text: str, *, shared: bool = True, turns: int = 2
) -> dict[str, Any]:
    """Hand in a conversation of so many turns, and take what is worth keeping of the first."""
    new = NewSession(project="store", shared=shared, models_agreed=True)
    session = open_session(caller=caller, new=new, now=now).session
    said = (f"We fixed a bug: remember this. {text}", "Noted.")
    told = tuple(NewTurn(role="user", text=one) for one in said[:turns])
    append_turns(caller=caller, session_id=session.id, turns=told, now=now)
    end_session(caller=caller, session_id=session.id, now=now)
    return dict(consolidate(session_id=session.id, now=now, tell=lambda done, total: None))


def _links() -> list[tuple[str, bool, float]]:
    with tenancy.unit():
        rows = MemoryLink.objects.order_by("id")
        return [(row.kind, row.automatic, row.confidence) for row in rows]


def _asked_for(vendor: Vendor) -> list[str]:
    return [one["response_format"]["json_schema"]["name"] for one in vendor.asked]


@pytest.mark.parametrize("relation", ["extend", "derive"])
def test_an_edge_is_made_with_its_certainty_and_both_stay(
    vendor: Vendor, caller: Caller, store: str, now: datetime, relation: str
) -> None:
    stored(caller, now, OLD, project=store)
    _says(vendor, ADDS, relation, certainty=0.8)

    counts = _taken(caller, now, ADDS)

    assert (counts["compared"], counts["judged"], counts["calls"]) == (1, 1, 2)
    assert _links() == [(relation, True, 0.8)]
    with tenancy.unit():
        assert Memory.objects.filter(status="active").count() == 2
        assert not Conflict.objects.exists()


@pytest.mark.parametrize("relation", ["update", "contradicts"])
def test_no_model_retires_anything_alone(
    vendor: Vendor, caller: Caller, store: str, now: datetime, relation: str
) -> None:
    stored(caller, now, OLD, project=store)
    _says(vendor, ADDS, relation)

    _taken(caller, now, ADDS)

    with tenancy.unit():
        assert Memory.objects.filter(status="active").count() == 2
        assert Conflict.objects.get().verdict == ""


@pytest.mark.parametrize(("certainty", "links"), [(0.9, []), (0.3, ["contradicts"])])
def test_what_a_model_surely_holds_for_unrelated_is_no_conflict(
    vendor: Vendor, caller: Caller, store: str, now: datetime, certainty: float, links: list[str]
) -> None:
    stored(caller, now, OLD, project=store)
    _says(vendor, FIVE, "none", certainty=certainty)

    counts = _taken(caller, now, FIVE)

    assert counts.get("dropped", {}).get("relation_unsure", 0) == len(links)
    assert [kind for kind, _, _ in _links()] == links


@pytest.mark.parametrize("fault", vendors.FAILING, ids=str)
def test_words_decide_where_the_model_fails_and_the_result_says_so(
    vendor: Vendor, caller: Caller, store: str, now: datetime, fault: Fault | Status
) -> None:
    stored(caller, now, OLD, project=store)
    _says(vendor, FIVE, "none")
    vendor.script = [Fault.NONE, fault]

    counts = _taken(caller, now, FIVE)

    assert counts["degraded"] == {"model_failed": 1}
    assert [kind for kind, _, _ in _links()] == ["contradicts"]
    with tenancy.unit():
        booked = Statistic.objects.get(kind="model_use").counts
    assert (booked["calls"], booked["fallbacks"]) == (2, 1)


def test_nothing_near_costs_no_call(
    vendor: Vendor, caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, OLD, project=store)
    _says(vendor, FAR, "contradicts")

    _taken(caller, now, FAR)

    assert _asked_for(vendor) == ["memories"]
    assert _links() == []


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
    vendor: Vendor, caller: Caller, store: str, now: datetime,
    name: str, limit: int, turns: int, degraded: dict[str, int] | None,
) -> None:  # fmt: skip
    one = {name: limit}
    change_project(caller=caller, ref=store, changes=one, if_version=None)
    stored(caller, now, OLD, project=store)
    _says(vendor, FIVE, "none")

    counts = _taken(caller, now, FIVE, turns=turns)

    assert _asked_for(vendor) == (["memories"] if degraded else ["memories", "relations"])
    assert counts.get("degraded") == degraded
    assert [kind for kind, _, _ in _links()] == (["contradicts"] if degraded else [])


def test_what_only_its_author_sees_is_shown_to_no_model_elsewhere(
    vendor: Vendor, caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, OLD, project=store, scope="personal")
    _says(vendor, FIVE, "none")
    vendors.chat_at(url=vendors.by_its_name(vendor=vendor))

    counts = _taken(caller, now, FIVE, shared=False)

    assert (counts["compared"], counts["judged"]) == (1, 0)
    assert counts["degraded"]["models_not_agreed"] == 1
    assert not any(OLD in json.dumps(one) for one in vendor.asked)


def test_a_note_of_ones_own_is_not_compared_with_what_is_for_all(
    vendor: Vendor, caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, OLD, project=store, scope="personal")
    _says(vendor, FIVE, "none")

    counts = _taken(caller, now, FIVE)

    assert counts["compared"] == 0
    assert _asked_for(vendor) == ["memories"]


def test_an_explicit_add_asks_no_model(
    vendor: Vendor, caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, OLD, project=store)

    outcome = sent(caller, now, FIVE, project=store)

    assert outcome.conflict_id is not None
    assert vendor.asked == []
