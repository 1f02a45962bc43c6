"""What a methodology does when a unit of work ends: nothing unless it says so, once a session."""

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
from memory.review.actions.verdicts import reject
from tests.support.agent_runs import Run

pytestmark = pytest.mark.usefixtures("in_organization")

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


def test_outcome_and_calibration_are_remembered_and_wait(
    agent: Caller, kanban: str, now: datetime
) -> None:
    session = worked(agent, kanban, now)

    found = remembered()

    assert set(found) == {"record_outcome", "calibrate"}
    outcome, calibration = found["record_outcome"], found["calibrate"]
    assert outcome.content.startswith("Login form ended well: steps 3 of 2 planned, files edited 1")
    assert (outcome.type, outcome.needs_review) == ("work_unit_outcome", True)
    assert (outcome.session_id, outcome.audience) == (session.id, session.row.audience)
    assert {one.methodology for one in found.values()} == {"kanban"}
    assert (calibration.type, calibration.attributes["ratio"]) == ("task_calibration", 1.5)


def test_it_is_said_once_as_it_is_at_the_last_end(
    agent: Caller, kanban: str, now: datetime
) -> None:
    session = worked(agent, kanban, now)
    with tenancy.unit():
        Memory.objects.filter(session_id=session.id).update(
            needs_review=False, user_verified=True, verification="verified"
        )

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


def test_an_end_without_an_outcome_takes_the_own_one_back(
    agent: Caller, kanban: str, now: datetime
) -> None:
    session = worked(agent, kanban, now)

    again(session, outcome="abandoned", steps=4)

    assert remembered() == {}
    with tenancy.unit():
        gone = Memory.objects.filter(session_id=session.id).values_list("status", "archived_reason")
        assert set(gone) == {("archived", unit_completion.NO_MORE)}


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
