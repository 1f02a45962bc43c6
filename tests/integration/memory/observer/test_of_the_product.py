"""What tools that drive the running product showed is kept for review, at every level of trust."""

from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.records.models import Memory
from teams.trust import TrustLevel
from tests.support import memories
from tests.support.agent_runs import ran
from tests.support.trusting import stand

pytestmark = pytest.mark.usefixtures("in_organization")

SHOWN = "The checkout button stays disabled until the address form is valid."
EVENTS = (
    {
        "sequence": 1,
        "kind": "tool_call",
        "name": "mcp__browser__browser_click",
        "call": "c1",
        "args": {"element": "Pay"},
    },
    {"sequence": 2, "kind": "tool_result", "call": "c1", "name": "", "text": SHOWN},
    {
        "sequence": 3,
        "kind": "tool_call",
        "name": "Read",
        "call": "c2",
        "args": {"file_path": "a.py"},
    },
    {"sequence": 4, "kind": "tool_result", "name": "Read", "call": "c2", "text": SHOWN},
    {"sequence": 5, "kind": "session_complete", "outcome": "success", "steps": 2},
)


@pytest.mark.parametrize("level", [TrustLevel.CAUTIOUS, TrustLevel.AUTONOMOUS])
def test_a_result_of_such_a_tool_becomes_one_observation_that_waits(
    caller: Caller, store: str, now: datetime, level: TrustLevel
) -> None:
    stand(caller, store, level, now)

    row = ran(memories.as_agent(caller), now, EVENTS, project=store)

    with tenancy.unit():
        found = Memory.objects.get()
    assert (found.type, found.source, found.content) == ("e2e_observation", "tool_auto", SHOWN)
    assert found.needs_review
    assert found.audience == row.audience == caller.user_id
    assert found.attributes["ui_behavior"] == SHOWN


def test_what_is_not_worth_it_becomes_nothing(agent: Caller, store: str, now: datetime) -> None:
    dull = ({**EVENTS[1], "name": "browser_snapshot", "text": "12 nodes."}, *EVENTS[2:])

    ran(agent, now, dull, project=store)

    with tenancy.unit():
        assert not Memory.objects.exists()
