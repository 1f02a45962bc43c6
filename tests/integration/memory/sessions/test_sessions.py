"""Sessions: opened, filled, ended and consolidated; the same again adds nothing."""

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from accounts.models import Job
from memory.observer.actions.consolidate import consolidate
from memory.records.models import Memory
from memory.sessions import queries as sessions
from memory.sessions.actions import lifecycle
from memory.sessions.actions.append_turns import Appended, NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.models import GivenOut, Turn
from memory.sessions.queries import SessionView
from tests.support import memories

pytestmark = pytest.mark.usefixtures("in_organization")
DECISION = "We decided to move from Redis 6 to Valkey because of the license."
TRAP = "The importer fails with LockTimeout when two workers start together."
TALK = (
    ("user", f"Hi there! {DECISION}"),
    ("assistant", f"Sure, I'll look at the importer first.\n\n{TRAP}"),
    ("user", "Thanks, that looks good."),
)


def opened(caller: Caller, now: datetime, **given: object) -> SessionView:
    """Open a session."""
    return open_session(caller=caller, new=NewSession(**given), now=now).session  # type: ignore[arg-type]


def told(
    caller: Caller, now: datetime, session: SessionView, talk: tuple[tuple[str, str], ...] = TALK
) -> Appended:
    """Append turns to a session."""
    turns = tuple(NewTurn(role=role, text=text) for role, text in talk)
    return append_turns(caller=caller, session_id=session.id, turns=turns, now=now)


def taken(caller: Caller, now: datetime, session: SessionView) -> dict[str, object]:
    """End a session and do the job behind it."""
    end_session(caller=caller, session_id=session.id, now=now)
    return dict(consolidate(session_id=session.id, now=now, tell=lambda done, total: None))


def test_what_is_worth_keeping_waits_for_review_with_its_evidence(
    agent: Caller, store: str, now: datetime
) -> None:
    session = opened(agent, now, project=store)
    told(agent, now, session)

    counts = taken(agent, now, session)

    with tenancy.unit():
        rows = tuple(Memory.objects.order_by("source_uri"))
    evidence = [f"session:{session.id}#turn-{number}" for number in (1, 2)]
    assert [(row.content, row.type, row.source_uri) for row in rows] == [
        (DECISION, "decision", evidence[0]),
        (TRAP, "error_pattern", evidence[1]),
    ]
    stands = {(row.needs_review, row.source, row.authority) for row in rows}
    assert stands == {(True, "extracted", 6)}
    assert {(row.audience, row.session_id) for row in rows} == {(agent.user_id, session.id)}
    assert (counts["added"], counts["turns"]) == (2, 3)


def test_a_roadmap_keeps_three_decisions_and_requirements_of_its_turns(
    agent: Caller, store: str, now: datetime
) -> None:
    things = ("the till", "the warehouse", "the mail relay", "the price lists", "old invoices")
    decided = (f"We decided to rewrite {one} before the summer sale begins." for one in things)
    session = opened(agent, now, project=store, type="roadmap")
    told(agent, now, session, (*TALK, *(("user", one) for one in decided)))

    taken(agent, now, session)

    with tenancy.unit():
        types = list(Memory.objects.values_list("type", flat=True))
    result = sessions.session(caller=agent, session_id=session.id).result
    assert types == ["decision"] * 3
    assert result["dropped"] == {"not_of_this_session_type": 1, "over_bound": 3}


def test_the_same_conversation_three_times_yields_the_same_memories(
    agent: Caller, store: str, now: datetime
) -> None:
    seen = set()
    for _ in range(3):
        session = opened(agent, now, project=store)
        told(agent, now, session)
        taken(agent, now, session)
        with tenancy.unit():
            seen.add(tuple(Memory.objects.order_by("id").values_list("id", "confirmations")))

    assert len(seen) == 1
    with tenancy.unit():
        provenance = Memory.objects.order_by("id").values_list("provenance_sessions", flat=True)
        assert [len(set(one)) for one in provenance] == [3, 3]


def test_turns_are_idempotent_by_their_sequence(agent: Caller, store: str, now: datetime) -> None:
    session = opened(agent, now, project=store)
    turn = NewTurn(role="user", text=DECISION, sequence=7)

    first = append_turns(caller=agent, session_id=session.id, turns=(turn,), now=now)
    again = append_turns(
        caller=agent,
        session_id=session.id,
        turns=(turn, NewTurn(role="user", text="More.")),
        now=now,
    )

    assert (first.stored, first.known) == (1, 0)
    assert (again.stored, again.known, again.last_sequence) == (1, 1, 8)


def test_a_secret_is_taken_out_before_a_turn_is_stored(
    agent: Caller, store: str, now: datetime
) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    session = opened(agent, now, project=store)

    done = told(agent, now, session, (("user", f"The token is {key}, keep it."),))

    with tenancy.unit():
        row = Turn.objects.get()
    assert key not in row.text
    assert (row.masked, len(done.masked), done.masked[0].sequence) == (1, 1, 1)


def test_a_new_session_of_the_same_agent_ends_the_one_before(
    agent: Caller, store: str, now: datetime
) -> None:
    first = opened(agent, now, project=store)

    opened(agent, now, project=store)

    assert sessions.session(caller=agent, session_id=first.id).state == "ended"
    assert Job.objects.filter(name="memory.consolidate", key=first.id.hex).count() == 1


def test_only_the_turns_of_a_page_are_counted(agent: Caller, store: str, now: datetime) -> None:
    made = [
        opened(agent, now + timedelta(minutes=number), project=store, agent=str(number))
        for number in range(5)
    ]
    for number, session in enumerate(made):
        told(agent, now, session, TALK[:number])

    with CaptureQueriesContext(connection) as asked:
        page = sessions.sessions(caller=agent, project=None, state=None, after=None, limit=2)

    assert [(one.id, one.turns, one.last_sequence) for one in page.items] == [
        (made[4].id, 3, 3),
        (made[3].id, 3, 3),
    ]
    (counting,) = (one["sql"] for one in asked if "COUNT" in one["sql"])
    assert "LIMIT 3)" in counting


def test_an_external_id_finds_its_session(agent: Caller, store: str, now: datetime) -> None:
    first = opened(agent, now, project=store, external_id="run-1")

    again = open_session(caller=agent, new=NewSession(project=store, external_id="run-1"), now=now)

    assert (again.is_new, again.session.id) == (False, first.id)


def test_turns_are_forgotten_when_nothing_will_be_taken_from_them(
    agent: Caller, store: str, now: datetime
) -> None:
    done, open_one = (opened(agent, now, project=store, agent=name) for name in ("a", "b"))
    told(agent, now, done)
    told(agent, now, open_one)
    taken(agent, now, done)

    lifecycle.forget(now=now + timedelta(days=31))

    with tenancy.unit():
        assert set(Turn.objects.values_list("session_id", flat=True)) == {open_one.id}


def test_nothing_is_taken_from_a_session_that_is_not_to_be_kept(
    agent: Caller, store: str, now: datetime
) -> None:
    session = opened(agent, now, project=store, memory_eligible=False)
    told(agent, now, session)

    ended = end_session(caller=agent, session_id=session.id, now=now)

    assert ended.job_id is None
    assert not Job.objects.filter(name="memory.consolidate").exists()


def test_a_shared_session_is_seen_by_the_project_and_filled_by_its_opener_alone(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    session = opened(agent, now, project=store, shared=True)

    seen = sessions.session(caller=caller, session_id=session.id)

    assert seen.scope == "project"
    with pytest.raises(Forbidden, match="Somebody else opened this session"):
        told(memories.as_agent(caller), now, session)


def test_a_personal_session_is_nobody_elses(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    session = opened(agent, now, project=store)

    with pytest.raises(NotFound):
        sessions.session(caller=caller, session_id=session.id)
    with pytest.raises(NotFound):
        sessions.pulse(caller=caller, session_id=session.id)
    with pytest.raises(NotFound):
        end_session(caller=caller, session_id=session.id, now=now)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"shared": True}, "needs the project"),
        ({"work_unit": {"height": "x"}}, "unit of work"),
        ({"thread": "x" * 201}, "at most 200"),
        ({"external_id": "a\x00b"}, "cannot be stored"),
    ],
)
def test_a_wrong_field_is_named(
    agent: Caller, now: datetime, given: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        opened(agent, now, **given)


def test_the_pulse_of_a_shared_session_counts_what_its_watcher_may_see(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    session = opened(caller, now, project=store, shared=True)
    private = memories.stored(caller, now, "Ana keeps her notes in vim.", scope="personal")
    shared = memories.stored(caller, now, "Totals are kept in cents.", project=store)
    pulses = [_pulses(session, caller, member_caller)]

    for one in (private, shared):
        with tenancy.unit():
            GivenOut.objects.create(memory_id=one.id, at=now, session_id=session.id)
        pulses.append(_pulses(session, caller, member_caller))

    own, theirs = zip(*pulses, strict=True)
    assert len(set(own)) == 3
    assert (theirs[0], len(set(theirs))) == (theirs[1], 2)


def _pulses(session: SessionView, *callers: Caller) -> tuple[str, ...]:
    return tuple(sessions.pulse(caller=one, session_id=session.id) for one in callers)
