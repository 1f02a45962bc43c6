"""What a session begins with and what its planner is told: from sums and sessions one may see."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput
from memory.customization.actions import Course, define_methodology
from memory.customization.phases import Transition
from memory.customization.queries import list_methodologies, own_methodologies
from memory.experiments.points import Point
from memory.injection.actions.handover import STAGE_MEMORIES_MOST
from memory.injection.actions.trigger_points import PointDelivery, PointRequest, deliver_at_point
from memory.injection.queries import logged_memories
from memory.observer.actions.finalize import finalize
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.search.request import SearchRequest
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.models import GivenOut
from memory.taxonomy import MemoryType
from teams.actions import change_experiments
from tests.support import memories

FILE = "src/cart/prices.py"
RARE = "src/cart/taxes.py"
TEXT = "PRICE = 1\n" * 90
TASK = "Clear the price cache of the cart before each test"


def opened(caller: Caller, now: datetime, **given: Any) -> UUID:
    """Open a session in the project; return its id."""
    new = NewSession(**{"project": "store", "cwd": "/home/ana/shop", **given})
    return open_session(caller=caller, new=new, now=now).session.id


def rows(*paths: str, kind: str = "Read", outcome: str = "success") -> tuple[dict[str, Any], ...]:
    """Return the events of a session that reads or edits some files."""
    told: list[dict[str, Any]] = [{"kind": "prompt", "text": TASK}]
    for step, path in enumerate(paths, start=1):
        call = {"name": kind, "step": step, "call": f"c{step}"}
        told.append({"kind": "tool_call", "args": {"file_path": path}, **call})
        told.append({"kind": "tool_result", "text": TEXT, **call})
    if outcome:
        told.append({"kind": "session_complete", "outcome": outcome, "steps": len(paths)})
    return tuple({"sequence": place, **one} for place, one in enumerate(told, start=1))


def worked(caller: Caller, now: datetime, events: tuple[dict[str, Any], ...], **given: Any) -> UUID:
    """Run a session to its end, and decide what it has shown; return its id."""
    session_id = opened(caller, now, **given)
    append_events(caller=caller, session_id=session_id, events=events, now=now)
    end_session(caller=caller, session_id=session_id, now=now)
    finalize(session_id=session_id, now=now)
    return session_id


def at(
    caller: Caller, now: datetime, point: Point, session_id: UUID, **given: Any
) -> PointDelivery:
    """Ask what a point gives."""
    asked = PointRequest(
        point=point, session_id=session_id, task=SearchRequest(query=TASK), **given
    )
    return deliver_at_point(caller=caller, request=asked, now=now)


def known(caller: Caller, now: datetime, content: str, **given: Any) -> MemoryView:
    """Store a memory of the module."""
    fields = {"project": "store", "related_modules": ("src/cart",), "confidence": 0.9, **given}
    return memories.stored(caller, now, content, **fields)


@pytest.mark.usefixtures("store")
def test_files_of_nearly_every_session_of_a_module_are_planned_with_what_they_take(
    caller: Caller, now: datetime
) -> None:
    for place in range(4):
        worked(caller, now, rows(FILE, *((RARE,) if place < 3 else ())))

    given = at(caller, now, Point.FIRST_MESSAGE, opened(caller, now), modules=("src/cart",))

    assert given.prefetch is not None
    assert [(one.path, one.tokens, one.always) for one in given.prefetch.files] == [
        (FILE, 300, True),
        (RARE, 300, False),
    ]
    assert f"- {FILE} (nearly every session, about 300 tokens)" in given.delivery.text


@pytest.mark.usefixtures("store")
def test_what_only_somebody_elses_own_sessions_read_is_planned_for_nobody_else(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    for _ in range(4):
        worked(caller, now, rows(FILE))

    given = at(
        member_caller, now, Point.FIRST_MESSAGE, opened(member_caller, now), modules=("src/cart",)
    )

    assert given.prefetch is not None
    assert (given.prefetch.files, given.prefetch.left_out) == ((), ())
    assert given.delivery.text == ""


@pytest.mark.usefixtures("store")
def test_unfinished_work_of_a_branch_is_offered_where_it_is_opened_again(
    caller: Caller, now: datetime
) -> None:
    worked(caller, now, rows(FILE, kind="Edit", outcome="abandoned"), branch="fix/cache")
    worked(caller, now, rows(FILE, kind="Edit"), branch="finished")

    given, elsewhere, finished = (
        at(caller, now, Point.FIRST_MESSAGE, opened(caller, now, branch=branch))
        for branch in ("fix/cache", "other", "finished")
    )

    assert given.unfinished is not None
    assert given.unfinished.files == (FILE,)
    assert TASK in given.delivery.text
    assert FILE in given.delivery.text
    for one in (elsewhere, finished):
        assert (one.unfinished, one.delivery.text) == (None, "")


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("shared", [False, True])
def test_unfinished_work_of_others_is_offered_only_where_it_is_shared(
    caller: Caller, member_caller: Caller, now: datetime, shared: bool
) -> None:
    events = rows(FILE, kind="Edit", outcome="failure")
    worked(caller, now, events, branch="main", thread="cache", shared=shared)

    session = opened(member_caller, now, branch="main", thread="cache")
    given = at(member_caller, now, Point.FIRST_MESSAGE, session)
    elsewhere = at(
        member_caller, now, Point.FIRST_MESSAGE, opened(member_caller, now, branch="main")
    )

    assert (given.unfinished is not None) is shared
    assert (FILE in given.delivery.text) is shared
    assert elsewhere.unfinished is None


@pytest.mark.usefixtures("store")
def test_unfinished_work_after_outside_content_is_offered_to_nobody_else(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    fetched = {"kind": "tool_call", "name": "WebFetch", "args": {"url": "https://x.test"}}
    done = rows(FILE, kind="Edit", outcome="failure")
    events = (
        {"sequence": 1, **fetched},
        *({**one, "sequence": one["sequence"] + 1} for one in done),
    )
    worked(caller, now, events, branch="fix/cache", thread="cache", shared=True)

    own = at(caller, now, Point.FIRST_MESSAGE, opened(caller, now, branch="fix/cache"))
    session = opened(member_caller, now, thread="cache")
    theirs = at(member_caller, now, Point.FIRST_MESSAGE, session)

    assert own.unfinished is not None
    assert (own.unfinished.files, own.unfinished.task) == ((FILE,), "")
    assert (theirs.unfinished, theirs.delivery.text) == (None, "")


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("minutes", "is_left"), [(1, False), (61, True)])
def test_a_session_that_still_runs_has_left_nothing_unfinished(
    caller: Caller, now: datetime, minutes: int, is_left: bool
) -> None:
    running = opened(caller, now, agent="codex", branch="fix/cache")
    events = rows(FILE, kind="Edit", outcome="")
    append_events(caller=caller, session_id=running, events=events, now=now)

    then = now + timedelta(minutes=minutes)
    given = at(caller, then, Point.FIRST_MESSAGE, opened(caller, then, branch="fix/cache"))

    assert (given.unfinished is not None) is is_left


@pytest.mark.usefixtures("store")
def test_what_was_committed_is_not_unfinished(caller: Caller, now: datetime) -> None:
    told = (*rows(FILE, kind="Edit", outcome=""), {"sequence": 4, "kind": "commit", "text": "x"})
    more = ({**one, "sequence": one["sequence"] + 4} for one in rows(RARE, kind="Edit", outcome=""))
    worked(caller, now, told, branch="one")
    worked(caller, now, (*told, *more), branch="two")

    one, two = (
        at(caller, now, Point.FIRST_MESSAGE, opened(caller, now, branch=branch)).unfinished
        for branch in ("one", "two")
    )

    assert one is None
    assert two is not None
    assert two.files == (RARE,)


@pytest.fixture
def lessons(caller: Caller, store: str, now: datetime) -> tuple[UUID, UUID, UUID]:
    """A calibration, a dependency and a dead end of the module."""
    measured = {"module": "src/cart", "planned": 10, "actual": 15, "ratio": 1.5, "samples": 4}
    told: tuple[dict[str, Any], ...] = (
        {
            "content": "Work on the cart takes half as long again as it was planned to take.",
            "type": "task_calibration",
            "attributes": measured,
        },
        {
            "content": "A change of the prices comes with a change of the taxes of the cart.",
            "type": "causal_dependency",
            "related_files": (FILE, RARE),
        },
        {
            "content": "Caching totals in the session failed, because carts are shared by tabs.",
            "type": "dead_end",
        },
    )
    first, second, third = (known(caller, now, **one).id for one in told)
    return first, second, third


@pytest.mark.parametrize("file", [FILE, f"/home/ana/shop/{FILE}"])
def test_a_planner_is_told_what_follows_for_the_plan(
    caller: Caller, lessons: tuple[UUID, UUID, UUID], now: datetime, file: str
) -> None:
    _, coupled, dead = lessons
    task = {"modules": ("src/cart",), "files": (file,), "estimate": 10}

    given = at(caller, now, Point.PLANNER, opened(caller, now), **task)

    assert given.advice is not None
    assert given.advice.calibration == pytest.approx(1.5)
    assert (given.advice.planned_steps, given.advice.step_limit) == (10, 15)
    assert given.advice.also_in_scope == (RARE,)
    assert set(given.advice.rests_on) == set(lessons)
    assert given.advice.checklist == (dead, coupled)
    assert "1.50 times the steps planned; allow 15 steps" in given.delivery.text
    assert {one.memory.id for one in given.delivery.memories} == set(lessons)


@pytest.mark.usefixtures("store")
def test_what_waits_for_review_or_is_tainted_changes_no_plan(caller: Caller, now: datetime) -> None:
    measured = {"module": "src/cart", "planned": 10, "actual": 30, "ratio": 3.0, "samples": 4}
    said = "Work on the cart takes three times as long as it was planned to take ({})."
    waiting = known(caller, now, said.format("one"), type="task_calibration", attributes=measured)
    tainted = known(caller, now, said.format("two"), type="task_calibration", attributes=measured)
    with tenancy.unit():
        Memory.objects.filter(pk=waiting.id).update(needs_review=True)
        Memory.objects.filter(pk=tainted.id).update(taint_reason="web: x.test")

    given = at(caller, now, Point.PLANNER, opened(caller, now), modules=("src/cart",), estimate=10)

    assert given.advice is not None
    assert (given.advice.calibration, given.advice.step_limit) == (None, 10)
    assert (given.advice.rests_on, given.delivery.text) == ((), "")


@pytest.mark.usefixtures("lessons")
def test_what_is_withheld_from_a_session_changes_no_plan(caller: Caller, now: datetime) -> None:
    shares = {"enabled": True, "control_percent": 0, "passive_percent": 0, "withheld_percent": 50}
    change_experiments(caller=caller, ref="store", changed=shares)

    task: dict[str, Any] = {"modules": ("src/cart",), "files": (FILE,), "estimate": 10}

    for _ in range(8):
        session = opened(caller, now)
        first = at(caller, now, Point.PLANNER, session, **task)
        again = at(caller, now, Point.PLANNER, session, **task)
        with tenancy.unit():
            rows = GivenOut.all_rows.filter(session_id=session)
            told = set(rows.filter(withheld=False).values_list("memory_id", flat=True))
            left = set(rows.filter(withheld=True).values_list("memory_id", flat=True))
            count = rows.count()
        assert (told & left, len(told | left), count) == (set(), 3, 3)
        for given in (first, again):
            assert given.advice is not None
            assert set(given.advice.rests_on) == told
            assert not left & {one.memory.id for one in given.delivery.memories}


@pytest.mark.usefixtures("store")
def test_a_step_limit_is_twice_the_plan_at_most(caller: Caller, now: datetime) -> None:
    measured = {"module": "src/cart", "planned": 1, "actual": 9, "ratio": 9.0, "samples": 4}
    known(
        caller, now, "Work on the cart takes nine times as long as it was planned to take.",
        type="task_calibration", attributes=measured,
    )  # fmt: skip

    session = opened(caller, now, plan=("one", "two", "three"))
    given = at(caller, now, Point.PLANNER, session, modules=("src/cart",))

    assert given.advice is not None
    assert (given.advice.planned_steps, given.advice.step_limit) == (3, 6)


@pytest.mark.usefixtures("store")
def test_a_stage_passes_on_what_it_recorded_to_the_next_and_to_no_other(
    caller: Caller, now: datetime
) -> None:
    before = opened(caller, now, thread="cache", phase="qa_reviewer")
    error = known(caller, now, "The suite fails on a cold cache with a stale total.",
                  type="error_pattern")  # fmt: skip
    decision = known(caller, now, "Totals are kept in cents, as the ledger does.",
                     type="decision")  # fmt: skip
    with tenancy.unit():
        Memory.objects.filter(pk__in=(error.id, decision.id)).update(session_id=before)

    fixer = opened(caller, now, thread="cache", phase="qa_fixer")
    planner = opened(caller, now, thread="cache", phase="planner")
    passed = at(caller, now, Point.SYSTEM_PROMPT, fixer)
    none = at(caller, now, Point.SYSTEM_PROMPT, planner)

    assert error.id in {one.memory.id for one in passed.delivery.memories}
    assert decision.id not in {one.memory.id for one in passed.delivery.memories}
    assert none.delivery.memories == ()


@pytest.mark.usefixtures("store")
def test_nothing_is_given_twice_at_any_of_the_points(caller: Caller, now: datetime) -> None:
    known(
        caller, now, "Clear the price cache of the cart before each test, or totals are stale.",
        type="gotcha", related_files=(FILE,),
    )  # fmt: skip
    session = opened(caller, now)

    given = [
        one.memory.id
        for point in (*Point, *Point)
        for one in at(
            caller, now, point, session, modules=("src/cart",), files=(FILE,), step=9
        ).delivery.memories
    ]

    with tenancy.unit():
        assert set(given) == logged_memories(session_ids=(session,))
    assert len(given) == 1


@pytest.mark.usefixtures("store")
def test_an_own_methodology_says_what_its_stages_pass_on(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    passes = Transition(before="design", after="doing", types=frozenset({MemoryType.DECISION}))
    phases = {"design": "define", "doing": "implement"}
    define_methodology(
        caller=caller, name="kanban", phases=phases, course=Course(relays=(passes,)), now=now
    )
    work = {"methodology": "kanban", "thread": "cache", "shared": True}
    before = opened(caller, now, phase="design", **work)
    decided = {"type": "decision", "content": "Totals are kept in cents, as the ledger does."}
    noted = {"type": "decision", "content": "I keep the notes on totals in my own folder."}
    decision = known(caller, now, **decided)
    own = known(caller, now, scope="personal", **noted)
    with tenancy.unit():
        Memory.objects.filter(pk__in=(decision.id, own.id)).update(session_id=before)

    after = opened(member_caller, now, phase="doing", **work)
    given = at(member_caller, now, Point.SYSTEM_PROMPT, after)

    assert {one.memory.id for one in given.delivery.memories} == {decision.id}
    assert list_methodologies(caller=member_caller)[1].relays == (passes,)


@pytest.mark.parametrize(
    "relays",
    [
        (Transition(before="design", after="design"),),
        (Transition(before=" ", after="doing"),),
        (Transition(before="design", after="doing"), Transition(before="design", after="doing")),
    ],
)
def test_relays_that_lead_nowhere_are_refused(
    caller: Caller, store: str, now: datetime, relays: tuple[Transition, ...]
) -> None:
    with pytest.raises(InvalidInput):
        define_methodology(
            caller=caller,
            name="kanban",
            phases={"doing": "implement"},
            course=Course(relays=relays),
            now=now,
        )

    assert own_methodologies(caller=caller) == {}


@pytest.mark.usefixtures("store")
def test_the_plan_and_unfinished_work_are_told_once(caller: Caller, now: datetime) -> None:
    for _ in range(3):
        worked(caller, now, rows(FILE))
    worked(caller, now, rows(FILE, kind="Edit", outcome="abandoned"), branch="fix/cache")
    session = opened(caller, now, branch="fix/cache")

    first, *again = (
        at(caller, now, Point.FIRST_MESSAGE, session, modules=("src/cart",)) for _ in range(3)
    )

    assert first.delivery.text.count(FILE) == 2  # in the plan, and as what was changed
    assert [(one.delivery.text, one.prefetch, one.unfinished) for one in again] == [
        ("", None, None),
        ("", None, None),
    ]


@pytest.mark.usefixtures("store")
def test_what_was_answered_by_nothing_may_be_asked_again(caller: Caller, now: datetime) -> None:
    for _ in range(4):
        worked(caller, now, rows(FILE))
    session = opened(caller, now)

    unnamed = at(caller, now, Point.FIRST_MESSAGE, session)
    named = at(caller, now, Point.FIRST_MESSAGE, session, modules=("src/cart",))

    assert unnamed.delivery.text == ""
    assert FILE in named.delivery.text


@pytest.mark.usefixtures("store")
def test_a_session_that_ended_and_goes_on_is_told_its_own_work_once_more(
    caller: Caller, now: datetime
) -> None:
    worked(caller, now, rows(FILE, kind="Edit", outcome="abandoned"), branch="fix/cache")
    session = opened(caller, now, branch="fix/cache")
    at(caller, now, Point.FIRST_MESSAGE, session)
    later = now + timedelta(minutes=5)
    events = rows(RARE, kind="Edit", outcome="abandoned")
    append_events(caller=caller, session_id=session, events=events, now=later)
    end_session(caller=caller, session_id=session, now=later)

    first, again = (
        at(caller, later + timedelta(minutes=n), Point.FIRST_MESSAGE, session) for n in (1, 2)
    )

    assert first.unfinished is not None
    assert first.unfinished.files == (RARE,)
    assert (again.unfinished, again.delivery.text) == (None, "")


CENTS = "Money is counted in whole cents everywhere, because floats drift."
DISCOUNTS = "To add a discount, write its rule first, then the test, then the docs."
LATE_MAILS = "Mails were late in spring because one queue took all of them."
MAILS_IN_TIME = "Mails are on time since summer because two queues share them."
TEMPLATES = "To add a mail, copy a template first, then write the test and look at it."
THOUSANDTHS = "My own invoices are counted in thousandths, since the bank asks so."


@pytest.mark.usefixtures("store")
def test_the_brief_over_rest_holds_what_stands_and_how_work_on_its_modules_is_done(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    known(caller, now, "The lamp in the kitchen is green.")
    silent = at(
        caller, now, Point.SYSTEM_PROMPT, opened(caller, now), modules=("src/cart",)
    ).delivery
    firm = known(caller, now, CENTS, pinned=True)
    recipe = known(caller, now, DISCOUNTS, type="workflow_recipe")
    old = known(caller, now - timedelta(days=2), LATE_MAILS, type="reflection")
    last = known(caller, now, MAILS_IN_TIME, type="reflection")
    known(caller, now, TEMPLATES, related_modules=("src/mail",), type="workflow_recipe")
    known(member_caller, now, THOUSANDTHS, scope="personal", pinned=True)

    session = opened(caller, now)
    given = at(caller, now, Point.SYSTEM_PROMPT, session, modules=("src/cart",)).delivery

    assert (silent.text, silent.tokens) == ("", 0)
    assert {one.memory.id for one in given.memories} == {firm.id, recipe.id, last.id}
    assert old.content not in given.text


@pytest.mark.usefixtures("store")
def test_what_may_not_be_passed_on_crowds_out_nothing(caller: Caller, now: datetime) -> None:
    before = opened(caller, now, thread="cache", phase="planner")
    few = known(caller, now, "Totals are kept in cents, as the ledger does.", type="decision")
    with tenancy.unit():
        Memory.objects.filter(pk=few.id).update(session_id=before)
        row = Memory.objects.get(pk=few.id)
        row.needs_review, row.confidence = True, 0.99
        for number in range(STAGE_MEMORIES_MOST):
            row.pk, row.content, row.content_hash = uuid4(), f"Guess {number}.", f"{number:064}"
            row.save(force_insert=True)

    coder = opened(caller, now, thread="cache", phase="coder")
    passed = at(caller, now, Point.SYSTEM_PROMPT, coder)

    assert [one.memory.id for one in passed.delivery.memories] == [few.id]
