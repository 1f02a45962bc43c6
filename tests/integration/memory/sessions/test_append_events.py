"""Events of a session: stored once, in any order, without secrets; only one's own are taken."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Role
from accounts.errors import Forbidden, InvalidInput, NotFound, RateLimited
from accounts.models import Job
from memory import sql_queries
from memory.observer.actions.session_findings import observe
from memory.sessions import reducers
from memory.sessions.actions import append_events as appending
from memory.sessions.actions import hook_rows, scratchpads
from memory.sessions.events import to_row
from memory.sessions.models import Stream, Turn
from memory.sessions.queries import events
from memory.sessions.scratchpad import Scratchpad
from tests.support.agent_runs import Run, Shop
from tests.support.secret_sending import SENT


@pytest.fixture
def run(shop: Shop) -> Run:
    """A session of the agent's own in the project."""
    return shop.opened()


def call(sequence: int, path: str = "src/cart.py", **more: Any) -> dict[str, Any]:
    """Return the call of a tool that reads a file."""
    event = {"sequence": sequence, "kind": "tool_call", "name": "Read", "step": sequence}
    return {**event, "args": {"file_path": path}, **more}


def with_secret(secret: str) -> dict[str, dict[str, Any]]:
    """Return events with a secret in each place that holds a text."""
    said = f"password = {secret}"
    return {
        "text": call(1, text=said),
        "args": call(1, said),
        "name": call(1, name=said),
        "agent": call(1, agent=said),
        "call": call(1, call=said),
        "files": {"sequence": 1, "kind": "commit", "text": "x", "files": [said]},
        "nested": call(1, args={"command": ["login", said], "password": secret}),
        "words": call(1, args={"command": ["mysql", "--password", "=", secret]}),
    }


def stored(run: Run) -> scratchpads.OpenedScratchpad:
    """Return the scratchpad as it is stored, and the events behind it."""
    with tenancy.unit():
        return scratchpads.read(row=run.row)


def settled(run: Run) -> Scratchpad:
    """Return the settled scratchpad of what is stored."""
    return scratchpads.settled(opened=stored(run))


def looks() -> int:
    """Return how many looks at sessions are queued."""
    return Job.objects.filter(name="memory.observe").count()


@pytest.mark.parametrize(("is_named", "is_apart"), [(True, False), (False, False), (False, True)])
def test_what_our_own_tools_answered_is_not_kept(run: Run, is_named: bool, is_apart: bool) -> None:
    told = [
        {"sequence": 1, "kind": "tool_call", "name": "mcp__cairn__search", "call": "a"},
        {"sequence": 2, "kind": "tool_call", "name": "mcp__tickets__get", "call": "b"},
        {"sequence": 3, "kind": "tool_result", "call": "a", "text": "Ana keeps her notes in vim."},
        {"sequence": 4, "kind": "tool_result", "call": "b", "text": "A ticket."},
    ]
    if is_named:
        told[2]["name"], told[3]["name"] = told[0]["name"], told[1]["name"]

    for batch in (told[:2], told[2:]) if is_apart else (told,):
        run.does(*batch)

    page = events(caller=run.caller, session_id=run.id, first=1, last=9, limit=9)
    assert [one.text for one in page.items] == ["", "", "", "A ticket."]
    assert [deed.is_done for deed in settled(run).deeds.values()] == [True, True]
    with tenancy.unit():
        assert not Turn.done.filter(body__icontains="vim").exists()


def test_any_order_and_lateness_come_to_the_same(run: Run) -> None:
    calls = [call(number, path=f"src/{number % 7}.py") for number in range(1, 121)]
    run.does(*calls[100:])
    run.does(*calls[:50])
    observe(session_id=run.id, now=run.now)

    run.does(*reversed(calls[50:100]))
    observe(session_id=run.id, now=run.now)

    pad = settled(run)
    assert (pad.applied, pad.missing, pad.late, pad.twice) == (120, 0, 0, 0)
    with tenancy.unit():
        Turn.checkpoints.filter(session=run.id).delete()
    assert pad == reducers.rebuild(setting=pad.setting, events=stored(run).events)


def test_events_are_stored_once_and_what_is_none_is_named_unless_there_are_none(run: Run) -> None:
    unknown = {"sequence": 1, "kind": "moon_phase", "text": "full"}

    done = run.does({"kind": "reasoning"}, call(2), {"sequence": 3}, unknown)
    again = run.does(call(2), call(3), call(3))
    with pytest.raises(InvalidInput) as refused:
        run.does({"kind": "reasoning"})

    assert (done.stored, done.known, done.unknown, done.last_sequence) == (2, 0, 1, 2)
    assert (again.stored, again.known, again.last_sequence) == (1, 2, 3)
    assert run.row.events == 3
    assert [(one.position, one.field) for one in done.refused] == [(0, "sequence"), (2, "kind")]
    assert refused.value.errors[0].pointer == "/events/0/sequence"


@pytest.mark.parametrize(
    "at", [9e9, "2099-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "yesterday", -1, float("inf")]
)
def test_no_clock_is_believed(run: Run, at: object) -> None:
    run.does(call(1), call(2, at=at), call(3))

    assert settled(run).clock == 0.0


@pytest.mark.parametrize("secret", SENT)
@pytest.mark.parametrize(
    "where", ["text", "args", "name", "agent", "files", "nested", "call", "words"]
)
def test_a_secret_is_taken_out_of_an_event_wherever_it_stands(secret: str, where: str) -> None:
    ((event, kinds),) = appending.cleaned(events=(with_secret(secret)[where],)).events

    assert secret not in str(to_row(event=event))
    assert kinds


def test_a_secret_is_taken_out_before_anything_is_stored(run: Run) -> None:
    events = with_secret(SENT[0])

    for number, event in enumerate(events.values(), start=1):
        done = run.does({**event, "sequence": number})
        assert {one.sequence for one in done.masked} == {number}

    with tenancy.unit():
        rows = tuple(Turn.done.filter(session=run.id))
    assert len(rows) == len(events)
    assert not any(SENT[0] in str(row.body) for row in rows)
    assert all(row.masked for row in rows)


def test_another_s_session_is_as_none_and_who_may_not_write_appends_nothing(shop: Shop) -> None:
    run = shop.opened(shared=True)

    run.caller = shop.program
    with pytest.raises(NotFound, match="There is no such session"):
        run.does(call(1))
    run.caller = replace(shop.agent, role=Role.VIEWER)
    with pytest.raises(Forbidden):
        run.does(call(1))


def test_too_many_are_refused_and_who_is_far_ahead_waits(run: Run) -> None:
    with pytest.raises(InvalidInput):
        run.does(*(call(n) for n in range(1, appending.MOST + 2)))
    run.update(events=appending.MOST_OF_SESSION, folded=appending.MOST_OF_SESSION)
    with pytest.raises(InvalidInput) as refused:
        run.does(call(1))

    assert refused.value.errors[0].code == "too_many"
    run.update(events=appending.MOST_BEHIND, folded=0)
    with pytest.raises(RateLimited) as ahead:
        run.does(call(1))
    assert ahead.value.retry_after_seconds == appending.WAIT_SECONDS
    run.update(memory_eligible=False)
    assert run.does(call(1)).stored == 1


def test_what_comes_behind_a_checkpoint_is_looked_at_again(run: Run) -> None:
    with tenancy.unit():
        Turn.checkpoints.create(
            session=run.row, stream=Stream.CHECKPOINT, sequence=90, role="", text="{}", at=run.now
        )

    run.does(call(40))

    assert run.streams() == [Stream.DONE]
    assert looks() == 1


def test_every_five_hundred_events_are_looked_at(run: Run) -> None:
    run.does(*(call(n) for n in range(1, 500)))
    before = looks()

    run.does(call(500))

    assert (before, looks()) == (0, 1)


def test_what_a_transcript_tells_fires_before_its_gaps_are_passed_over(run: Run) -> None:
    said = {"sequence": 128, "kind": "reasoning", "text": "Correction: the flag is read at start."}
    run.does(said, *(call(128 * line) for line in range(2, 60)))

    counts = observe(session_id=run.id, now=run.now)

    assert (counts["events"], counts["early"]) == (59, 1)
    assert len(stored(run).scratchpad.pending) == 59


@pytest.mark.usefixtures("tables_of_its_own", "in_organization")
def test_the_last_event_and_late_checkpoints_are_looked_up(now: object) -> None:
    given = {"session": uuid4(), "done": 1, "checkpoint": 2, "events": "[]", "count": 0}

    def plan_of(name: str, **more: object) -> str:
        with tenancy.unit(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
            statement = sql_queries.text(name, file=appending.FILE)
            cursor.execute(f"EXPLAIN {statement}", {**given, **more})
            return "\n".join(row[0] for row in cursor.fetchall())

    asked = {"calls": ["a"], "spoken": ["prompt"], "most": 1}
    block = {"first": hook_rows.FIRST, "end": hook_rows.END}
    last, append = plan_of("last", **block), plan_of("append", first=1, now=now)
    adopt, told = plan_of("adopt", first=1), plan_of("told", **block, **asked, since=now)

    assert "memory_turn_once" in last
    assert "memory_turn_once" in adopt
    assert "memory_given_session" in adopt
    assert told.count("memory_turn_once") == 2
    assert "memory_turn_once" in append
    assert "memory_agentsession_pkey" in append
    assert "Seq Scan" not in last + append + adopt + told
