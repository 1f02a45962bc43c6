"""Memories that surely harm are demoted in the night, few at once; people outrank it."""

from typing import Any
from uuid import UUID

import numpy as np
import pytest

from accounts import jobs, tenancy
from accounts.models import Job
from memory.experiments.actions.consequences import JOB, demote_harmful, queue_demotion
from memory.records.models import Memory
from memory.review.actions.verdicts import keep
from memory.sessions.models import Session
from teams.actions import change_experiments
from teams.models import AuditEntry, Change
from tests.integration.memory.experiments.conftest import BAD, GOOD, Shop
from tests.support import memories, work

WHY: dict[str, Any] = {
    "worse": ["rereads"],
    "given": 39,  # of 14 of one person those that do not outweigh 26 of two others
    "withheld": 24,
    "given_people": 3,
    "withheld_people": 3,
}


@pytest.fixture(autouse=True)
def _withholding(shop: Shop) -> None:
    """Let the project withhold memories from a tenth."""
    changed = {"enabled": True, "withheld_percent": 10}
    change_experiments(caller=shop.owner, ref=shop.slug, changed=changed)


@pytest.fixture
def harmful(shop: Shop) -> UUID:
    """A memory with which sessions are clearly worse off."""
    memory = shop.remember(by=shop.member)
    shop.compare(memory.id)
    return memory.id


def waits(memory_id: UUID) -> bool:
    """Say whether a memory waits for review."""
    with tenancy.unit():
        return Memory.objects.get(pk=memory_id).needs_review


def demoted(shop: Shop) -> int:
    """Let a night pass; return how many memories were demoted."""
    return demote_harmful(now=shop.now)["demoted"]


def test_a_memory_that_harms_waits_and_a_person_is_told_why(shop: Shop, harmful: UUID) -> None:
    done = demote_harmful(now=shop.now)

    with tenancy.unit():
        entry = AuditEntry.objects.get(act="memory.demoted")
        change = Change.objects.get(kind="memory.demoted")
    assert done == {"projects": 1, "memories": 1, "demoted": 1}
    assert waits(harmful)
    assert entry.details == WHY
    assert (entry.object_id, entry.actor_user) == (str(harmful), None)
    assert (change.object_id, change.actor_user) == (harmful, None)


@pytest.mark.parametrize("is_agent", [False, True])
def test_what_somebody_keeps_is_as_before(shop: Shop, harmful: UUID, is_agent: bool) -> None:
    nights = [demoted(shop), demoted(shop)]

    keeper = memories.as_agent(shop.owner) if is_agent else shop.owner
    keep(caller=keeper, memory_id=harmful, now=shop.now)

    assert [*nights, demoted(shop)] == [1, 0, 0]
    assert not waits(harmful)


def test_what_people_stand_for_is_left_to_them(shop: Shop, harmful: UUID) -> None:
    for fields in ({"pinned": True}, {"user_verified": True}, {"governance": 1}):
        with tenancy.unit():
            rows = Memory.objects.filter(pk=harmful)
            before = rows.values(*fields).get()
            rows.update(**fields)
        assert demoted(shop) == 0, fields
        with tenancy.unit():
            rows.update(**before)
    for changed in ({"enabled": False}, {"enabled": True, "withheld_percent": 0}):
        change_experiments(caller=shop.owner, ref=shop.slug, changed=changed)
        assert demote_harmful(now=shop.now)["projects"] == 0

    assert not waits(harmful)


def test_what_helps_or_few_sessions_or_a_small_difference_demote_nothing(shop: Shop) -> None:
    shop.compare(shop.remember(memories.CARTS).id, BAD, GOOD[:19])
    shop.compare(shop.remember(memories.PARSER).id, GOOD, GOOD)
    shop.compare(shop.remember().id, GOOD, BAD)
    everybodys = shop.remember("Nightly exports wait for the lock.", project=None)  # of no project
    shop.compare(everybodys.id)

    assert demote_harmful(now=shop.now) == {"projects": 1, "memories": 3, "demoted": 0}


def test_no_night_takes_more_than_a_few_of_a_project(shop: Shop) -> None:
    for text in (memories.REDIS, memories.CARTS, memories.PARSER):
        shop.compare(shop.remember(text).id)

    assert [demoted(shop) for _ in range(4)] == [1, 1, 1, 0]


def test_few_people_and_personal_sessions_demote_nothing_for_all(shop: Shop, harmful: UUID) -> None:
    for people in ((1,), (1, 2), (1, 1, 1, 1, 1, 1, 2, 3)):
        with tenancy.unit():
            rows = list(Session.objects.order_by("id"))
            for place, one in enumerate(rows):
                one.opened_by = UUID(int=people[place % len(people)])
            Session.objects.bulk_update(rows, ["opened_by"])
        assert demoted(shop) == 0, people
    with tenancy.unit():
        Session.objects.update(scope="personal")

    assert demote_harmful(now=shop.now) == {"projects": 1, "memories": 0, "demoted": 0}
    assert not waits(harmful)


def test_of_a_personal_memory_its_owners_sessions_decide_and_no_one_elses(shop: Shop) -> None:
    memory = shop.remember(scope="personal")
    shop.compare(memory.id)

    nights = []
    for opener in (UUID(int=1), shop.me):
        with tenancy.unit():
            Session.objects.update(opened_by=opener)
        nights.append(demoted(shop))

    assert nights == [0, 1]
    assert waits(memory.id)


def test_among_many_memories_that_change_nothing_chance_demotes_none(shop: Shop) -> None:
    drawn = np.random.default_rng(5)
    for place in range(12):
        text = f"Shelf {place} of the depot is counted on day {place} of the month, by hand."
        both = ([{"rereads": int(one)} for one in drawn.poisson(5, count)] for count in (30, 20))
        shop.compare(shop.remember(text).id, *both)

    assert demote_harmful(now=shop.now) == {"projects": 1, "memories": 12, "demoted": 0}


def test_the_job_of_the_night_says_what_it_did(shop: Shop) -> None:
    queue_demotion()
    queue_demotion()

    (job,) = Job.objects.filter(name=JOB)

    assert jobs.run_handler(work.taken(job.id)) == {"projects": 1, "memories": 0, "demoted": 0}
