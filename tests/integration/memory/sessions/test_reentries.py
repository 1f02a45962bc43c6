"""Dead ends over three sessions: met, kept, checked against, entered again, counted."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.checks.actions import check_plan
from memory.experiments.queries import ReentryCounts, reentries_of_memory
from memory.injection.queries import last_stored
from memory.observer.actions.finalize import finalize
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import keep
from memory.review.queries.inbox import get_summary
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.models import GivenOut
from tests.support import memories, people

COMMAND: Final = "npm audit fix --force"
PLAN: Final = "1. Look at the advisories.\n2. Run npm audit fix --force.\n"
Events = tuple[dict[str, Any], ...]


def _events(*said: dict[str, Any]) -> Events:
    return tuple({"sequence": number, "step": number, **one} for number, one in enumerate(said, 1))


def _run(command: str, *, is_error: bool = False) -> Events:
    call = {"name": "Bash", "call": f"call {command}"}
    return (
        {"kind": "tool_call", "args": {"command": command}, **call},
        {"kind": "tool_result", "text": "npm ERR! broken", "is_error": is_error, **call},
    )


DEAD: Final = _events(
    {"kind": "prompt", "text": "Mend the advisories"},
    *_run(COMMAND, is_error=True),
    {"kind": "reasoning", "text": "This approach won't work because it breaks the lock file."},
    *_run("npm update left-pad"),
    {"kind": "session_complete", "outcome": "success"},
)
AGAIN: Final = _events(*_run(COMMAND), {"kind": "session_complete", "outcome": "success"})


def _ran(
    caller: Caller,
    now: datetime,
    events: Events,
    given: MemoryView | None = None,
    before: Events = (),
) -> UUID:
    """Let a shared session do things, be given a memory and do more; return its id."""
    new = NewSession(cwd="/home/ana/shop", project="store", shared=True)
    session_id = open_session(caller=caller, new=new, now=now).session.id
    if before:
        append_events(caller=caller, session_id=session_id, events=before, now=now)
    if given is not None:
        with tenancy.unit():
            last_event, last_row = last_stored(session_id=session_id)
            GivenOut.objects.create(
                memory_id=given.id,
                session_id=session_id,
                at=now + timedelta(days=1),  # the agent's clock is a day behind ours
                after_event=last_event,
                after_row=last_row,
                point="system_prompt",
            )
    append_events(caller=caller, session_id=session_id, events=events, now=now)
    end_session(caller=caller, session_id=session_id, now=now)
    finalize(session_id=session_id, now=now)
    return session_id


def _entered(caller: Caller, session_id: UUID, now: datetime) -> list[tuple[UUID, bool]]:
    """Return which dead ends a session entered, as somebody is told, and if it was given them."""
    found = get_summary(caller=caller, session_id=session_id, now=now)
    assert "reentered" not in found.shown
    return [(one.memory.id, one.told) for one in found.again]


def _dead_end(caller: Caller, at: datetime, **given: Any) -> MemoryView:
    approach = {"approach": f"running `{COMMAND}`", "why_it_failed": "It breaks the lock file."}
    content = f"Running `{COMMAND}` broke the lock file."
    fields = {"project": "store", "type": "dead_end", "attributes": approach, **given}
    return memories.stored(caller, at, content, **fields)


@pytest.fixture
def end(caller: Caller, store: str, now: datetime) -> MemoryView:
    """A dead end that the project knows."""
    return _dead_end(caller, now - timedelta(days=1))


def test_what_one_session_met_stops_the_plan_of_the_next_and_is_counted_in_the_third(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    _ran(agent, now, DEAD)
    with tenancy.unit():
        (found,) = Memory.objects.filter(type="dead_end")
    before = check_plan(caller=agent, project=store, plan=PLAN, now=now)
    keep(caller=caller, memory_id=found.id, now=now)

    check = check_plan(caller=agent, project=store, plan=PLAN, now=now)
    third = _ran(agent, now + timedelta(hours=1), AGAIN)

    (told,) = check.findings
    assert (before.verdict, check.verdict, told.memory.id) == ("clear", "stop", found.id)
    assert [place.step for place in told.places] == [2]
    assert _entered(caller, third, now) == [(found.id, False)]


@pytest.mark.parametrize("is_late", [True, False])
def test_told_before_is_what_was_given_before_the_deed_was_stored(
    caller: Caller, agent: Caller, end: MemoryView, now: datetime, is_late: bool
) -> None:
    other = {"kind": "session_complete", "outcome": "success", "sequence": 50, "step": 50}
    entry = tuple({**one, "sequence": one["sequence"] + 100 * (not is_late)} for one in AGAIN[:2])
    before, after = ((other,), entry) if is_late else (entry, (other,))

    session_id = _ran(agent, now, after, end, before)

    assert _entered(caller, session_id, now) == [(end.id, is_late)]
    counted = reentries_of_memory(caller=caller, memory_id=end.id)
    assert counted == ReentryCounts(entered=1, told=int(is_late))


def test_a_session_enters_neither_what_it_does_not_do_nor_what_was_learned_later(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    end = _dead_end(caller, now + timedelta(days=1))

    for at, events in ((now, AGAIN), (now + timedelta(days=2), _events(*_run("npm ci")))):
        assert _entered(caller, _ran(agent, at, events), at) == []
    assert reentries_of_memory(caller=caller, memory_id=end.id) == ReentryCounts()


def test_a_dead_end_that_only_the_agents_person_sees_is_counted_for_nobody_else(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    mine = _dead_end(agent, now - timedelta(days=1), scope="personal", source="agent_explicit")
    with tenancy.unit():
        Memory.objects.filter(pk=mine.id).update(needs_review=False)

    session_id = _ran(agent, now, AGAIN)

    assert _entered(agent, session_id, now) == [(mine.id, False)]
    assert _entered(caller, session_id, now) == []
    assert reentries_of_memory(caller=caller, memory_id=mine.id) == ReentryCounts()


def test_another_organization_and_another_projects_credential_are_told_nothing(
    caller: Caller, other_caller: Caller, agent: Caller, end: MemoryView, now: datetime
) -> None:
    session_id = _ran(agent, now, AGAIN)
    bound = replace(caller, bound_projects=(uuid4(),))

    def check(nobody: Caller) -> None:
        assert reentries_of_memory(caller=nobody, memory_id=end.id) == ReentryCounts()
        with pytest.raises(NotFound):
            get_summary(caller=nobody, session_id=session_id, now=now)

    check(bound)
    with people.outside(), tenancy.enter(other_caller.tenant):
        check(other_caller)
