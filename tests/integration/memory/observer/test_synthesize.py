"""What many sessions of a place show together: said once a threshold and week, for review."""

from datetime import datetime, timedelta

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.observer.actions.synthesize import queue_weekly, synthesize
from memory.records.models import Memory
from memory.sessions.models import Session
from tests.integration.memory.sessions.test_finalize import ran, run_jobs
from tests.support import memories

pytestmark = pytest.mark.usefixtures("in_organization")


def said(kind: str = "") -> list[Memory]:
    """Return what syntheses said; of one type, if it is named."""
    with tenancy.unit():
        rows = Memory.objects.filter(source_uri__startswith="synthesis:").order_by("id")
        return [row for row in rows if not kind or row.type == kind]


def lived(caller: Caller, now: datetime, sessions: int, **given: object) -> Session:
    """Let so many sessions do the same; return the last."""
    for day in range(sessions):
        row = ran(caller, now + timedelta(days=day), **given)
    return row


@pytest.fixture
def fifth(agent: Caller, store: str, now: datetime) -> Session:
    """The fifth session of a person that worked on one module."""
    return lived(agent, now, 5, project=store)


def test_the_fifth_session_of_a_module_makes_a_synthesis_due(
    agent: Caller, store: str, now: datetime
) -> None:
    lived(agent, now, 4, project=store)
    before = Job.objects.filter(name="memory.synthesize").count()

    ran(agent, now + timedelta(days=9), project=store)

    assert (before, Job.objects.filter(name="memory.synthesize").count()) == (0, 1)


def test_what_it_says_rests_on_the_sums_and_waits(fifth: Session, now: datetime) -> None:
    counts = synthesize(session_id=fifth.id, is_weekly=False, now=now)

    found = said()
    assert counts["syntheses"] == 1
    assert {one.type for one in found} >= {"prefetch_pattern"}
    assert all(one.needs_review and one.audience == fifth.audience for one in found)
    assert "src/shop/cart.py" in said("prefetch_pattern")[0].attributes["always_read"]


def test_each_threshold_is_said_once(fifth: Session, now: datetime) -> None:
    synthesize(session_id=fifth.id, is_weekly=False, now=now)
    first = len(said())

    again = synthesize(session_id=fifth.id, is_weekly=False, now=now)

    assert (again, len(said())) == ({}, first)


def test_a_week_s_pairs_are_looked_for_in_each_place_that_has_any(
    fifth: Session, agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    ran(memories.as_agent(caller), now, project=store)

    queued = queue_weekly()

    assert queued == 2
    waiting = Job.objects.filter(name="memory.synthesize", payload__weekly=True)
    assert waiting.count() == 2


def changes(number: int) -> tuple[dict[str, object], ...]:
    """Return how a session changes files of two modules that no other session changes."""
    return tuple(
        {
            "sequence": place,
            "kind": "tool_call",
            "name": "Edit",
            "step": place,
            "args": {"file_path": f"/home/ana/shop/src/{module}/{number}.py"},
        }
        for place, module in enumerate(("cart", "tax"), start=1)
    )


def test_a_week_finds_modules_that_go_together_through_other_files_each_time(
    agent: Caller, store: str, now: datetime
) -> None:
    for day in range(5):
        row = ran(agent, now + timedelta(days=day), changes(day), project=store)

    synthesize(session_id=row.id, is_weekly=True, now=now + timedelta(days=6))

    (found,) = said("causal_dependency")
    assert found.content.startswith("Work on src/cart and on src/tax goes together (5 sessions)")
    assert found.needs_review


def test_nothing_of_another_place_is_told(
    fifth: Session, caller: Caller, store: str, now: datetime
) -> None:
    other = ran(memories.as_agent(caller), now, project=store)

    counts = synthesize(session_id=other.id, is_weekly=False, now=now)

    assert (counts, said()) == ({}, [])


def test_what_is_gone_is_left(fifth: Session, now: datetime) -> None:
    with tenancy.unit():
        Memory.objects.filter(session_id=fifth.id).delete()
        Session.objects.filter(pk=fifth.id).delete()

    assert synthesize(session_id=fifth.id, is_weekly=True, now=now) == {"gone": 1}
    assert run_jobs() is None
