"""Sums hold a session as a whole, in however many pieces it came; deleting it takes that back."""

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import tenancy
from accounts.caller import Caller
from memory.observer.actions.delete_session import Fate, delete_session
from memory.observer.actions.finalize import finalize
from memory.sessions.actions import lifecycle
from memory.sessions.actions.append_events import append_events
from memory.sessions.counters import Kind
from memory.sessions.models import Session, Statistic, Turn
from memory.sessions.queries import SessionView
from tests.integration.memory.sessions.test_finalize import STREAM, ended, opened, ran
from tests.support import memories

pytestmark = pytest.mark.usefixtures("in_organization")
KINDS: Final = tuple(kind.value for kind in Kind)
FILE: Final = "src/shop/cart.py"


def sums() -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return all that stands in the sums; what errors said goes with whoever said it last."""
    with tenancy.unit():
        rows = list(Statistic.objects.filter(kind__in=KINDS))
    return {
        (row.kind, str(row.audience), row.key): {
            name: value
            for name, value in row.counts.items()
            if (row.kind, name) != (Kind.ERROR, "notes")
        }
        for row in rows
    }


def in_parts(caller: Caller, now: datetime, cuts: tuple[int, ...], **place: Any) -> SessionView:
    """Run the stream in a session that ends after each of these events, and at last."""
    session = opened(caller, now, **place)
    bounds = (0, *sorted(set(cuts)), len(STREAM))
    for first, last in pairwise(bounds):
        append_events(caller=caller, session_id=session.id, events=STREAM[first:last], now=now)
        ended(caller, session, now)
        assert finalize(session_id=session.id, now=now) == {}
    return session


def deleted(caller: Caller, session: Any, now: datetime) -> None:
    """Delete a session for good, and keep what was taken from it."""
    delete_session(caller=caller, session_id=session.id, memories=Fate.KEEP, now=now)


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(cuts=st.sets(st.integers(1, len(STREAM) - 1), min_size=1, max_size=4), shared=st.booleans())
def test_in_however_many_pieces_a_session_comes_the_sums_are_the_same(
    agent: Caller, caller: Caller, store: str, now: datetime, cuts: set[int], shared: bool
) -> None:
    who = memories.as_agent(caller) if shared else agent
    place = {"project": store, "shared": shared}
    before = sums()
    whole = ran(who, now, **place)
    once = sums()
    deleted(who, whole, now)
    between = sums()

    parts = in_parts(who, now, tuple(cuts), **place)
    in_pieces = sums()
    deleted(who, parts, now)

    assert once != before
    assert (between, in_pieces, sums()) == (before, once, before)


def test_what_another_session_has_added_stays_when_one_is_deleted(
    agent: Caller, store: str, now: datetime
) -> None:
    ran(agent, now, project=store)
    before = sums()
    again = in_parts(agent, now + timedelta(hours=1), (6, 10), project=store)
    both = sums()[Kind.FILE, str(agent.user_id), FILE]

    deleted(agent, again, now)

    assert both["sessions"] == 2
    assert sums() == before


def test_the_first_half_of_a_session_is_no_other_session(
    agent: Caller, store: str, now: datetime
) -> None:
    session = in_parts(agent, now, (5, 10, len(STREAM) - 1), project=store)

    with tenancy.unit():
        told = Session.objects.get(pk=session.id).observed or {}
    assert {one["sessions"] for one in told["seen"]} == {1}
    assert sums()[Kind.FILE, str(agent.user_id), FILE]["sessions"] == 1


def test_a_session_whose_events_are_forgotten_keeps_what_it_added(
    agent: Caller, store: str, now: datetime
) -> None:
    session = in_parts(agent, now, (), project=store)
    once, later = sums(), now + timedelta(days=400)
    lifecycle.forget(now=later)
    with tenancy.unit():
        assert not Turn.done.filter(session_id=session.id).exists()
    more = {"sequence": 90, "kind": "tool_call", "name": "Read", "args": {"file_path": FILE}}
    append_events(caller=agent, session_id=session.id, events=(more,), now=later)
    ended(agent, session, later)
    after = sums()

    deleted(agent, session, later)

    assert (after, sums()) == (once, {})
