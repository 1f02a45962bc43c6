"""Events of a session: stored once, in any order, without secrets; only one's own are taken."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import Forbidden, InvalidInput, NotFound, RateLimited
from accounts.models import Job
from memory import sql_queries
from memory.observer.actions.observe import observe
from memory.sessions import reducers
from memory.sessions.actions import append_events as appending
from memory.sessions.actions import scratchpads
from memory.sessions.actions.append_events import AppendedEvents, append_events
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.sessions.models import Session, Stream, Turn
from memory.sessions.queries import SessionView, events
from memory.sessions.scratchpad import Scratchpad
from tests.support import memories
from tests.support.secret_sending import SENT

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def session(agent: Caller, store: str, now: datetime) -> SessionView:
    """A session of the agent's own in the project."""
    return open_session(caller=agent, new=NewSession(project=store), now=now).session


def call(sequence: int, path: str = "src/cart.py", **more: Any) -> dict[str, Any]:
    """Return the call of a tool that reads a file."""
    return {
        "sequence": sequence,
        "kind": "tool_call",
        "name": "Read",
        "step": sequence,
        "args": {"file_path": path},
        **more,
    }


def sent(caller: Caller, session: SessionView, now: datetime, *events: object) -> AppendedEvents:
    """Append events."""
    return append_events(caller=caller, session_id=session.id, events=events, now=now)


def with_secret(secret: str) -> dict[str, dict[str, Any]]:
    """Return events with a secret in each place that holds a text."""
    said = f"password = {secret}"
    return {
        "text": call(1, text=said),
        "args": call(1, said),
        "name": call(1) | {"name": said},
        "agent": call(1, agent=said),
        "call": call(1, call=said),
        "files": {"sequence": 1, "kind": "commit", "text": "x", "files": [said]},
        "nested": call(1) | {"args": {"command": ["login", said], "password": secret}},
        "words": call(1) | {"args": {"command": ["mysql", "--password", "=", secret]}},
    }


def kept(session: SessionView) -> Scratchpad:
    """Return the settled scratchpad of what is stored."""
    with tenancy.unit():
        opened = scratchpads.read(row=Session.objects.get(pk=session.id))
    return scratchpads.settled(opened=opened)


def test_events_are_stored_once(agent: Caller, session: SessionView, now: datetime) -> None:
    first = sent(agent, session, now, call(1), call(2))

    again = sent(agent, session, now, call(2), call(3), call(3))

    assert (first.stored, first.known, first.last_sequence) == (2, 0, 2)
    assert (again.stored, again.known, again.last_sequence) == (1, 2, 3)
    with tenancy.unit():
        assert Session.objects.get(pk=session.id).events == 3


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("is_apart", [True, False])
def test_what_our_own_tools_answered_is_not_kept(
    agent: Caller, session: SessionView, now: datetime, is_named: bool, is_apart: bool
) -> None:
    told = [
        {"sequence": 1, "kind": "tool_call", "name": "mcp__cairn__search", "call": "a"},
        {"sequence": 2, "kind": "tool_call", "name": "mcp__tickets__get", "call": "b"},
        {"sequence": 3, "kind": "tool_result", "call": "a", "text": "Ana keeps her notes in vim."},
        {"sequence": 4, "kind": "tool_result", "call": "b", "text": "A ticket."},
    ]
    if is_named:
        told[2]["name"], told[3]["name"] = told[0]["name"], told[1]["name"]

    for batch in (told[:2], told[2:]) if is_apart else (told,):
        sent(agent, session, now, *batch)

    page = events(caller=agent, session_id=session.id, first=1, last=9, limit=9)
    assert [one.text for one in page.items] == ["", "", "", "A ticket."]
    assert [deed.is_done for deed in kept(session).deeds.values()] == [True, True]
    with tenancy.unit():
        assert not Turn.done.filter(body__icontains="vim").exists()


def test_any_order_and_lateness_come_to_the_same(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    events = [call(number, path=f"src/{number % 7}.py") for number in range(1, 121)]
    sent(agent, session, now, *events[100:])
    sent(agent, session, now, *events[:50])
    observe(session_id=session.id, now=now)

    sent(agent, session, now, *reversed(events[50:100]))
    observe(session_id=session.id, now=now)

    pad = kept(session)
    assert (pad.applied, pad.missing, pad.late, pad.twice) == (120, 0, 0, 0)
    with tenancy.unit():
        row = Session.objects.get(pk=session.id)
        Turn.checkpoints.filter(session=row).delete()
        anew = scratchpads.read(row=row)
    assert pad == reducers.rebuild(setting=pad.setting, events=anew.events)


def test_what_is_no_event_is_named_and_the_others_stand(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    unknown = {"sequence": 1, "kind": "moon_phase", "text": "full"}

    done = sent(agent, session, now, {"kind": "reasoning"}, call(2), {"sequence": 3}, unknown)

    assert (done.stored, done.unknown) == (2, 1)
    assert [(one.position, one.field) for one in done.refused] == [(0, "sequence"), (2, "kind")]


def test_a_batch_without_any_event_is_refused(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    with pytest.raises(InvalidInput) as refused:
        sent(agent, session, now, {"kind": "reasoning"})

    assert refused.value.errors[0].pointer == "/events/0/sequence"


@pytest.mark.parametrize(
    "at",
    [
        0,
        9e9,
        "2099-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "yesterday",
        -1,
        float("inf"),
    ],
)
def test_no_clock_is_believed(
    agent: Caller, session: SessionView, now: datetime, at: object
) -> None:
    sent(agent, session, now, call(1), call(2, at=at), call(3))

    assert kept(session).clock == 0.0


@pytest.mark.parametrize("secret", SENT)
@pytest.mark.parametrize(
    "where", ["text", "args", "name", "agent", "files", "nested", "call", "words"]
)
def test_a_secret_is_taken_out_before_anything_is_stored(
    agent: Caller, session: SessionView, now: datetime, secret: str, where: str
) -> None:
    done = sent(agent, session, now, with_secret(secret)[where])

    with tenancy.unit():
        row = Turn.done.get(session=session.id)
    assert secret not in str(row.body)
    assert {one.sequence for one in done.masked} == {1}
    assert row.masked >= 1


def test_another_s_session_is_as_none(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    shared = open_session(caller=agent, new=NewSession(project=store, shared=True), now=now)

    with pytest.raises(NotFound) as refused:
        sent(memories.as_agent(caller), shared.session, now, call(1))

    assert "There is no such session" in refused.value.detail


def test_who_may_not_write_appends_nothing(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    with pytest.raises(Forbidden):
        sent(replace(agent, role=Role.VIEWER), session, now, call(1))


def test_too_many_at_once_are_refused(agent: Caller, session: SessionView, now: datetime) -> None:
    with pytest.raises(InvalidInput):
        sent(agent, session, now, *(call(n) for n in range(1, appending.MOST + 2)))


def test_who_is_too_far_ahead_of_the_observer_waits_unless_nothing_is_kept(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    with tenancy.unit():
        Session.objects.filter(pk=session.id).update(events=appending.MOST_BEHIND)

    with pytest.raises(RateLimited) as refused:
        sent(agent, session, now, call(1))

    assert refused.value.retry_after_seconds == appending.WAIT_SECONDS
    with tenancy.unit():
        Session.objects.filter(pk=session.id).update(memory_eligible=False)
    assert sent(agent, session, now, call(1)).stored == 1


def test_what_comes_behind_a_checkpoint_is_looked_at_again(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    with tenancy.unit():
        row = Session.objects.get(pk=session.id)
        Turn.checkpoints.create(
            session=row, stream=Stream.CHECKPOINT, sequence=90, role="", text="{}", at=now
        )

    sent(agent, session, now, call(40))

    with tenancy.unit():
        assert not Turn.checkpoints.filter(session=session.id).exists()
    assert Job.objects.filter(name="memory.observe").count() == 1


def test_a_session_has_a_bound(agent: Caller, session: SessionView, now: datetime) -> None:
    full = appending.MOST_OF_SESSION
    with tenancy.unit():
        Session.objects.filter(pk=session.id).update(events=full, folded=full)

    with pytest.raises(InvalidInput) as refused:
        sent(agent, session, now, call(1))

    assert refused.value.errors[0].code == "too_many"


def test_every_five_hundred_events_are_looked_at(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    sent(agent, session, now, *(call(n) for n in range(1, 500)))
    before = Job.objects.filter(name="memory.observe").count()

    sent(agent, session, now, call(500))

    assert (before, Job.objects.filter(name="memory.observe").count()) == (0, 1)


def test_what_a_transcript_tells_fires_before_its_gaps_are_passed_over(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    said = {"sequence": 128, "kind": "reasoning", "text": "Correction: the flag is read at start."}
    calls = (call(128 * line) for line in range(2, 60))
    sent(agent, session, now, said, *calls)

    counts = observe(session_id=session.id, now=now)

    assert (counts["events"], counts["early"]) == (59, 1)
    with tenancy.unit():
        opened = scratchpads.read(row=Session.objects.get(pk=session.id))
    assert len(opened.scratchpad.pending) == 59


@pytest.mark.usefixtures("tables_of_its_own")
def test_the_last_event_and_late_checkpoints_are_looked_up(now: datetime) -> None:
    given = {"session": uuid4(), "done": 1, "checkpoint": 2, "events": "[]", "count": 0}
    with tenancy.unit():
        last = plan_of("last", **given)
        append = plan_of("append", **given, first=1, now=now)

    assert "memory_turn_once" in last
    assert "memory_turn_once" in append
    assert "memory_agentsession_pkey" in append
    assert "Seq Scan" not in last + append


def plan_of(name: str, **given: Any) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {sql_queries.text(name, file=appending.FILE)}", given)
        return "\n".join(row[0] for row in cursor.fetchall())
