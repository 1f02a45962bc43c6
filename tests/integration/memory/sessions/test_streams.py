"""Sessions keep what agents did beside what was said; readers of turns see what was said alone."""

import pytest
from django.conf import settings

from accounts import tenancy
from accounts.actions.organizations import change_organization
from accounts.errors import InvalidInput
from accounts.models import Organization
from accounts.queries import keep_events_days
from memory.sessions import queries as sessions
from memory.sessions.actions.lifecycle import forget
from memory.sessions.models import Session, Stream, Turn
from teams.actions import change_project, create_project
from teams.queries import project
from tests.support.agent_runs import Run, Shop

ALL = [0, 1, 2]


def filled(shop: Shop, place: str | None = None, **fields: object) -> Run:
    """Return a session in which something was said, done and looked at."""
    run = shop.opened(project=place)
    run.says("First.", "Second.")
    with tenancy.unit():
        for stream, sequence in ((1, 1), (1, 2), (1, 9), (2, 9)):
            Turn.all_streams.create(
                session_id=run.id, stream=Stream(stream), sequence=sequence, text="{}",
                body={}, at=shop.now,
            )  # fmt: skip
    run.update(**fields)
    return run


def keep_days(shop: Shop, *, organization: int | None = None, store: object = None) -> None:
    """Set for how long an organization keeps what was done, and a project of it."""
    if organization is not None:
        change_organization(caller=shop.owner, name="Acme", keep_events_days=organization)
    changes = {"keep_events_days": store}
    change_project(caller=shop.owner, ref=shop.slug, changes=changes, if_version=None)


def test_what_was_done_is_no_turn_and_a_turn_of_the_same_number_another_one(shop: Shop) -> None:
    run = filled(shop)
    with tenancy.unit():
        spoken = sessions.spoken(session_id=run.id, after=0, limit=10)
        related = Session.objects.get(pk=run.id).turns.count()
    seen = sessions.session(caller=shop.agent, session_id=run.id)

    third = run.says("Third.")

    assert [turn.text for turn in spoken] == ["First.", "Second."]
    assert (related, seen.turns, seen.last_sequence) == (2, 2, 2)
    assert (third.stored, third.last_sequence) == (1, 3)


@pytest.mark.parametrize(
    ("days", "after", "left"), [(7, 8, [0]), (7, 6, ALL), (90, 31, [1, 2]), (30, 31, [])]
)
def test_what_was_done_is_kept_as_long_as_the_organization_says(
    shop: Shop, days: int, after: int, left: list[int]
) -> None:
    keep_days(shop, organization=days)
    ended, consolidated, running = filled(shop), filled(shop), filled(shop)
    ended.update(state="ended", ended_at=shop.now)
    consolidated.update(state="consolidated")

    forget(now=shop.at(days=after).now)

    assert [run.streams() for run in (ended, consolidated, running)] == [left, left, ALL]


@pytest.mark.parametrize(("days", "after", "left"), [(3, 4, [0]), (3, 2, ALL), (None, 8, [0])])
def test_a_project_keeps_what_was_done_for_fewer_days_and_others_as_usual(
    shop: Shop, days: int | None, after: int, left: list[int]
) -> None:
    keep_days(shop, organization=7, store=days)
    create_project(caller=shop.owner, slug="mill", name="Mill", now=shop.now)
    runs = [
        filled(shop, place, state="ended", ended_at=shop.now) for place in ("store", "mill", None)
    ]

    forget(now=shop.at(days=after).now)

    usual = [0] if after > 7 else ALL
    assert [run.streams() for run in runs] == [left, usual, usual]


def test_an_organization_that_keeps_less_later_keeps_less_of_all_projects(shop: Shop) -> None:
    keep_days(shop, store=20)
    change_organization(caller=shop.owner, name="Acme", keep_events_days=5)
    run = filled(shop, "store", state="ended", ended_at=shop.now)

    forget(now=shop.at(days=6).now)

    assert run.streams() == [0]


def test_a_project_keeps_it_for_no_longer_than_the_organization(shop: Shop) -> None:
    for days in (0, 31, 2.5, True):
        with pytest.raises(InvalidInput) as refused:
            keep_days(shop, store=days)
        assert refused.value.errors[0].pointer == "/keep_events_days"

    assert project(caller=shop.owner, ref=shop.slug).keep_events_days is None


def test_another_organization_s_setting_holds_for_it_alone(
    shop: Shop, other_organization: Organization
) -> None:
    with tenancy.walled(organization_id=other_organization.id):
        Organization.objects.filter(pk=other_organization.id).update(keep_events_days=1)
    run = filled(shop, state="ended", ended_at=shop.now)

    forget(now=shop.at(days=2).now)

    assert run.streams() == ALL
    usual = keep_events_days(organization_id=shop.owner.organization_id)
    assert usual == settings.KEEP_TURNS_DAYS
