"""Commits, what a product showed, how units of work end: kept, and for whom."""

from datetime import datetime
from typing import Any

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.actions import Course, define_methodology
from memory.customization.phases import OnComplete
from memory.customization.queries import find_own_methodology, list_methodologies
from memory.observer.actions import unit_completion
from memory.records.actions import archive
from memory.records.models import Memory
from memory.records.queries import memories as memories_read
from memory.review.actions.verdicts import reject
from memory.sessions.actions.trust import get_trust
from teams.trust import TrustLevel
from tests.integration.memory.sessions.test_heard import recalled
from tests.support import memories
from tests.support.agent_runs import Run, ran
from tests.support.trusting import stand

SHA = "3f2a9c14b7d0"
WHY = "Pin lxml to 5.2\n\nIt stays there because 5.3 segfaults on our feeds."
KEPT = "Pin lxml to 5.2. It stays there because 5.3 segfaults on our feeds."

pytestmark = pytest.mark.usefixtures("in_organization")


def posted(*messages: str, outcome: str = "success", first: int = 1) -> tuple[dict[str, Any], ...]:
    """Return the events of a session that posted these commits."""
    commits = (
        {
            "sequence": number,
            "kind": "commit",
            "text": text,
            "files": ["/home/ana/shop/feeds.py"],
            "commit": SHA,
        }
        for number, text in enumerate(messages, first)
    )
    last = first + len(messages)
    end = {"sequence": last, "kind": "session_complete", "outcome": outcome, "steps": 1}
    return (*commits, end)


def kept() -> list[Memory]:
    """Return what was kept of commits."""
    with tenancy.unit():
        return list(Memory.objects.filter(source="commit_auto").order_by("id"))


def test_a_commit_with_a_reason_is_kept_once(agent: Caller, store: str, now: datetime) -> None:
    unit = {"label": "feeds"}
    row = ran(agent, now, posted(WHY, "Add a button"), project=store, work_unit=unit)
    ran(agent, now, posted(WHY), project=store, external_id="again")

    (found,) = kept()
    assert (found.content, found.type) == (KEPT, "decision")
    assert (found.commit_sha, found.related_files) == (SHA, ["feeds.py"])
    assert (found.session_id, found.audience, found.scope) == (row.id, row.project_id, "project")
    assert found.needs_review
    assert (
        found.work_unit
        == memories_read.get(caller=agent, memory_id=found.id, now=now).work_unit
        == unit
    )
    assert found.source_uri.startswith(f"session:{row.id}#commit-")
    assert get_trust(caller=agent, ref=store).evidence.shown == 1  # it counts for trust


def test_the_cap_of_the_session_holds_for_commits(agent: Caller, store: str, now: datetime) -> None:
    things = (
        "the cache of pages", "the mail relay", "old invoices", "the till's printer",
        "a queue of jobs", "the second proxy",
    )  # fmt: skip
    texts = [
        f"Stop using {one}\n\nWe do so because customers of ours complained loudly."
        for one in things
    ]

    row = ran(agent, now, posted(*texts), project=store)

    assert len(kept()) <= 5
    assert row.observed is not None
    assert row.observed["dropped"].get("over_bound", 0) + row.observed["dropped"].get("known", 0)


@pytest.mark.parametrize(("is_told", "count"), [(True, 0), (False, 1)])
def test_a_commit_that_says_again_what_its_agent_was_told_is_neither_kept_nor_confirms(
    caller: Caller, agent: Caller, store: str, now: datetime, is_told: bool, count: int
) -> None:
    told = "Pin lxml to 5.2. It stays there because 5.3 segfaults on our feeds, each Monday."
    known = memories.stored(caller, now, told, project=store)
    if is_told:
        assert recalled(agent, now) == (told,)

    ran(agent, now, posted(WHY), project=store)

    assert len(kept()) == count
    with tenancy.unit():
        assert Memory.objects.get(pk=known.id).confirmations == 0


def test_what_follows_outside_content_is_tainted(agent: Caller, store: str, now: datetime) -> None:
    args = {"url": "https://evil.example/page"}
    fetch = {"sequence": 1, "kind": "tool_call", "name": "WebFetch", "args": args}

    ran(agent, now, (fetch, *posted(WHY, first=2)), project=store)

    (found,) = kept()
    assert found.taint_reason == "web: evil.example"
    assert found.needs_review


def test_nothing_is_kept_of_failed_work(agent: Caller, store: str, now: datetime) -> None:
    ran(agent, now, posted(WHY, outcome="failure"), project=store)
    ran(agent, now, posted(WHY), project=store, type="build")
    ran(agent, now, posted(WHY), project=store, memory_eligible=False)

    assert kept() == []


SHOWN = "The checkout button stays disabled until the address form is valid."
CLICK, READ = "mcp__browser__browser_click", {"name": "Read", "call": "c2"}
EVENTS = (
    {"sequence": 1, "kind": "tool_call", "name": CLICK, "call": "c1", "args": {"element": "Pay"}},
    {"sequence": 2, "kind": "tool_result", "call": "c1", "name": "", "text": SHOWN},
    {"sequence": 3, "kind": "tool_call", **READ, "args": {"file_path": "a.py"}},
    {"sequence": 4, "kind": "tool_result", **READ, "text": SHOWN},
    {"sequence": 5, "kind": "session_complete", "outcome": "success", "steps": 2},
)


@pytest.mark.parametrize("level", [TrustLevel.CAUTIOUS, TrustLevel.AUTONOMOUS])
def test_a_result_of_such_a_tool_becomes_one_observation_that_waits(
    caller: Caller, store: str, now: datetime, level: TrustLevel
) -> None:
    stand(caller, store, level, now)
    dull = ({**EVENTS[1], "name": "browser_snapshot", "text": "12 nodes."}, *EVENTS[2:])
    ran(memories.as_agent(caller), now, dull, project=store)

    row = ran(memories.as_agent(caller), now, EVENTS, project=store)

    with tenancy.unit():
        found = Memory.objects.get()
    assert (found.type, found.source, found.content) == ("e2e_observation", "tool_auto", SHOWN)
    assert found.needs_review
    assert found.audience == row.audience == caller.user_id
    assert found.attributes["ui_behavior"] == SHOWN


DONE = (
    {"sequence": 1, "kind": "tool_call", "name": "Edit", "call": "a", "step": 1,
     "args": {"file_path": "/home/ana/shop/auth/form.py", "old_string": "a",
                   "new_string": "b"}},
    {"sequence": 2, "kind": "tool_result", "call": "a", "text": "ok", "step": 1},
)  # fmt: skip
FETCHED = {"sequence": 5, "kind": "tool_call", "name": "WebFetch", "call": "b", "step": 2,
           "args": {"url": "https://example.com/"}}  # fmt: skip
UNIT = {"methodology": "kanban", "label": "Login form"}
PLAN = ("Read the form", "Change the form")


@pytest.fixture
def kanban(caller: Caller, store: str, now: datetime) -> str:
    """A project of an organization whose methodology remembers how units of work end."""
    course = Course(on_complete=tuple(OnComplete))
    define_methodology(
        caller=caller, name="kanban", phases={"doing": "implement"}, course=course, now=now
    )
    return store


def worked(
    caller: Caller, store: str, now: datetime, outcome: str = "success", **given: Any
) -> Run:
    """Open a session with a unit of work, do it, and end it."""
    new = {"project": store, "type": "build", "work_unit": UNIT, "plan": PLAN, **given}
    run = Run(caller, now, cwd="/home/ana/shop", **new)
    run.does(*DONE, {"sequence": 3, "kind": "session_complete", "outcome": outcome, "steps": 3})
    run.finalized()
    return run


def again(run: Run, *first: dict[str, Any], **end: Any) -> None:
    """Let a session that has ended go on, and end again."""
    more = {"sequence": 4, "kind": "reasoning", "text": "One thing more."}
    run.does(more, *first, {"sequence": 7, "kind": "session_complete", **end})
    run.finalized()


def remembered() -> dict[str, Memory]:
    """Return what was remembered of units of work, by the act."""
    with tenancy.unit():
        rows = Memory.objects.exclude(external_id="").filter(status="active")
        return {row.external_id.partition(":")[0]: row for row in rows.order_by("id")}


def test_outcome_and_calibration_are_taken_back(agent: Caller, kanban: str, now: datetime) -> None:
    session = worked(agent, kanban, now)

    found = remembered()

    assert set(found) == {"record_outcome", "calibrate"}
    outcome, calibration = found["record_outcome"], found["calibrate"]
    assert outcome.content.startswith("Login form ended well: steps 3 of 2 planned, files edited 1")
    assert (outcome.type, outcome.needs_review) == ("work_unit_outcome", True)
    assert (outcome.session_id, outcome.audience) == (session.id, session.row.project_id)
    assert {one.methodology for one in found.values()} == {"kanban"}
    assert (calibration.type, calibration.attributes["ratio"]) == ("task_calibration", 1.5)
    again(session, outcome="abandoned", steps=4)
    assert remembered() == {}
    with tenancy.unit():
        gone = Memory.objects.filter(session_id=session.id).values_list("status", "archived_reason")
        assert set(gone) == {("archived", unit_completion.NO_MORE)}


def test_it_is_said_as_at_the_last_end(agent: Caller, kanban: str, now: datetime) -> None:
    session = worked(agent, kanban, now)
    with tenancy.unit():
        Memory.objects.filter(session_id=session.id).update(needs_review=False)

    again(session, FETCHED, outcome="failure", steps=4)

    found = remembered()
    assert set(found) == {"record_outcome", "calibrate"}
    outcome, calibration = found["record_outcome"], found["calibrate"]
    assert outcome.content.startswith("Login form failed: steps 4 of 2 planned")
    assert outcome.attributes == {"succeeded": False, "steps": 4}
    assert (calibration.attributes["actual"], calibration.attributes["ratio"]) == (4, 2.0)
    assert outcome.related_files == ["auth/form.py"]
    for one in (outcome, calibration):
        assert (one.taint_reason != "", one.needs_review, one.user_verified) == (True, True, False)
        with tenancy.unit():
            assert one.versions.count() == 1


@pytest.mark.parametrize("by", ["rejected", "archived"])
def test_what_somebody_has_put_away_does_not_come_back(
    caller: Caller, agent: Caller, kanban: str, now: datetime, by: str
) -> None:
    session = worked(agent, kanban, now, shared=True)
    for one in remembered().values():
        if by == "rejected":
            reject(caller=caller, memory_id=one.id, reason="", now=now)
        else:
            archive(caller=caller, memory_id=one.id, reason="", if_version=None, now=now)

    again(session, outcome="failure", steps=4)

    assert remembered() == {}
    with tenancy.unit():
        assert Memory.objects.filter(session_id=session.id).count() == 2


def test_nothing_is_remembered_of_other_work(
    agent: Caller, kanban: str, now: datetime, other_caller: Caller
) -> None:
    others: tuple[dict[str, Any], ...] = (
        {"outcome": "abandoned"},
        {"work_unit": {"methodology": "kanban"}},  # nameless
        {"work_unit": {**UNIT, "methodology": "native"}},  # one of ours
        {"work_unit": {**UNIT, "methodology": "somebody-elses"}},
    )
    for given in others:
        worked(agent, kanban, now, **given)

        assert remembered() == {}, given
    with tenancy.unit():
        assert find_own_methodology(caller=other_caller, name="kanban") is None


def test_a_methodology_does_nothing_unless_it_says_so(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    define_methodology(caller=caller, name="kanban", phases={"doing": "implement"}, now=now)

    worked(agent, store, now)

    assert remembered() == {}
    assert [one.on_complete for one in list_methodologies(caller=caller) if one.is_own] == [()]
