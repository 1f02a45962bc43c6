"""What a session showed in a model's words, and in a template's where the model fails."""

import json
from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.observer.actions.promote import promote_piece
from memory.records.models import Memory
from memory.sessions.actions.append_events import append_events
from memory.sessions.models import Session, Statistic
from teams.actions import change_project
from tests.integration.memory.sessions.test_finalize import (
    STREAM,
    ended,
    observed,
    opened,
    ran,
    reported,
    working,
)
from tests.support import vendors
from tests.support.vendor_server import Fault, Status, Vendor

LATER = "Correction: the till rounds each line of a receipt and never its sum."
pytestmark = pytest.mark.usefixtures("in_organization")


def says(vendor: Vendor, *texts: str) -> None:
    """Let the model put the signals into these words, in their order."""
    told = [{"signal": number, "text": text} for number, text in enumerate(texts, 1)]
    vendor.answers["phrases"] = json.dumps({"phrases": told})


def template(agent: Caller, now: datetime) -> str:
    """Return the words of the template for the surest signal."""
    ran(agent, now, external_id="before")
    return observed()[0].content


def told(row: Session) -> dict[str, object]:
    """Return what is told of the phrasing."""
    assert row.observed is not None
    found: dict[str, object] = row.observed["phrasing"]
    return found


def shorter(content: str) -> str:
    """Return the same in other words: its first sentence cut short."""
    return content.replace("Corrected by the agent itself", "Corrected by the agent")


def test_a_model_puts_what_is_kept_into_words_in_one_call(
    vendor: Vendor, agent: Caller, store: str, now: datetime
) -> None:
    plain = template(agent, now)
    vendor.asked.clear()
    says(vendor, shorter(plain))

    row = ran(agent, now, project=store, models_agreed=True)

    with tenancy.unit():
        found = Memory.objects.filter(session_id=row.id, type="gotcha").get()
        booked = Statistic.objects.filter(kind="model_use", project_id=row.project_id).get()
        calls = Session.objects.get(pk=row.id).result["calls"]
    assert found.content == shorter(plain)
    assert found.needs_review
    assert (len(vendor.asked), calls, booked.counts["calls"]) == (1, 1, 1)
    assert told(row) == {"phrased": 1, "dropped": {}, "degraded": ""}


@pytest.mark.parametrize("fault", vendors.FAILING, ids=str)
def test_the_template_speaks_where_the_model_fails_and_the_session_says_so(
    vendor: Vendor, agent: Caller, store: str, now: datetime, fault: Fault | Status
) -> None:
    vendor.script = [fault]

    row = ran(agent, now, project=store, models_agreed=True)

    assert observed()[0].content.startswith("Corrected by the agent itself")
    assert told(row) == {"phrased": 0, "dropped": {}, "degraded": "model_failed"}
    with tenancy.unit():
        booked = Statistic.objects.get(kind="model_use").counts
    assert (booked["calls"], booked["fallbacks"]) == (1, 1)


def test_invented_words_are_dropped_and_counted(
    vendor: Vendor, agent: Caller, store: str, now: datetime
) -> None:
    says(vendor, "Always run `make deploy` 3 times after touching src/shop/prices.py.")

    row = ran(agent, now, project=store, models_agreed=True)

    assert observed()[0].content.startswith("Corrected by the agent itself")
    assert sum(told(row)["dropped"].values()) == 1  # type: ignore[attr-defined]


def test_without_a_model_the_template_speaks_and_the_session_says_so(
    agent: Caller, store: str, now: datetime
) -> None:
    row = ran(agent, now, project=store)

    assert told(row)["phrased"] == 0
    assert told(row)["degraded"] in {"no_model", ""}


@pytest.mark.parametrize(
    ("is_agreed", "degraded"), [(True, "session_calls_spent"), (False, "models_not_agreed")]
)
def test_a_session_without_calls_or_without_consent_is_shown_to_no_model(
    vendor: Vendor, caller: Caller, agent: Caller, store: str, now: datetime,
    is_agreed: bool, degraded: str,
) -> None:  # fmt: skip
    if is_agreed:
        one = {"max_llm_calls_per_session": 0}
        change_project(caller=caller, ref=store, changes=one, if_version=None)
    else:
        vendors.chat_at(url=vendors.by_its_name(vendor=vendor))

    row = ran(agent, now, project=store, models_agreed=is_agreed)

    assert (vendor.asked, told(row)["degraded"]) == ([], degraded)


def test_a_session_that_goes_on_after_its_end_is_phrased_once(
    vendor: Vendor, agent: Caller, store: str, now: datetime
) -> None:
    session = opened(agent, now, project=store, models_agreed=True)
    for part in (STREAM[:14], STREAM[14:]):
        append_events(caller=agent, session_id=session.id, events=part, now=now)
        says(vendor)
        row = ended(agent, session, now)

    assert len(vendor.asked) == 1
    assert told(row)["degraded"] == "phrased_before"
    assert row.result["phrasing_calls"] == 1


def test_the_pieces_of_a_long_build_leave_the_call_to_its_end(
    vendor: Vendor, agent: Caller, store: str, now: datetime
) -> None:
    session = working(agent, now, project=store, models_agreed=True)
    reported(agent, session, now, 100)
    promote_piece(session_id=session.id, now=now)
    before = len(vendor.asked)
    later = {"sequence": 101, "kind": "reasoning", "step": 9, "text": LATER}
    append_events(caller=agent, session_id=session.id, events=(later,), now=now)
    reported(agent, session, now, 102)
    says(vendor)

    ended(agent, session, now)

    assert (before, len(vendor.asked)) == (0, 1)
    assert LATER in json.dumps(vendor.asked)
    assert len(observed()) == 3


def test_the_same_signal_in_other_words_is_known_in_the_next_session(
    vendor: Vendor, agent: Caller, store: str, now: datetime
) -> None:
    plain = template(agent, now)
    says(vendor, shorter(plain))
    ran(agent, now, project=store, models_agreed=True)

    row = ran(agent, now, project=store, models_agreed=True, external_id="again")

    assert row.observed is not None
    assert row.observed["dropped"]["known"] == 2
    with tenancy.unit():
        later = Memory.objects.filter(session_id=row.id)
        assert not later.filter(type__in=("gotcha", "dead_end")).exists()
