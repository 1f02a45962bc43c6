"""Long builds are promoted after each subtask that was validated, and never twice."""

from datetime import datetime
from typing import Any

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.observer.actions.promote import promote_piece
from memory.records.models import Memory
from memory.sessions.actions.append_events import append_events
from memory.sessions.models import Session
from memory.sessions.queries.sessions import SessionView
from tests.integration.memory.sessions.test_finalize import (
    STREAM,
    ended,
    observed,
    opened,
    run_jobs,
)

pytestmark = pytest.mark.usefixtures("in_organization")

SIX = ("parse", "store", "read", "show", "test", "tell")


def working(
    caller: Caller, now: datetime, plan: tuple[str, ...] = SIX, **given: Any
) -> SessionView:
    """Open a build, and do all of its first subtask."""
    session = opened(caller, now, type="build", plan=plan, **given)
    done = tuple(one for one in STREAM if one["kind"] != "session_complete")
    append_events(caller=caller, session_id=session.id, events=done, now=now)
    return session


def reported(
    caller: Caller, session: SessionView, now: datetime, sequence: int, outcome: str = "success"
) -> None:
    """Tell what QA said."""
    report = {"sequence": sequence, "kind": "qa_report", "outcome": outcome, "text": "All is well."}
    append_events(caller=caller, session_id=session.id, events=(report,), now=now)


def test_a_validated_subtask_is_promoted_while_the_build_runs(
    agent: Caller, store: str, now: datetime
) -> None:
    session = working(agent, now, project=store)
    before = promote_piece(session_id=session.id, now=now)
    reported(agent, session, now, 100)

    counts = promote_piece(session_id=session.id, now=now)
    again = promote_piece(session_id=session.id, now=now)

    assert (before, again, counts["pieces"]) == ({}, {}, 1)
    assert len(observed()) == counts["observed_added"] == 2
    assert all(one.needs_review for one in observed())
    with tenancy.unit():
        assert Session.objects.get(pk=session.id).state == "open"


def test_the_end_offers_nothing_of_it_again(agent: Caller, store: str, now: datetime) -> None:
    session = working(agent, now, project=store)
    reported(agent, session, now, 100)
    promote_piece(session_id=session.id, now=now)

    row = ended(agent, session, now)

    assert row.observed is not None
    assert len(observed()) == len(row.observed["promoted"]) == 2
    assert row.observed["dropped"]["taken_before"] == 2
    assert row.observed["piece"] == 100  # what goes on has used up what it had


@pytest.mark.parametrize(
    ("plan", "outcome", "kind"),
    [(SIX[:5], "success", "build"), (SIX, "failure", "build"), (SIX, "success", "insights")],
)
def test_a_short_build_a_failed_subtask_and_other_work_wait_for_the_end(
    agent: Caller, store: str, now: datetime, plan: tuple[str, ...], outcome: str, kind: str
) -> None:
    session = working(agent, now, plan, project=store)
    with tenancy.unit():
        Session.objects.filter(pk=session.id).update(type=kind)
    reported(agent, session, now, 100, outcome)

    assert promote_piece(session_id=session.id, now=now) == {}
    assert observed() == []


def test_the_report_queues_the_look_that_promotes(agent: Caller, store: str, now: datetime) -> None:
    session = working(agent, now, project=store)
    Job.objects.all().delete()

    reported(agent, session, now, 100)
    run_jobs()

    assert len(observed()) == 2


def test_what_is_promoted_stays_in_the_place_of_its_session(
    agent: Caller, store: str, now: datetime
) -> None:
    session = working(agent, now, project=store)
    reported(agent, session, now, 100)

    promote_piece(session_id=session.id, now=now)

    with tenancy.unit():
        found = set(Memory.objects.values_list("audience", "scope", "session_id"))
    assert found == {(agent.user_id, "personal", session.id)}
