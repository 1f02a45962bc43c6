"""What a session came to: seen by who sees it, decided in one go, all of it or nothing."""

from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, Forbidden, InvalidInput, NotFound
from memory.records.models import Memory
from memory.review.actions import bulk
from memory.review.actions.bulk import OtherMemories, SessionDecided, SessionVerdict, decide_session
from memory.review.queries import session_summary
from memory.review.queries.session_summary import SessionSummary
from memory.sessions.models import Session
from tests.support import memories
from tests.support.agent_runs import ran

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def person(member_caller: Caller) -> Caller:
    """The person whose agent it was, in person."""
    return member_caller


@pytest.fixture
def session(agent: Caller, store: str, now: datetime) -> Session:
    """A session that came to two memories."""
    return ran(agent, now, project=store)


def seen(caller: Caller, session: Session, now: datetime) -> SessionSummary:
    """Return the summary as somebody sees it."""
    return session_summary.get_summary(caller=caller, session_id=session.id, now=now)


def decided(
    caller: Caller,
    session: Session,
    now: datetime,
    *verdicts: SessionVerdict,
    others: OtherMemories | None = None,
) -> SessionDecided:
    """Decide about a session."""
    return decide_session(
        caller=caller, session_id=session.id, verdicts=verdicts, others=others, now=now
    )


def test_it_says_what_was_seen_what_was_dropped_and_what_waits(
    person: Caller, session: Session, now: datetime
) -> None:
    told = seen(person, session, now)

    assert [(one.memory.type, one.why, one.waits) for one in told.candidates] == [
        ("gotcha", "self_correction", True),
        ("dead_end", "dead_end", True),
    ]
    assert told.waiting == 2
    assert told.shown["dropped"] == {"too_few_sessions": 4}
    assert told.candidates[0].evidence[-1]["sequence"] == 13
    assert "promoted" not in told.shown


def test_a_session_without_events_came_to_nothing(agent: Caller, store: str, now: datetime) -> None:
    row = ran(agent, now, (), project=store)

    told = seen(agent, row, now)

    assert (told.candidates, told.waiting, told.shown) == ((), 0, session_summary.EMPTY)


def test_all_of_it_is_kept_at_once(person: Caller, session: Session, now: datetime) -> None:
    done = decided(person, session, now, others=OtherMemories())

    assert done.decided == {"keep": 2}
    assert done.summary.waiting == 0
    with tenancy.unit():
        assert not Memory.objects.filter(session_id=session.id, needs_review=True).exists()


def test_each_is_decided_in_its_own_way(person: Caller, session: Session, now: datetime) -> None:
    first, second = (one.memory.id for one in seen(person, session, now).candidates)

    done = decided(
        person,
        session,
        now,
        SessionVerdict(memory_id=first, verdict="edit", content="The cart never imports pricing."),
        SessionVerdict(memory_id=second, verdict="reject", reason="Not worth it."),
    )

    assert done.decided == {"edit": 1, "reject": 1}
    with tenancy.unit():
        rows = {row.id: row for row in Memory.objects.filter(id__in=(first, second))}
        assert (rows[first].status, rows[second].status) == ("superseded", "archived")
        assert Memory.objects.get(content="The cart never imports pricing.").status == "active"


def test_later_leaves_it_waiting_for_others(
    person: Caller, session: Session, now: datetime
) -> None:
    first = seen(person, session, now).candidates[0].memory.id

    done = decided(
        person,
        session,
        now,
        SessionVerdict(memory_id=first, verdict="later"),
        others=OtherMemories(),
    )

    again = decided(person, session, now, others=OtherMemories())

    assert done.decided == {"later": 1, "keep": 1}
    assert (done.summary.waiting, again.decided) == (0, {})
    with tenancy.unit():
        assert Memory.objects.get(pk=first).needs_review


def test_nothing_is_kept_that_nobody_counted(
    person: Caller, session: Session, now: datetime
) -> None:
    with pytest.raises(Conflict) as refused:
        decided(person, session, now, others=OtherMemories(count=1))

    assert "2 wait here now, not 1" in str(refused.value.detail)
    assert decided(person, session, now, others=OtherMemories(count=2)).decided == {"keep": 2}


def test_one_that_cannot_be_decided_leaves_all_undecided(
    person: Caller, session: Session, now: datetime
) -> None:
    first, second = (one.memory.id for one in seen(person, session, now).candidates)
    decided(person, session, now, SessionVerdict(memory_id=second, verdict="reject"))

    with pytest.raises(Conflict):
        decided(
            person,
            session,
            now,
            SessionVerdict(memory_id=first, verdict="keep"),
            SessionVerdict(memory_id=second, verdict="keep"),
        )

    assert seen(person, session, now).waiting == 1


def test_who_proposed_does_not_approve(agent: Caller, session: Session, now: datetime) -> None:
    with pytest.raises(Forbidden):
        decided(agent, session, now, others=OtherMemories())

    assert seen(agent, session, now).waiting == 2


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"verdict": "edit"}, "/verdicts/0/content"),
        ({"verdict": "keep", "memory_id": uuid4()}, "/verdicts/0/memory_id"),
    ],
)
def test_a_wrong_verdict_names_its_place(
    person: Caller, session: Session, now: datetime, given: dict[str, object], pointer: str
) -> None:
    first = seen(person, session, now).candidates[0].memory.id
    verdict = replace(SessionVerdict(memory_id=first, verdict="keep"), **given)  # type: ignore[arg-type]

    with pytest.raises(InvalidInput) as refused:
        decided(person, session, now, verdict)

    assert refused.value.errors[0].pointer == pointer


def test_nothing_and_the_same_twice_are_refused(
    person: Caller, session: Session, now: datetime
) -> None:
    first = seen(person, session, now).candidates[0].memory.id
    twice = (SessionVerdict(memory_id=first, verdict="keep"),) * 2

    with pytest.raises(InvalidInput):
        decided(person, session, now)
    with pytest.raises(InvalidInput):
        decided(person, session, now, *twice)


def test_a_personal_session_is_nobody_else_s(
    caller: Caller, session: Session, now: datetime
) -> None:
    for somebody in (caller, memories.as_agent(caller)):
        with pytest.raises(NotFound):
            seen(somebody, session, now)
        with pytest.raises(NotFound):
            decided(somebody, session, now, others=OtherMemories())


def test_a_memory_of_another_session_is_as_none(
    person: Caller, agent: Caller, session: Session, store: str, now: datetime
) -> None:
    other = ran(agent, now, (), project=store)
    first = seen(person, session, now).candidates[0].memory.id

    with pytest.raises(InvalidInput) as refused:
        decided(person, other, now, SessionVerdict(memory_id=first, verdict="keep"))

    assert refused.value.errors[0].code == "unknown"
    assert bulk.SESSION_VERDICTS == ("keep", "edit", "reject", "later")
