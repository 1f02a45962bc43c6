"""Sessions keep what agents did beside what was said; readers of turns see what was said alone."""

from datetime import datetime, timedelta

import pytest
from django.conf import settings

from accounts import tenancy
from accounts.actions.organizations import change_organization
from accounts.caller import Caller
from accounts.errors import InvalidInput
from accounts.models import Organization
from accounts.queries.directory import keep_events_days
from memory.sessions import queries as sessions
from memory.sessions.actions import lifecycle
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.sessions.models import Session, Stream, Turn
from memory.sessions.queries import SessionView
from teams.actions import change_project, create_project
from teams.queries import project

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def session(agent: Caller, now: datetime) -> SessionView:
    """A session in which two turns were said and three things done."""
    view = open_session(caller=agent, new=NewSession(), now=now).session
    turns = tuple(NewTurn(role="user", text=text) for text in ("First.", "Second."))
    append_turns(caller=agent, session_id=view.id, turns=turns, now=now)
    with tenancy.unit():
        row = Session.objects.get(pk=view.id)
        for stream, sequence in ((1, 1), (1, 2), (1, 9), (2, 9)):
            Turn.all_streams.create(
                session=row, stream=Stream(stream), sequence=sequence, body={}, text="{}", at=now
            )
    return view


def done_in(agent: Caller, now: datetime, place: str | None) -> SessionView:
    """Return a session of a project in which something was said and done, and that has ended."""
    view = open_session(caller=agent, new=NewSession(project=place), now=now).session
    with tenancy.unit():
        row = Session.objects.get(pk=view.id)
        for stream in (Stream.SAID, Stream.DONE, Stream.CHECKPOINT):
            Turn.all_streams.create(session=row, stream=stream, sequence=1, text="{}", at=now)
        Session.objects.filter(pk=view.id).update(state="ended", ended_at=now)
    return view


def test_what_was_done_is_no_turn(agent: Caller, session: SessionView) -> None:
    with tenancy.unit():
        spoken = sessions.spoken(session_id=session.id, after=0, limit=10)
        row = Session.objects.get(pk=session.id)
        related = row.turns.count()

    seen = sessions.session(caller=agent, session_id=session.id)

    assert [turn.text for turn in spoken] == ["First.", "Second."]
    assert (related, seen.turns, seen.last_sequence) == (2, 2, 2)


def test_a_turn_and_an_event_of_one_sequence_are_two(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    third = NewTurn(role="user", text="Third.")

    done = append_turns(caller=agent, session_id=session.id, turns=(third,), now=now)

    assert (done.stored, done.last_sequence) == (1, 3)


def kept(session: SessionView) -> list[int]:
    """Return the streams of which something is left."""
    with tenancy.unit():
        rows = Turn.all_streams.filter(session=session.id).order_by("stream")
        return list(rows.values_list("stream", flat=True).distinct())


@pytest.mark.parametrize(
    ("days", "after", "left"), [(7, 8, [0]), (7, 6, [0, 1, 2]), (90, 31, [1, 2]), (30, 31, [])]
)
def test_what_was_done_is_kept_as_long_as_the_organization_says(
    caller: Caller, session: SessionView, now: datetime, days: int, after: int, left: list[int]
) -> None:
    change_organization(caller=caller, name="Acme", keep_events_days=days)
    with tenancy.unit():
        Session.objects.filter(pk=session.id).update(state="ended", ended_at=now)

    lifecycle.forget(now=now + timedelta(days=after))

    assert kept(session) == left


@pytest.mark.parametrize(
    ("days", "after", "left"), [(3, 4, [0]), (3, 2, [0, 1, 2]), (None, 8, [0]), (7, 8, [0])]
)
def test_a_project_keeps_what_was_done_for_fewer_days_and_others_as_usual(
    caller: Caller, agent: Caller, store: str, now: datetime,
    days: int | None, after: int, left: list[int],
) -> None:  # fmt: skip
    change_organization(caller=caller, name="Acme", keep_events_days=7)
    create_project(caller=caller, slug="mill", name="Mill", now=now)
    changes = {"keep_events_days": days}
    change_project(caller=caller, ref=store, changes=changes, if_version=None)
    rows = [done_in(agent, now, place) for place in (store, "mill", None)]

    lifecycle.forget(now=now + timedelta(days=after))

    usual = [0] if after > 7 else [0, 1, 2]
    assert [kept(row) for row in rows] == [left, usual, usual]


def test_an_organization_that_keeps_less_later_keeps_less_of_all_projects(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    change_project(caller=caller, ref=store, changes={"keep_events_days": 20}, if_version=None)
    change_organization(caller=caller, name="Acme", keep_events_days=5)
    row = done_in(agent, now, store)

    lifecycle.forget(now=now + timedelta(days=6))

    assert kept(row) == [0]


@pytest.mark.parametrize("days", [0, -1, 31, 10**9, 2.5, True])
def test_a_project_keeps_it_for_no_longer_than_the_organization(
    caller: Caller, store: str, days: float
) -> None:
    with pytest.raises(InvalidInput) as refused:
        change_project(
            caller=caller, ref=store, changes={"keep_events_days": days}, if_version=None
        )

    assert refused.value.errors[0].pointer == "/keep_events_days"
    assert project(caller=caller, ref=store).keep_events_days is None


def test_another_organization_s_setting_holds_for_it_alone(
    caller: Caller, session: SessionView, other_organization: Organization, now: datetime
) -> None:
    with tenancy.walled(organization_id=other_organization.id):
        Organization.objects.filter(pk=other_organization.id).update(keep_events_days=1)
    with tenancy.unit():
        Session.objects.filter(pk=session.id).update(state="ended", ended_at=now)

    lifecycle.forget(now=now + timedelta(days=2))

    assert kept(session) == [0, 1, 2]
    assert keep_events_days(organization_id=caller.organization_id) == settings.KEEP_TURNS_DAYS
