"""What a level of trust lets wait, and what a person who keeps it makes of it."""

from datetime import datetime
from typing import Any

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.records.models import Memory
from memory.review.actions import bulk, verdicts
from memory.review.actions.bulk import OtherMemories
from memory.review.queries import session_summary
from teams.trust import TrustLevel
from tests.integration.memory.sessions.test_finalize import STREAM, ran
from tests.integration.memory.sessions.test_trust import FETCHED, person, stands
from tests.support import memories
from tests.support.trusting import stand

__all__ = ["person"]

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.mark.parametrize(
    ("level", "waits", "asking"),
    [
        (TrustLevel.CAUTIOUS, True, "each"),
        (TrustLevel.STANDARD, True, "all_at_once"),
        (TrustLevel.CONFIDENT, False, "needing_review"),
        (TrustLevel.AUTONOMOUS, False, "nothing"),
    ],
)
def test_a_level_says_what_waits_when_a_session_has_ended(
    caller: Caller, store: str, now: datetime, level: TrustLevel, waits: bool, asking: str
) -> None:
    stand(caller, store, level, now)

    row = ran(memories.as_agent(caller), now, project=store)

    told = session_summary.get_summary(caller=caller, session_id=row.id, now=now)
    assert {one.memory.needs_review for one in told.candidates} == {waits}
    assert (len(told.candidates), told.asking.value) == (2, asking)


@pytest.mark.parametrize("level", list(TrustLevel))
def test_what_came_after_outside_content_waits_at_every_level_and_nobody_is_given_it(
    caller: Caller, store: str, now: datetime, level: TrustLevel
) -> None:
    stand(caller, store, level, now)
    behind = tuple({**one, "sequence": one["sequence"] + 10} for one in STREAM)

    row = ran(memories.as_agent(caller), now, (*FETCHED, *behind), project=store, shared=True)

    with tenancy.unit():
        found = list(Memory.objects.filter(session_id=row.id))
    assert found
    assert all(one.needs_review and one.taint_reason for one in found)


def test_all_that_waits_is_confirmed_at_once(
    person: Caller, agent: Caller, store: str, now: datetime
) -> None:
    stand(person, store, TrustLevel.STANDARD, now)
    row = ran(agent, now, project=store)

    done = bulk.decide_session(
        caller=person, session_id=row.id, verdicts=(), others=OtherMemories(count=2), now=now
    )

    assert done.decided == {"keep": 2}
    assert stands(person, store).evidence.confirmed == 2


def test_what_a_person_kept_is_sure_enough_for_the_first_level(
    person: Caller, agent: Caller, store: str, now: datetime
) -> None:
    row = ran(agent, now, project=store)
    told: Any = session_summary.get_summary(caller=person, session_id=row.id, now=now).candidates[0]

    kept = verdicts.keep(caller=person, memory_id=told.memory.id, now=now)

    assert told.memory.confidence < 0.8
    assert kept.memory.confidence == 0.9
