"""What an ended session came to: its figures, and what became of what it was given."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.injection.actions.between_steps import deliver_at_step
from memory.injection.queries import logged_memories
from memory.observer.actions import step_timeline
from memory.observer.actions.finalize import finalize
from memory.observer.signals import effort
from memory.records.actions import archive
from memory.records.models import Memory
from memory.review.actions.corrections import correct
from memory.review.actions.verdicts import reject
from memory.sessions.actions import scratchpads
from memory.sessions.actions.append_events import append_events, cleaned, store_next
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.counters import Kind
from memory.sessions.models import GivenOut, Session, Statistic, Turn
from memory.sessions.queries import SessionView
from memory.sessions.scratchpad import Scratchpad
from tests.support import memories

pytestmark = pytest.mark.usefixtures("in_organization")
FILE: Final = "src/cart/prices.py"
ROUNDING: Final = "Rounding in this file is half to even, so totals differ from invoices by a cent."
Clock = Callable[[datetime, int], datetime]
BEFORE: Final = ({"kind": "tool_call", "name": "Read", "args": {"file_path": FILE}},)


def ahead(now: datetime, place: int) -> datetime:
    """Return the moment of an event by a clock that is a day ahead."""
    return now + timedelta(days=1, seconds=place)


def behind(now: datetime, place: int) -> datetime:
    """Return the moment of an event by a clock that is a day behind."""
    return now - timedelta(days=1) + timedelta(seconds=place)


def jumping(now: datetime, place: int) -> datetime:
    """Return the moment of an event by a clock that jumps there and back."""
    return (ahead, behind)[place % 2](now, place)


def standing(now: datetime, place: int) -> datetime:
    """Return the moment of an event by a clock that has stopped."""
    return now


def told(agent: Caller, store: str, now: datetime, clock: Clock | None = None) -> Any:
    """Open a session whose agent reads a file, and is warned of it; return the session."""
    memories.stored(agent, now, ROUNDING, project=store, type="gotcha", related_files=(FILE,))
    session = open_session(caller=agent, new=NewSession(project=store), now=now).session
    happens(agent, session, now, BEFORE, clock)
    back = deliver_at_step(caller=agent, session_id=session.id, step=6, now=now)
    assert ROUNDING in back.text
    return session


def happens(
    agent: Caller, session: Any, now: datetime, events: tuple[Any, ...], clock: Clock | None = None
) -> None:
    """Add events to a session; a client with a clock says when each was."""
    with tenancy.unit():
        count = Session.objects.get(pk=session.id).events
    rows = tuple({**one, "sequence": count + place} for place, one in enumerate(events, start=1))
    if clock is not None:
        rows = tuple({**one, "at": clock(now, one["sequence"]).isoformat()} for one in rows)
    append_events(caller=agent, session_id=session.id, events=rows, now=now)


def call(name: str, path: str) -> dict[str, Any]:
    """Return the call of a tool."""
    return {"kind": "tool_call", "name": name, "args": {"file_path": path}}


def ended(agent: Caller, session: Any, now: datetime) -> tuple[Session, list[str]]:
    """End a session; return its row and the outcomes in its ledger."""
    end_session(caller=agent, session_id=session.id, now=now)
    finalize(session_id=session.id, now=now)
    with tenancy.unit():
        rows = GivenOut.objects.filter(session_id=session.id).order_by("id")
        return Session.objects.get(pk=session.id), [row.outcome for row in rows]


def test_figures_are_stored_with_the_session(agent: Caller, store: str, now: datetime) -> None:
    session = open_session(caller=agent, new=NewSession(project=store), now=now).session
    done = {"kind": "session_complete", "outcome": "success", "steps": 2}
    happens(agent, session, now, (call("Read", FILE), call("Read", FILE), done))

    row, _ = ended(agent, session, now)

    assert row.figures == {"tools": 2, "rereads": 1, "qa": 1, "dead_ends": 0}


@pytest.mark.parametrize(
    ("scope", "shared", "figure"),
    [("project", True, 1), ("personal", False, 1), ("personal", True, 0)],
)
def test_a_dead_end_entered_again_counts_where_all_who_see_the_session_may_see_it(
    agent: Caller, store: str, now: datetime, scope: str, shared: bool, figure: int
) -> None:
    memories.stored(
        agent, now - timedelta(days=1), "Running `npm audit fix --force` broke the lock file.",
        project=store, type="dead_end", scope=scope,
        attributes={"approach": "running `npm audit fix --force`", "why_it_failed": "It breaks."},
    )  # fmt: skip
    new = NewSession(project=store, shared=shared)
    session = open_session(caller=agent, new=new, now=now).session
    ran = {"kind": "tool_call", "name": "Bash", "args": {"command": "npm audit fix --force"}}
    happens(agent, session, now, (ran,))

    row, _ = ended(agent, session, now)

    assert (row.figures or {})["dead_ends"] == figure


@pytest.mark.parametrize("clock", [ahead, behind, jumping, standing])
@pytest.mark.parametrize(
    ("later", "came"),
    [
        ((call("Edit", FILE),), "used"),
        (tuple(call("Read", f"docs/{place}.md") for place in range(6)), "ignored"),
        ((call("Read", FILE), *(call("Read", f"docs/{n}.md") for n in range(6))), "unknown"),
    ],
)
def test_no_clock_of_a_client_says_what_came_later(
    agent: Caller, store: str, now: datetime, clock: Clock, later: tuple[Any, ...], came: str
) -> None:
    session = told(agent, store, now, clock)
    happens(agent, session, now + timedelta(seconds=5), later, clock)

    _, outcomes = ended(agent, session, now + timedelta(minutes=1))

    assert outcomes == [came]


@pytest.mark.parametrize(("is_late", "came"), [(True, "used"), (False, "unknown")])
def test_no_number_of_a_client_says_what_came_later(
    agent: Caller, store: str, now: datetime, is_late: bool, came: str
) -> None:
    session = open_session(caller=agent, new=NewSession(project=store), now=now).session
    memories.stored(agent, now, ROUNDING, project=store, type="gotcha", related_files=(FILE,))
    edit = ({**call("Edit", FILE), "sequence": 5 if is_late else 200},)
    read = ({**call("Read", FILE), "sequence": 200 if is_late else 5},)
    first, second = (read, edit) if is_late else (edit, read)

    append_events(caller=agent, session_id=session.id, events=first, now=now)
    assert deliver_at_step(caller=agent, session_id=session.id, step=6, now=now).memories
    append_events(caller=agent, session_id=session.id, events=second, now=now)

    assert ended(agent, session, now + timedelta(minutes=1))[1] == [came]


def cites(agent: Caller, session: Any, now: datetime, clock: Clock, *, aloud: bool) -> None:
    """Let the agent cite the memory, aloud or in what it thinks."""
    with tenancy.unit():
        text = f"As known. [^ Memory: {Memory.objects.get(content=ROUNDING).citation}]"
    if aloud:
        turn = NewTurn(role="assistant", text=text, at=clock(now, 3))
        append_turns(caller=agent, session_id=session.id, turns=(turn,), now=now)
    else:
        happens(agent, session, now, ({"kind": "reasoning", "text": text},), clock)


@pytest.mark.parametrize("clock", [ahead, behind, jumping, standing])
@pytest.mark.parametrize("aloud", [True, False])
@pytest.mark.parametrize(("is_before", "came"), [(True, "unknown"), (False, "used")])
def test_a_citation_counts_by_when_it_reached_us(
    agent: Caller, store: str, now: datetime, clock: Clock, aloud: bool, is_before: bool, came: str
) -> None:
    memories.stored(agent, now, ROUNDING, project=store, type="gotcha", related_files=(FILE,))
    session = open_session(caller=agent, new=NewSession(project=store), now=now).session
    happens(agent, session, now, BEFORE, clock)

    if is_before:
        cites(agent, session, now, clock, aloud=aloud)
    assert deliver_at_step(caller=agent, session_id=session.id, step=6, now=now).memories
    if not is_before:
        cites(agent, session, now, clock, aloud=aloud)

    assert ended(agent, session, now + timedelta(minutes=1))[1] == [came]


def withdrawn(caller: Caller, memory_id: UUID, how: str, at: datetime) -> None:
    """Let a person take a memory out of use, one way or another."""
    if how == "reject":
        with tenancy.unit():
            Memory.objects.filter(pk=memory_id).update(needs_review=True)
        reject(caller=caller, memory_id=memory_id, reason="It is not so.", now=at)
    if how == "correct":
        correct(caller=caller, memory_id=memory_id, content="Rounding is half up there.",
                kind="wrong", reason="", now=at)  # fmt: skip
    if how == "archive":
        archive(caller=caller, memory_id=memory_id, reason="Old.", if_version=None, now=at)


@pytest.mark.parametrize(
    ("after", "how", "came"),
    [
        (2, "reject", "wrong"),
        (2, "correct", "wrong"),
        (2, "archive", "used"),
        (90, "reject", "used"),
    ],
)
def test_what_was_replaced_or_rejected_while_it_ran_was_wrong(
    agent: Caller, caller: Caller, store: str, now: datetime, after: int, how: str, came: str
) -> None:
    session = told(agent, store, now)
    happens(agent, session, now + timedelta(seconds=1), (call("Edit", FILE),))
    end = now + timedelta(minutes=1)
    with tenancy.unit():
        (memory_id,) = logged_memories(session_ids=(session.id,))
    end_session(caller=agent, session_id=session.id, now=end)
    withdrawn(caller, memory_id, how, now + timedelta(seconds=after))
    finalize(session_id=session.id, now=end)

    with tenancy.unit():
        assert [one.outcome for one in GivenOut.objects.filter(session_id=session.id)] == [came]


def test_a_session_that_goes_on_after_it_was_forgotten_stays_what_it_was(
    agent: Caller, store: str, now: datetime
) -> None:
    session = told(agent, store, now)
    fetched = {"kind": "tool_call", "name": "WebFetch", "args": {"url": "https://evil.example"}}
    happens(agent, session, now + timedelta(seconds=1), (fetched, call("Edit", FILE)))
    before, outcomes = ended(agent, session, now + timedelta(minutes=1))
    with tenancy.unit():
        Turn.all_streams.filter(session_id=session.id).delete()

    happens(agent, session, now + timedelta(days=60), (call("Read", "src/other.py"),))
    after, later = ended(agent, session, now + timedelta(days=60, minutes=1))

    assert (after.figures, later) == (before.figures, outcomes)
    assert before.observed is not None
    assert after.observed is not None
    assert before.observed["tainted_by"]
    for name in ("tainted_by", step_timeline.STORED_AS):
        assert after.observed[name] == before.observed[name]


def test_no_sequence_of_a_forgotten_session_is_used_twice(
    agent: Caller, store: str, now: datetime
) -> None:
    session = told(agent, store, now)
    with tenancy.unit():
        Turn.all_streams.filter(session_id=session.id).delete()
        row = Session.objects.select_for_update().get(pk=session.id)
        next_one = cleaned(events=({**call("Read", FILE), "sequence": 1},))
        store_next(row=row, clean=next_one, now=now)

    with tenancy.unit():
        assert list(Turn.done.values_list("sequence", flat=True)) == [2]


def test_an_end_right_behind_it_is_unknown_and_a_later_end_knows_more(
    agent: Caller, store: str, now: datetime
) -> None:
    session = told(agent, store, now)
    _, first = ended(agent, session, now + timedelta(minutes=1))

    happens(agent, session, now + timedelta(minutes=2), (call("Edit", FILE),))
    _, second = ended(agent, session, now + timedelta(minutes=3))

    assert (first, second) == (["unknown"], ["used"])


@pytest.fixture
def session(agent: Caller, store: str, now: datetime) -> SessionView:
    """An open session whose program says no type."""
    new = NewSession(project=store, cwd="/r")
    return open_session(caller=agent, new=new, now=now).session


def heard(session: SessionView, name: str, at: datetime, **given: Any) -> None:
    """Tell a call with its result, as a hook behind the call does."""
    same = {"name": name, "call": f"{name}{at}"}
    call = {"sequence": 1, "kind": "tool_call", **same, "args": given}
    rows = (call, {"sequence": 2, "kind": "tool_result", **same})
    with tenancy.unit():
        row = Session.objects.select_for_update().get(pk=session.id)
        store_next(row=row, clean=cleaned(events=rows), now=at)


def scratchpad(session: SessionView) -> Scratchpad:
    """Fold what was told."""
    with tenancy.unit():
        opened = scratchpads.read(row=Session.objects.get(pk=session.id))
    return scratchpads.settled(opened=opened)


def test_the_time_between_two_files_is_known(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    heard(session, "Edit", now, file_path="/r/a.py")
    heard(session, "Edit", now + timedelta(seconds=40), file_path="/r/b.py")
    end_session(caller=agent, session_id=session.id, now=now + timedelta(seconds=50))

    finalize(session_id=session.id, now=now + timedelta(seconds=60))

    with tenancy.unit():
        edge = Statistic.objects.get(kind=Kind.EDGE.value).counts
    assert (edge["timed"], edge["apart_ms"]) == (1, 40_000)
    assert edge["task:terminal"] == 1


def test_a_call_that_took_far_longer_than_the_others_is_seen(
    session: SessionView, now: datetime
) -> None:
    at = now
    for number, seconds in enumerate((0, 3, 3, 3, 3, 3, 400)):
        at += timedelta(seconds=seconds)
        heard(session, "Bash", at, command=f"make t{number}")

    (found,) = effort.find_time_anomaly(scratchpad=scratchpad(session))

    assert dict(found.details) == {"seconds": "400", "usual": "3"}
