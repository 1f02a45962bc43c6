"""What the first message of a session is told: once, and once more where an ended one goes on."""

from datetime import datetime, timedelta

import pytest

from accounts.caller import Caller
from memory.experiments.points import Point
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.end_session import end_session
from tests.integration.memory.sessions.test_points import FILE, RARE, at, opened, rows, worked

pytestmark = pytest.mark.usefixtures("store")


def test_the_plan_and_unfinished_work_are_told_once(caller: Caller, now: datetime) -> None:
    for _ in range(3):
        worked(caller, now, rows(FILE))
    worked(caller, now, rows(FILE, kind="Edit", outcome="abandoned"), branch="fix/cache")
    session = opened(caller, now, branch="fix/cache")

    first, *again = (
        at(caller, now, Point.FIRST_MESSAGE, session, modules=("src/cart",)) for _ in range(3)
    )

    assert first.delivery.text.count(FILE) == 2  # in the plan, and as what was changed
    assert [(one.delivery.text, one.prefetch, one.unfinished) for one in again] == [
        ("", None, None),
        ("", None, None),
    ]


def test_what_was_answered_by_nothing_may_be_asked_again(caller: Caller, now: datetime) -> None:
    for _ in range(4):
        worked(caller, now, rows(FILE))
    session = opened(caller, now)

    unnamed = at(caller, now, Point.FIRST_MESSAGE, session)
    named = at(caller, now, Point.FIRST_MESSAGE, session, modules=("src/cart",))

    assert unnamed.delivery.text == ""
    assert FILE in named.delivery.text


def test_a_session_that_ended_and_goes_on_is_told_its_own_work_once_more(
    caller: Caller, now: datetime
) -> None:
    worked(caller, now, rows(FILE, kind="Edit", outcome="abandoned"), branch="fix/cache")
    session = opened(caller, now, branch="fix/cache")
    at(caller, now, Point.FIRST_MESSAGE, session)
    later = now + timedelta(minutes=5)
    events = rows(RARE, kind="Edit", outcome="abandoned")
    append_events(caller=caller, session_id=session, events=events, now=later)
    end_session(caller=caller, session_id=session, now=later)

    first, again = (
        at(caller, later + timedelta(minutes=n), Point.FIRST_MESSAGE, session) for n in (1, 2)
    )

    assert first.unfinished is not None
    assert first.unfinished.files == (RARE,)
    assert (again.unfinished, again.delivery.text) == (None, "")
