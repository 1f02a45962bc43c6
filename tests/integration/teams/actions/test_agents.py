"""An agent at work appears in the feed once in ten minutes."""

from dataclasses import replace
from uuid import uuid4

import pytest

from accounts.caller import Caller
from teams.actions.people import note_agent
from teams.queries import changes_since


@pytest.mark.usefixtures("in_organization")
def test_an_agent_newly_seen_is_in_the_feed(caller: Caller) -> None:
    agent = replace(caller, token_id=uuid4(), agent="codex", newly_seen=True)

    note_agent(caller=agent)

    (change,) = changes_since(caller=caller, after=0, limit=10)
    assert (change.kind, change.object_id) == ("agent.seen", agent.token_id)
    assert (change.actor_name, change.summary) == ("codex", {"agent": "codex"})


@pytest.mark.usefixtures("in_organization")
@pytest.mark.parametrize(
    "fields", [{"token_id": uuid4()}, {"newly_seen": True}], ids=("a known agent", "a person")
)
def test_a_known_agent_and_a_person_are_not(caller: Caller, fields: dict[str, object]) -> None:
    note_agent(caller=replace(caller, **fields))

    assert changes_since(caller=caller, after=0, limit=10) == ()
