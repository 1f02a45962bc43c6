"""What events cost: appended by a request, folded and decided in the background, no model asked."""

import statistics
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.observer import detect, session_facts
from memory.observer.actions.finalize import finalize
from memory.observer.actions.observe import observe
from memory.sessions.actions import scratchpads
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.end_session import end_session
from memory.sessions.actions.open_session import NewSession, open_session
from memory.sessions.models import Session, Turn
from memory.sessions.queries.sessions import SessionView
from memory.sessions.scratchpad import Scratchpad

pytestmark = pytest.mark.usefixtures("in_organization")

Result = TypeVar("Result")
RESULT = "def total(self):\n    return sum(line.price for line in self.lines)\n" * 6


def events(first: int, count: int) -> tuple[dict[str, Any], ...]:
    """Return calls and results of tools over forty files, with an error now and then."""
    return tuple(_event(number) for number in range(first, first + count))


def _event(number: int) -> dict[str, Any]:
    pair, is_result = divmod(number - 1, 2)
    name = ("Read", "Edit", "Bash")[pair % 3]
    place = {"sequence": number, "step": pair // 4 + 1, "at": 1_795_000_000 + number, "name": name}
    if is_result:
        return {
            **place,
            "kind": "tool_result",
            "text": f"{RESULT}# {number}",
            "is_error": pair % 31 == 0,
        }
    given = {"command": "pytest -q"} if name == "Bash" else {"file_path": f"/r/a/{pair % 40}.py"}
    return {**place, "kind": "tool_call", "args": given}


@pytest.fixture
def session(agent: Caller, store: str, now: datetime) -> SessionView:
    """An open session."""
    new = NewSession(project=store, cwd="/r")
    return open_session(caller=agent, new=new, now=now).session


def test_appending_a_batch_is_quick(
    agent: Caller, session: SessionView, now: datetime, figure: Callable[[str], None]
) -> None:
    spent, busy = [], time.process_time()

    for batch in range(20):
        started = time.perf_counter()
        sent = events(batch * 100 + 1, 100)
        append_events(caller=agent, session_id=session.id, events=sent, now=now)
        spent.append(1_000 * (time.perf_counter() - started))

    figure(
        f"a batch of 100 events: p50 {statistics.median(spent):.1f} ms,"
        f" {1_000 * (time.process_time() - busy) / len(spent):.1f} ms of processor time here"
    )
    with tenancy.unit():
        assert Turn.done.count() == 2_000


def test_deciding_about_five_thousand_events_is_quick(
    agent: Caller, session: SessionView, now: datetime, figure: Callable[[str], None]
) -> None:
    for start in range(1, 5_001, 500):
        sent = events(start, 500)
        append_events(caller=agent, session_id=session.id, events=sent, now=now)
        observe(session_id=session.id, now=now)
    end_session(caller=agent, session_id=session.id, now=now)

    read, pad = _timed(lambda: _pad(session))
    found, _ = _timed(lambda: detect.witnessed(scratchpad=pad, verdicts={}))
    twice = min(_timed(lambda: session_facts.find_counted(scratchpad=pad))[0] for _ in range(5))
    whole, done = _timed(lambda: finalize(session_id=session.id, now=now))

    figure(
        f"5,000 events: the checkpoint read in {read:.0f} ms, signals found in {found:.0f} ms,"
        f" all of it in {whole:.0f} ms of processor time here, {done['proposed']} to embed;"
        f" what the sums count is found once, in {twice:.0f} ms"
    )
    assert done["events"] == 5_000


def _pad(session: SessionView) -> Scratchpad:
    with tenancy.unit():
        opened = scratchpads.read(row=Session.objects.get(pk=session.id))
    return scratchpads.settled(opened=opened)


def _timed(act: Callable[[], Result]) -> tuple[float, Result]:
    """Return the milliseconds of processor time that something took here, and its result."""
    started = time.process_time()
    result = act()
    return 1_000 * (time.process_time() - started), result
