"""What went wrong in sessions of a week is told to those who may see the sessions, and no more."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.models import Organization
from memory.experiments.actions.weekly_figures import measure_weeks
from memory.experiments.queries import WeekFigures, report
from memory.records.models import MemoryLink
from teams.actions import create_project
from tests.integration.memory.experiments.conftest import Shop
from tests.support import memories, people

WEEK = timedelta(weeks=1)


@pytest.fixture
def shop(
    caller: Caller, member_caller: Caller, in_organization: tenancy.Tenant, now: datetime
) -> Shop:
    """A project that everybody sees, without sessions."""
    create_project(caller=caller, slug="store", name="Store", now=now)
    return Shop(caller, member_caller, now)


def weeks(shop: Shop, caller: Caller | None = None) -> tuple[WeekFigures, ...]:
    """Measure, and return what a caller is told."""
    measure_weeks(now=shop.now)
    found = report(caller=caller or shop.owner, project=shop.slug, days=30, now=shop.now)
    return found.weeks


def test_who_does_not_see_sessions_is_told_nothing_of_their_weeks(
    shop: Shop, organization: Organization
) -> None:
    shop.run([{"dead_ends": 1}], ago=WEEK)
    assert len(weeks(shop)) == 1
    stranger = people.make_person(organization=organization, email="w@x.test", role=Role.MEMBER)
    other = people.as_caller(organization=organization, user=stranger, role=Role.MEMBER)

    assert weeks(shop, shop.member) == weeks(shop, other) == ()
    assert weeks(shop, replace(shop.owner, user_id=None, token_id=shop.me)) == ()

    shop.share()

    assert [one.reentered for one in weeks(shop, shop.member)] == [1]


def test_a_memory_that_not_all_see_is_not_counted_of_a_shared_session(shop: Shop) -> None:
    rows = shop.run([{}], ago=WEEK)
    one = shop.remember(memories.REDIS).id
    own = shop.remember(memories.CARTS, scope="personal").id
    with tenancy.unit():
        MemoryLink.objects.create(source_id=one, target_id=own, kind="contradicts")
    shop.log(rows, one, own)
    assert [one.disagreeing for one in weeks(shop)] == [1]

    shop.share()

    assert [one.disagreeing for one in weeks(shop, shop.member)] == [0]
