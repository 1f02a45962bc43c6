"""What ended sessions came to: figures, what they were given, dead ends again."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.checks.actions import check_plan
from memory.experiments.points import Point
from memory.experiments.queries import ReentryCounts, reentries_of_memory
from memory.injection.actions.trigger_points import PointRequest, deliver_at_point
from memory.injection.queries import last_stored, logged_memories
from memory.observer import effort_signals
from memory.observer.actions.finalize import finalize
from memory.observer.queries import STORED_AS
from memory.records.actions import archive
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import keep, reject
from memory.review.queries.inbox import get_summary
from memory.search.packing import citation_mark
from memory.sessions.actions import hook_rows, scratchpads
from memory.sessions.actions.append_events import cleaned, store_next
from memory.sessions.actions.append_turns import NewTurn
from memory.sessions.counters import Kind
from memory.sessions.models import GivenOut, Session, Turn
from tests.support import people
from tests.support.agent_runs import Run, Shop, counted, in_order, update_memory
from tests.support.memories import correct

FILE: Final = "src/cart/prices.py"
ROUNDING: Final = "Rounding in this file is half to even, so totals differ from invoices by a cent."
Clock = Callable[[datetime, int], datetime]


def call(name: str, path: str = FILE) -> dict[str, Any]:
    """Return the call of a tool."""
    return {"kind": "tool_call", "name": name, "args": {"file_path": path}}


READS: Final = tuple(call("Read", f"docs/{place}.md") for place in range(6))


def ahead(now: datetime, place: int) -> datetime:
    """Return the timestamp of an event by a clock that is a day ahead."""
    return now + timedelta(days=1, seconds=place)


def behind(now: datetime, place: int) -> datetime:
    """Return the timestamp of an event by a clock that is a day behind."""
    return now - timedelta(days=1) + timedelta(seconds=place)


def jumping(now: datetime, place: int) -> datetime:
    """Return the timestamp of an event by a clock that jumps there and back."""
    return (ahead, behind)[place % 2](now, place)


def stopped(now: datetime, place: int) -> datetime:
    """Return the timestamp of an event by a clock that has stopped."""
    return now


def happens(run: Run, *events: dict[str, Any], clock: Clock | None = None) -> None:
    """Add events to a session; a client with a clock says when each was."""
    count = run.row.events
    rows = ({**one, "sequence": count + place} for place, one in enumerate(events, start=1))
    if clock is not None:
        rows = ({**one, "at": clock(run.now, one["sequence"]).isoformat()} for one in rows)
    run.does(*rows)


def began(shop: Shop, clock: Clock | None = None) -> Run:
    """Open a session whose agent reads a file of which the project knows a warning."""
    shop.remember(ROUNDING, by=shop.agent, type="gotcha", related_files=(FILE,))
    run = shop.opened()
    happens(run, call("Read"), clock=clock)
    return run


def warn(run: Run) -> None:
    """Let the agent be warned."""
    request = PointRequest(point=Point.STEP, session_id=run.id, step=6)
    back = deliver_at_point(caller=run.caller, request=request, now=run.now)
    assert ROUNDING in back.delivery.text


def warned(shop: Shop, clock: Clock | None = None) -> Run:
    """Open a session whose agent reads a file, and is warned of it."""
    run = began(shop, clock)
    warn(run)
    return run


def outcomes(run: Run) -> list[str]:
    """End a session; return the outcomes in its log."""
    run.now += timedelta(minutes=1)
    run.finalized()
    with tenancy.unit():
        rows = GivenOut.objects.filter(session_id=run.id).order_by("id")
        return list(rows.values_list("outcome", flat=True))


def test_figures_are_stored_with_the_session(shop: Shop) -> None:
    run = shop.opened()
    done = {"kind": "session_complete", "outcome": "success", "steps": 2}
    happens(run, call("Read"), call("Read"), done)

    assert run.finalized().figures == {"tools": 2, "rereads": 1, "qa": 1, "dead_ends": 0}


@pytest.mark.parametrize(
    ("scope", "shared", "figure"),
    [("project", True, 1), ("personal", False, 1), ("personal", True, 0)],
)
def test_a_dead_end_counts_if_all_see_it(shop: Shop, scope: str, shared: bool, figure: int) -> None:
    shop.at(days=-1).remember(
        "Running `npm audit fix --force` broke the lock file.",
        by=shop.agent,
        type="dead_end",
        scope=scope,
        attributes={"approach": "running `npm audit fix --force`", "why_it_failed": "It breaks."},
    )
    run = shop.opened(shared=shared)
    command = {"command": "npm audit fix --force"}
    failed = {"kind": "tool_result", "name": "Bash", "is_error": True, "text": "ERR!"}
    happens(run, {"kind": "tool_call", "name": "Bash", "args": command}, failed)

    assert (run.finalized().figures or {})["dead_ends"] == figure


@pytest.mark.parametrize(
    ("clock", "later", "came"),
    [
        (ahead, (call("Edit"),), "used"),
        (behind, (call("Edit"),), "used"),
        (stopped, (call("Edit"),), "used"),
        (jumping, READS, "ignored"),
        (jumping, (call("Read"), *READS), "unknown"),
    ],
)
def test_clocks_tell_no_order(shop: Shop, clock: Clock, later: tuple[Any, ...], came: str) -> None:
    run = warned(shop, clock)
    run.now += timedelta(seconds=5)
    happens(run, *later, clock=clock)

    assert outcomes(run) == [came]


@pytest.mark.parametrize(("is_late", "came"), [(True, "used"), (False, "unknown")])
def test_no_number_of_a_client_says_what_came_later(shop: Shop, is_late: bool, came: str) -> None:
    shop.remember(ROUNDING, by=shop.agent, type="gotcha", related_files=(FILE,))
    run = shop.opened()
    edit = {**call("Edit"), "sequence": 5 if is_late else 200}
    read = {**call("Read"), "sequence": 200 if is_late else 5}
    first, second = (read, edit) if is_late else (edit, read)

    run.does(first)
    warn(run)
    run.does(second)

    assert outcomes(run) == [came]


@pytest.mark.parametrize("aloud", [True, False])
@pytest.mark.parametrize(
    ("clock", "is_before", "came"), [(ahead, True, "unknown"), (behind, False, "used")]
)
def test_a_citation_counts_by_when_it_reached_us(
    shop: Shop, clock: Clock, aloud: bool, is_before: bool, came: str
) -> None:
    run = began(shop, clock)

    def cite() -> None:
        with tenancy.unit():
            text = f"As known. {citation_mark(id=Memory.objects.get(content=ROUNDING).id)}"
        if aloud:
            run.says(NewTurn(role="assistant", text=text, at=clock(run.now, 3)))
        else:
            happens(run, {"kind": "reasoning", "text": text}, clock=clock)

    for step in (cite, lambda: warn(run)) if is_before else (lambda: warn(run), cite):
        step()

    assert outcomes(run) == [came]


def withdraw(caller: Caller, memory_id: UUID, how: str, at: datetime) -> None:
    """Let a person take a memory out of use, one way or another."""
    if how == "reject":
        update_memory(memory_id, needs_review=True)
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
def test_what_was_rejected_meanwhile_was_wrong(shop: Shop, after: int, how: str, came: str) -> None:
    run = warned(shop)
    happens(run, call("Edit"))
    with tenancy.unit():
        (memory_id,) = logged_memories(session_ids=(run.id,))
    run.now = shop.at(minutes=1).now
    run.ends()
    withdraw(shop.owner, memory_id, how, shop.at(seconds=after).now)
    finalize(session_id=run.id, now=run.now)

    with tenancy.unit():
        assert [one.outcome for one in GivenOut.objects.filter(session_id=run.id)] == [came]


def test_an_end_knows_more_and_one_after_it_was_forgotten_no_more(shop: Shop) -> None:
    run = warned(shop)
    soon = outcomes(run)
    fetched = {"kind": "tool_call", "name": "WebFetch", "args": {"url": "https://evil.example"}}
    happens(run, fetched, call("Edit"))
    first, before = outcomes(run), run.row
    with tenancy.unit():
        Turn.all_streams.filter(session_id=run.id).delete()

    run.now = shop.at(days=60).now
    happens(run, call("Read", "src/other.py"))
    second, after = outcomes(run), run.row

    assert (soon, first, second) == (["unknown"], ["used"], ["used"])
    assert after.figures == before.figures
    assert before.observed is not None
    assert after.observed is not None
    assert before.observed["tainted_by"]
    for name in ("tainted_by", STORED_AS):
        assert after.observed[name] == before.observed[name]


def tell(run: Run, *events: dict[str, Any]) -> None:
    """Store events behind the last, as a hook does."""
    with tenancy.unit():
        row = Session.objects.select_for_update().get(pk=run.id)
        store_next(row=row, clean=cleaned(events=events), now=run.now)


def test_no_sequence_of_a_forgotten_session_is_used_twice(shop: Shop) -> None:
    run = began(shop)
    with tenancy.unit():
        Turn.all_streams.filter(session_id=run.id).delete()

    tell(run, {**call("Read"), "sequence": 1})

    with tenancy.unit():
        assert list(Turn.done.values_list("sequence", flat=True)) == [hook_rows.FIRST + 2]


def use(run: Run, name: str, **given: Any) -> None:
    """Tell a call with its result, as a hook behind the call does."""
    same = {"name": name, "call": f"{name}{run.now}"}
    tell(
        run,
        {"sequence": 1, "kind": "tool_call", **same, "args": given},
        {"sequence": 2, "kind": "tool_result", **same},
    )


def test_the_time_between_two_calls_is_known(shop: Shop) -> None:
    run = shop.opened(cwd="/r")
    for number, seconds in enumerate((0, 3, 3, 3, 3, 3, 400)):
        run.now += timedelta(seconds=seconds)
        use(run, "Bash", command=f"make t{number}")
    use(run, "Edit", file_path="/r/a.py")
    run.now += timedelta(seconds=40)
    use(run, "Edit", file_path="/r/b.py")
    with tenancy.unit():
        opened = scratchpads.read(row=run.row)

    (slow,) = effort_signals.find_time_anomaly(scratchpad=scratchpads.settled(opened=opened))
    run.finalized()

    assert dict(slow.details) == {"seconds": "400", "usual": "3"}
    (edge,) = counted(Kind.EDGE).values()
    assert (edge["timed"], edge["apart_ms"], edge["task:terminal"]) == (1, 40_000, 1)


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
    {
        "kind": "reasoning",
        "text": f"Running `{COMMAND}`: this approach won't work because it breaks the lock file.",
    },
    *_run("npm update left-pad"),
    {"kind": "session_complete", "outcome": "success"},
)
AGAIN: Final = in_order(
    *_run(COMMAND, is_error=True), {"kind": "session_complete", "outcome": "success"}
)


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


def test_what_one_session_met_stops_the_plan_of_the_next(shop: Shop) -> None:
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
def test_told_before_is_given_before_the_deed(shop: Shop, end: MemoryView, is_late: bool) -> None:
    other = {"kind": "session_complete", "outcome": "success", "sequence": 50, "step": 50}
    entry = tuple({**one, "sequence": one["sequence"] + 100 * (not is_late)} for one in AGAIN[:2])
    before, after = ((other,), entry) if is_late else (entry, (other,))

    run = _ran(shop, after, end, before)

    assert _entered(shop.owner, run) == [(end.id, is_late)]
    counted = reentries_of_memory(caller=shop.owner, memory_id=end.id)
    assert counted == ReentryCounts(entered=1, told=int(is_late))


def test_a_session_enters_nothing_undone_or_learned_later(shop: Shop) -> None:
    end = _dead_end(shop, 1)

    for days, events in ((0, AGAIN), (2, in_order(*_run("npm ci")))):
        assert _entered(shop.owner, _ran(shop.at(days=days), events)) == []
    assert reentries_of_memory(caller=shop.owner, memory_id=end.id) == ReentryCounts()


def test_a_dead_end_that_one_person_sees_is_counted_for_them(shop: Shop) -> None:
    mine = _dead_end(shop, -1, by=shop.agent, scope="personal", source="agent_explicit")
    update_memory(mine.id, needs_review=False)

    run = _ran(shop, AGAIN)

    assert _entered(shop.agent, run) == [(mine.id, False)]
    assert _entered(shop.owner, run) == []
    assert reentries_of_memory(caller=shop.owner, memory_id=mine.id) == ReentryCounts()


def test_others_are_told_nothing(shop: Shop, other_caller: Caller, end: MemoryView) -> None:
    run = _ran(shop, AGAIN)

    def check(nobody: Caller) -> None:
        assert reentries_of_memory(caller=nobody, memory_id=end.id) == ReentryCounts()
        with pytest.raises(NotFound):
            get_summary(caller=nobody, session_id=run.id, now=shop.now)

    check(replace(shop.owner, bound_projects=(uuid4(),)))
    with people.outside(), tenancy.enter(other_caller.tenant):
        check(other_caller)
