"""What a session came to: seen by who sees it, decided in one go, all of it or nothing."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, Forbidden, InvalidInput, NotFound
from memory.records.models import Memory
from memory.review.actions import bulk
from memory.review.actions.bulk import SessionDecided, SessionVerdict
from memory.review.queries import inbox
from memory.review.queries.inbox import SessionSummary
from memory.sessions.models import Session
from tests.support import memories
from tests.support.agent_runs import ran


@dataclass(frozen=True)
class Ended:
    """A session that ended, and the person whose agent it was."""

    row: Session
    person: Caller
    now: datetime

    def seen(self, by: Caller | None = None) -> SessionSummary:
        """Return the summary as somebody sees it."""
        return inbox.get_summary(caller=by or self.person, session_id=self.row.id, now=self.now)

    def ids(self) -> list[UUID]:
        """Return the memories that it came to."""
        return [one["memory"].id for one in self.seen().candidates]

    def decide(self, *verdicts: SessionVerdict, **given: Any) -> SessionDecided:
        """Decide about it."""
        given = {"caller": self.person, "save_all": False, "count": None, **given}
        return bulk.decide_session(session_id=self.row.id, verdicts=verdicts, now=self.now, **given)


def verdict(memory_id: UUID, verb: str, **given: str) -> SessionVerdict:
    return SessionVerdict(memory_id=memory_id, verdict=verb, **given)


@pytest.fixture
def session(agent: Caller, member_caller: Caller, store: str, now: datetime) -> Ended:
    """A session that came to two memories."""
    return Ended(ran(agent, now, project=store), member_caller, now)


@pytest.fixture
def silent(agent: Caller, member_caller: Caller, store: str, now: datetime) -> Ended:
    """A session without events."""
    return Ended(ran(agent, now, (), project=store), member_caller, now)


def test_it_says_what_was_seen_dropped_and_waits(session: Ended, silent: Ended) -> None:
    told, nothing = session.seen(), silent.seen()

    assert [(one["memory"].type, one["why"], one["waits"]) for one in told.candidates] == [
        ("error_pattern", "error_retry", True),
        ("dead_end", "dead_end", True),
    ]
    assert told.waiting == 2
    assert told.shown["dropped"] == {"only_strengthens": 5}
    assert told.candidates[0]["evidence"][-1]["sequence"] == 26
    assert "promoted" not in told.shown
    assert (nothing.candidates, nothing.waiting, nothing.shown) == ((), 0, inbox.EMPTY)


def test_all_that_somebody_counted_is_kept_at_once(session: Ended, agent: Caller) -> None:
    with pytest.raises(Conflict, match="2 wait here now, not 1"):
        session.decide(save_all=True, count=1)
    with pytest.raises(Forbidden):  # who proposed does not approve
        session.decide(caller=agent, save_all=True)

    done = session.decide(save_all=True, count=2)
    assert (done.decided, done.summary.waiting) == ({"keep": 2}, 0)
    with tenancy.unit():
        assert not Memory.objects.filter(session_id=session.row.id, needs_review=True).exists()


def test_each_is_decided_in_its_own_way(session: Ended) -> None:
    first, second = session.ids()
    text = "The cart never imports pricing."

    done = session.decide(
        verdict(first, "edit", content=text), verdict(second, "reject", reason="Not worth it.")
    )

    assert done.decided == {"edit": 1, "reject": 1}
    with tenancy.unit():
        rows = {row.id: row.status for row in Memory.objects.filter(id__in=(first, second))}
        assert (rows[first], rows[second]) == ("superseded", "archived")
        assert Memory.objects.get(content=text).status == "active"


def test_later_leaves_it_waiting_for_others(session: Ended) -> None:
    first, _second = session.ids()

    done = session.decide(verdict(first, "later"), save_all=True)
    again = session.decide(save_all=True)

    assert done.decided == {"later": 1, "keep": 1}
    assert (done.summary.waiting, again.decided) == (0, {})
    with tenancy.unit():
        assert Memory.objects.get(pk=first).needs_review


def test_one_that_cannot_be_decided_leaves_all_undecided(session: Ended) -> None:
    first, second = session.ids()
    session.decide(verdict(second, "reject"))

    with pytest.raises(Conflict):
        session.decide(verdict(first, "keep"), verdict(second, "keep"))

    assert session.seen().waiting == 1


def test_what_cannot_be_meant_names_its_place(session: Ended, silent: Ended) -> None:
    first, _second = session.ids()
    keep = verdict(first, "keep")

    for ended, verdicts, pointer in (
        (session, (verdict(first, "edit"),), "/verdicts/0/content"),
        (session, (verdict(uuid4(), "keep"),), "/verdicts/0/memory_id"),
        (session, (keep, keep), "/verdicts/1/memory_id"),
        (session, (), "/verdicts"),
        (silent, (keep,), "/verdicts/0/memory_id"),  # of another session
    ):
        with pytest.raises(InvalidInput) as refused:
            ended.decide(*verdicts)
        assert refused.value.errors[0].pointer == pointer


def test_a_personal_session_is_nobody_else_s(session: Ended, caller: Caller) -> None:
    for somebody in (caller, memories.as_agent(caller)):
        with pytest.raises(NotFound):
            session.seen(somebody)
        with pytest.raises(NotFound):
            session.decide(caller=somebody, save_all=True)
