"""Memories that surely harm are set aside in the night, few at once; people outrank it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.experiments.actions import demote_harmful
from memory.experiments.actions.demote_harmful import DemotionResult
from memory.records.models import Memory
from memory.review.actions.verdicts import keep
from memory.sessions.models import Session
from teams.actions.project_settings import change_experiments
from teams.models import AuditEntry, Change
from tests.integration.memory.experiments.test_experiments import given, person, stored
from tests.support import memories, work

pytestmark = pytest.mark.usefixtures("in_organization")
BAD: Sequence[dict[str, Any]] = [{"rereads": 9}, {"rereads": 11}] * 20
GOOD: Sequence[dict[str, Any]] = [{"rereads": 1}, {"rereads": 3}] * 12
TOLD: dict[str, Any] = {
    "worse": ["rereads"],
    "given": 39,  # of 14 of one person those that do not outweigh 26 of two others
    "withheld": 24,
    "given_people": 3,
    "withheld_people": 3,
}


@pytest.fixture
def tested(caller: Caller, store: str) -> str:
    """A project that withholds memories from a tenth."""
    change_experiments(caller=caller, ref=store, changed={"enabled": True, "withheld_percent": 10})
    return store


def harmful(caller: Caller, store: str, now: datetime, **fields: Any) -> UUID:
    """Store a memory with which sessions are clearly worse off; return its id."""
    memory = memories.stored(caller, now, project=store, **fields)
    compare(caller, store, memory.id, now, with_it=BAD, without=GOOD)
    return memory.id


def compare(
    caller: Caller,
    store: str,
    memory_id: UUID,
    now: datetime,
    *,
    with_it: Sequence[dict[str, Any]],
    without: Sequence[dict[str, Any]],
) -> None:
    """Let sessions be given a memory, and others go without."""
    told = of_three(caller, store, with_it, now)
    left = of_three(caller, store, without, now)
    given(told, memory_id, now, withheld=False)
    given(left, memory_id, now, withheld=True)


def of_three(
    caller: Caller, store: str, figures: Sequence[dict[str, Any]], now: datetime
) -> list[Session]:
    """Store shared sessions of three people in turn."""
    found = stored(store, "full", figures, owner=person(caller), now=now)
    people = (person(caller), UUID(int=1), UUID(int=2))
    for place, one in enumerate(found):
        one.opened_by, one.scope = people[place % 3], "project"
        one.audience = one.project.id if one.project else one.audience
    with tenancy.unit():
        Session.objects.bulk_update(found, ["opened_by", "scope", "audience"])
    return found


def waits(memory_id: UUID) -> bool:
    """Say whether a memory waits for review."""
    with tenancy.unit():
        return Memory.objects.get(pk=memory_id).needs_review


def test_a_memory_that_harms_waits_for_review_and_a_person_is_told_why(
    caller: Caller, tested: str, now: datetime
) -> None:
    memory_id = harmful(caller, tested, now)

    done = demote_harmful.demote_harmful(now=now)

    with tenancy.unit():
        (entry,) = AuditEntry.objects.filter(act="memory.demoted")
        (change,) = Change.objects.filter(kind="memory.demoted")
    assert done == DemotionResult(projects=1, memories=1, demoted=1)
    assert waits(memory_id)
    assert entry.details == TOLD
    assert (entry.object_id, entry.actor_user) == (str(memory_id), None)
    assert (change.object_id, change.actor_user) == (memory_id, None)


@pytest.mark.parametrize("is_agent", [False, True])
def test_what_somebody_keeps_comes_back_and_stays(
    caller: Caller, member_caller: Caller, tested: str, now: datetime, is_agent: bool
) -> None:
    memory_id = harmful(member_caller, tested, now)
    demote_harmful.demote_harmful(now=now)
    second = demote_harmful.demote_harmful(now=now)

    keep(caller=memories.as_agent(caller) if is_agent else caller, memory_id=memory_id, now=now)
    again = demote_harmful.demote_harmful(now=now)

    assert (second.demoted, again.demoted) == (0, 0)
    assert not waits(memory_id)


@pytest.mark.parametrize("fields", [{"pinned": True}, {"user_verified": True}, {"governance": 1}])
def test_what_people_stand_for_is_left_to_them(
    caller: Caller, tested: str, now: datetime, fields: dict[str, Any]
) -> None:
    memory_id = harmful(caller, tested, now)
    with tenancy.unit():
        Memory.objects.filter(pk=memory_id).update(**fields)

    assert demote_harmful.demote_harmful(now=now).demoted == 0
    assert not waits(memory_id)


def test_what_helps_or_few_sessions_or_a_small_difference_set_nothing_aside(
    caller: Caller, tested: str, now: datetime
) -> None:
    few = memories.stored(caller, now, memories.CARTS, project=tested)
    compare(caller, tested, few.id, now, with_it=BAD, without=GOOD[:19])
    small = memories.stored(caller, now, memories.PARSER, project=tested)
    compare(caller, tested, small.id, now, with_it=GOOD, without=GOOD)
    helps = memories.stored(caller, now, project=tested)
    compare(caller, tested, helps.id, now, with_it=GOOD, without=BAD)

    assert demote_harmful.demote_harmful(now=now) == DemotionResult(
        projects=1, memories=3, demoted=0
    )


def test_no_night_takes_more_than_a_few_of_a_project(
    caller: Caller, tested: str, now: datetime
) -> None:
    for text in (memories.REDIS, memories.CARTS, memories.PARSER):
        harmful(caller, tested, now, content=text)

    nights = [demote_harmful.demote_harmful(now=now).demoted for _ in range(4)]

    assert nights == [1, 1, 1, 0]


@pytest.mark.parametrize("people", [(1,), (1, 2), (1, 1, 1, 1, 1, 1, 2, 3)])
def test_one_or_two_or_mostly_one_person_set_nothing_aside_that_all_share(
    caller: Caller, tested: str, now: datetime, people: tuple[int, ...]
) -> None:
    memory_id = harmful(caller, tested, now)
    with tenancy.unit():
        for place, one in enumerate(Session.objects.order_by("id")):
            owner = UUID(int=people[place % len(people)])
            Session.objects.filter(pk=one.pk).update(opened_by=owner)

    assert demote_harmful.demote_harmful(now=now).demoted == 0
    assert not waits(memory_id)


def test_of_what_is_shared_personal_sessions_do_not_count(
    caller: Caller, tested: str, now: datetime
) -> None:
    memory_id = harmful(caller, tested, now)
    with tenancy.unit():
        Session.objects.update(scope="personal")

    assert demote_harmful.demote_harmful(now=now) == DemotionResult(
        projects=1, memories=0, demoted=0
    )
    assert not waits(memory_id)


def test_of_a_personal_memory_its_owners_sessions_decide_and_no_one_elses(
    caller: Caller, tested: str, now: datetime
) -> None:
    memory_id = harmful(caller, tested, now, scope="personal")

    with tenancy.unit():
        Session.objects.update(opened_by=UUID(int=1))
    others = demote_harmful.demote_harmful(now=now).demoted
    with tenancy.unit():
        Session.objects.update(opened_by=person(caller))

    assert (others, demote_harmful.demote_harmful(now=now).demoted) == (0, 1)
    assert waits(memory_id)


def test_a_project_sets_aside_memories_of_its_own_alone(
    caller: Caller, tested: str, now: datetime
) -> None:
    everybodys = memories.stored(caller, now)
    compare(caller, tested, everybodys.id, now, with_it=BAD, without=GOOD)

    assert demote_harmful.demote_harmful(now=now) == DemotionResult(
        projects=1, memories=0, demoted=0
    )
    assert not waits(everybodys.id)


def test_among_many_memories_that_change_nothing_chance_sets_none_aside(
    caller: Caller, tested: str, now: datetime
) -> None:
    drawn = np.random.default_rng(5)
    for place in range(12):
        text = f"Shelf {place} of the depot is counted on day {place} of the month, by hand."
        memory = memories.stored(caller, now, text, project=tested)
        with_it, without = (
            [{"rereads": int(one)} for one in drawn.poisson(5, count)] for count in (30, 20)
        )
        compare(caller, tested, memory.id, now, with_it=with_it, without=without)

    assert demote_harmful.demote_harmful(now=now) == DemotionResult(
        projects=1, memories=12, demoted=0
    )


@pytest.mark.parametrize("changed", [{"enabled": False}, {"withheld_percent": 0}])
def test_a_project_that_withholds_nothing_is_left_alone(
    caller: Caller, tested: str, now: datetime, changed: dict[str, Any]
) -> None:
    memory_id = harmful(caller, tested, now)
    change_experiments(caller=caller, ref=tested, changed=changed)

    assert demote_harmful.demote_harmful(now=now).projects == 0
    assert not waits(memory_id)


def test_the_job_of_the_night_says_what_it_did(caller: Caller, tested: str, now: datetime) -> None:
    demote_harmful.queue_demotion()
    demote_harmful.queue_demotion()

    (job,) = Job.objects.filter(name=demote_harmful.JOB)

    assert jobs.run_handler(work.taken(job.id)) == {"projects": 1, "memories": 0, "demoted": 0}
