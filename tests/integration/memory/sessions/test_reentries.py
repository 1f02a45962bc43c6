"""Dead ends over three sessions: met, kept, checked against, entered again, counted."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.checks.actions import check_plan
from memory.experiments.queries import ReentryCounts, reentries_of_memory
from memory.injection.queries import last_stored
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import keep
from memory.review.queries.inbox import get_summary
from memory.sessions.models import GivenOut
from tests.support import people
from tests.support.agent_runs import Run, Shop, in_order, update_memory

COMMAND: Final = "npm audit fix --force"
PLAN: Final = "1. Look at the advisories.\n2. Run npm audit fix --force.\n"
Events = tuple[dict[str, Any], ...]


def _run(command: str, *, is_error: bool = False) -> Events:
    call = {"name": "Bash", "call": f"call {command}"}
    return (
        {"kind": "tool_call", "args": {"command": command}, **call},
        {"kind": "tool_result", "text": "npm ERR! broken", "is_error": is_error, **call},
    )


DEAD: Final = in_order(
    {"kind": "prompt", "text": "Mend the advisories"},
    *_run(COMMAND, is_error=True),
    {"kind": "reasoning", "text": "This approach won't work because it breaks the lock file."},
    *_run("npm update left-pad"),
    {"kind": "session_complete", "outcome": "success"},
)
AGAIN: Final = in_order(*_run(COMMAND), {"kind": "session_complete", "outcome": "success"})


def _ran(shop: Shop, events: Events, given: MemoryView | None = None, before: Events = ()) -> Run:
    """Let a shared session do things, be given a memory and do more."""
    run = shop.opened(cwd="/home/ana/shop", shared=True)
    if before:
        run.does(*before)
    if given is not None:
        with tenancy.unit():
            last_event, last_row = last_stored(session_id=run.id)
            GivenOut.objects.create(
                memory_id=given.id,
                session_id=run.id,
                at=run.now + timedelta(days=1),  # the agent's clock is a day behind ours
                after_event=last_event,
                after_row=last_row,
                point="system_prompt",
            )
    run.does(*events)
    run.finalized()
    return run


def _entered(caller: Caller, run: Run) -> list[tuple[UUID, bool]]:
    """Return which dead ends a session entered, as somebody is told, and if it was given them."""
    found = get_summary(caller=caller, session_id=run.id, now=run.now)
    assert "reentered" not in found.shown
    return [(one.memory.id, one.told) for one in found.again]


def _dead_end(shop: Shop, days: int, **given: Any) -> MemoryView:
    """Store a dead end so many days from now."""
    approach = {"approach": f"running `{COMMAND}`", "why_it_failed": "It breaks the lock file."}
    content = f"Running `{COMMAND}` broke the lock file."
    fields = {"type": "dead_end", "attributes": approach, **given}
    return shop.at(days=days).remember(content, **fields)


@pytest.fixture
def end(shop: Shop) -> MemoryView:
    """A dead end that the project knows."""
    return _dead_end(shop, -1)


def test_what_one_session_met_stops_the_plan_of_the_next_and_is_counted_in_the_third(
    shop: Shop,
) -> None:
    _ran(shop, DEAD)
    with tenancy.unit():
        (found,) = Memory.objects.filter(type="dead_end")
    before = check_plan(caller=shop.agent, project=shop.slug, plan=PLAN, now=shop.now)
    keep(caller=shop.owner, memory_id=found.id, now=shop.now)

    check = check_plan(caller=shop.agent, project=shop.slug, plan=PLAN, now=shop.now)
    third = _ran(shop.at(hours=1), AGAIN)

    (told,) = check.findings
    assert (before.verdict, check.verdict, told.memory.id) == ("clear", "stop", found.id)
    assert [place.step for place in told.places] == [2]
    assert _entered(shop.owner, third) == [(found.id, False)]


@pytest.mark.parametrize("is_late", [True, False])
def test_told_before_is_what_was_given_before_the_deed_was_stored(
    shop: Shop, end: MemoryView, is_late: bool
) -> None:
    other = {"kind": "session_complete", "outcome": "success", "sequence": 50, "step": 50}
    entry = tuple({**one, "sequence": one["sequence"] + 100 * (not is_late)} for one in AGAIN[:2])
    before, after = ((other,), entry) if is_late else (entry, (other,))

    run = _ran(shop, after, end, before)

    assert _entered(shop.owner, run) == [(end.id, is_late)]
    counted = reentries_of_memory(caller=shop.owner, memory_id=end.id)
    assert counted == ReentryCounts(entered=1, told=int(is_late))


def test_a_session_enters_neither_what_it_does_not_do_nor_what_was_learned_later(
    shop: Shop,
) -> None:
    end = _dead_end(shop, 1)

    for days, events in ((0, AGAIN), (2, in_order(*_run("npm ci")))):
        assert _entered(shop.owner, _ran(shop.at(days=days), events)) == []
    assert reentries_of_memory(caller=shop.owner, memory_id=end.id) == ReentryCounts()


def test_a_dead_end_that_only_the_agents_person_sees_is_counted_for_nobody_else(
    shop: Shop,
) -> None:
    mine = _dead_end(shop, -1, by=shop.agent, scope="personal", source="agent_explicit")
    update_memory(mine.id, needs_review=False)

    run = _ran(shop, AGAIN)

    assert _entered(shop.agent, run) == [(mine.id, False)]
    assert _entered(shop.owner, run) == []
    assert reentries_of_memory(caller=shop.owner, memory_id=mine.id) == ReentryCounts()


def test_another_organization_and_another_projects_credential_are_told_nothing(
    shop: Shop, other_caller: Caller, end: MemoryView
) -> None:
    run = _ran(shop, AGAIN)

    def check(nobody: Caller) -> None:
        assert reentries_of_memory(caller=nobody, memory_id=end.id) == ReentryCounts()
        with pytest.raises(NotFound):
            get_summary(caller=nobody, session_id=run.id, now=shop.now)

    check(replace(shop.owner, bound_projects=(uuid4(),)))
    with people.outside(), tenancy.enter(other_caller.tenant):
        check(other_caller)
