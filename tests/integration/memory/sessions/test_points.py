"""What a session begins with and what its planner is told: from sums and sessions one may see."""

from dataclasses import replace
from datetime import timedelta
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
from memory.injection.actions.brief import STAGE_MEMORIES_MOST
from memory.injection.actions.trigger_points import PointDelivery, PointRequest, deliver_at_point
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.search.request import SearchRequest
from memory.sessions.models import GivenOut
from memory.taxonomy import MemoryType
from teams.actions import change_experiments
from tests.support.agent_runs import Run, Shop, in_order, later, update_memory

FILE = "src/cart/prices.py"
RARE = "src/cart/taxes.py"
TEXT = "PRICE = 1\n" * 90
TASK = "Clear the price cache of the cart before each test"
CENTS = "Totals are kept in cents, as the ledger does."
CART: Any = {"modules": ("src/cart",)}


def given_at(point: Point, run: Run, **given: Any) -> PointDelivery:
    """Ask what a point gives to a session."""
    asked = PointRequest(point=point, session_id=run.id, task=SearchRequest(query=TASK), **given)
    return deliver_at_point(caller=run.caller, request=asked, now=run.now)


def first(run: Run, **given: Any) -> PointDelivery:
    """Ask what a session is given with its first message."""
    return given_at(Point.SESSION_START, run, **given)


def ids(given: PointDelivery) -> set[UUID]:
    """Return the memories that were given."""
    return {one.memory.id for one in given.delivery.memories}


def touches(*paths: str, kind: str = "Read", outcome: str = "success") -> tuple[Any, ...]:
    """Return the events of a session that reads or edits some files."""
    told: list[dict[str, Any]] = [{"kind": "prompt", "text": TASK}]
    for step, path in enumerate(paths, start=1):
        call = {"name": kind, "step": step, "call": f"c{step}"}
        told.append({"kind": "tool_call", "args": {"file_path": path}, **call})
        told.append({"kind": "tool_result", "text": TEXT, **call})
    if outcome:
        told.append({"kind": "session_complete", "outcome": outcome, "steps": len(paths)})
    return in_order(*told)


def edits(*paths: str, outcome: str = "abandoned") -> tuple[Any, ...]:
    """Return the events of a session that edits some files."""
    return touches(*paths, kind="Edit", outcome=outcome)


class Cart(Shop):
    """The project with a module, worked on by the owner."""

    def opened(self, by: Caller | None = None, **new: Any) -> Run:
        """Open a session of the owner, or of somebody else."""
        return super().opened(by or self.owner, **{"cwd": "/home/ana/shop", **new})

    def know(self, content: str, **fields: Any) -> MemoryView:
        """Store a memory of the module."""
        return self.remember(
            content, **{"related_modules": ("src/cart",), "confidence": 0.9, **fields}
        )

    def calibrate(self, content: str, planned: int, actual: int) -> MemoryView:
        """Store how long work on the module took, as against the plan."""
        measured = {
            "module": "src/cart", "planned": planned, "actual": actual,
            "ratio": actual / planned, "samples": 4,
        }  # fmt: skip
        return self.know(content, type="task_calibration", attributes=measured)

    def learned_in(self, run: Run, *memories: MemoryView) -> None:
        """Let memories have been learned in a session."""
        for one in memories:
            update_memory(one.id, session_id=run.id)


@pytest.fixture
def cart(shop: Shop) -> Cart:
    """A project without sessions."""
    return Cart(shop.owner, shop.member, shop.now)


def test_files_of_nearly_every_session_are_planned_once_for_their_person_alone(cart: Cart) -> None:
    for place in range(4):
        cart.ran(*touches(FILE, *((RARE,) if place < 3 else ())))
    run = cart.opened()

    unnamed, given, again = first(run), first(run, **CART), first(run, **CART)
    theirs = first(cart.opened(cart.member), **CART)

    assert given.prefetch is not None
    assert [(one.path, one.tokens, one.always) for one in given.prefetch.files] == [
        (FILE, 300, True),
        (RARE, 300, False),
    ]
    assert f"- {FILE} (nearly every session, about 300 tokens)" in given.delivery.text
    assert unnamed.delivery.text == ""  # what was answered by nothing may be asked again
    assert (again.prefetch, again.delivery.text) == (None, "")
    assert theirs.prefetch is not None
    assert (theirs.prefetch.files, theirs.prefetch.left_out) == ((), ())
    assert theirs.delivery.text == ""


def test_unfinished_work_of_a_branch_is_offered_once_where_it_is_opened_again(cart: Cart) -> None:
    committed = (*edits(FILE, outcome=""), {"sequence": 4, "kind": "commit", "text": "x"})
    cart.ran(*edits(FILE), branch="fix/cache")
    cart.ran(*edits(FILE, outcome="success"), branch="finished")
    cart.ran(*committed, branch="committed")
    cart.ran(*committed, *later(edits(RARE, outcome=""), 4), branch="went on")
    run = cart.opened(branch="fix/cache")

    given, went_on = first(run), first(cart.opened(branch="went on"))

    assert given.unfinished is not None
    assert given.unfinished.files == (FILE,)
    assert TASK in given.delivery.text
    assert FILE in given.delivery.text
    assert went_on.unfinished is not None
    assert went_on.unfinished.files == (RARE,)
    for branch in ("other", "finished", "committed"):
        again = first(cart.opened(branch=branch))
        assert (again.unfinished, again.delivery.text) == (None, ""), branch


def test_a_session_that_ended_and_goes_on_is_told_its_own_work_once_more(cart: Cart) -> None:
    cart.ran(*edits(FILE), branch="fix/cache")
    run = cart.opened(branch="fix/cache")
    told = [first(run).unfinished, first(run).unfinished]
    run.now += timedelta(minutes=5)
    run.does(*edits(RARE))
    run.ends()

    for _ in "ab":
        run.now += timedelta(minutes=1)
        told.append(first(run).unfinished)

    assert [None if one is None else one.files for one in told] == [(FILE,), None, (RARE,), None]


@pytest.mark.parametrize("shared", [False, True])
def test_unfinished_work_of_others_is_offered_if_shared(cart: Cart, shared: bool) -> None:
    cart.ran(*edits(FILE, outcome="failure"), branch="main", thread="cache", shared=shared)

    given = first(cart.opened(cart.member, branch="main", thread="cache"))
    elsewhere = first(cart.opened(cart.member, branch="main"))

    assert (given.unfinished is not None) is shared
    assert (FILE in given.delivery.text) is shared
    assert elsewhere.unfinished is None


def test_unfinished_work_after_outside_content_is_offered_to_nobody_else(cart: Cart) -> None:
    fetched = {"kind": "tool_call", "name": "WebFetch", "args": {"url": "https://x.test"}}
    events = (*in_order(fetched), *later(edits(FILE, outcome="failure"), 1))
    cart.ran(*events, branch="fix/cache", thread="cache", shared=True)

    own = first(cart.opened(branch="fix/cache"))
    theirs = first(cart.opened(cart.member, thread="cache"))

    assert own.unfinished is not None
    assert (own.unfinished.files, own.unfinished.task) == ((FILE,), "")
    assert (theirs.unfinished, theirs.delivery.text) == (None, "")


def test_a_session_that_still_runs_has_left_nothing_unfinished(cart: Cart) -> None:
    for branch, minutes, is_left in (("runs", 1, False), ("idle", 61, True)):
        cart.opened(agent="codex", branch=branch).does(*edits(FILE, outcome=""))

        given = first(cart.at(minutes=minutes).opened(branch=branch))

        assert (given.unfinished is not None) is is_left


@pytest.fixture
def lessons(cart: Cart) -> tuple[UUID, UUID, UUID]:
    """A calibration, a dependency and a dead end of the module."""
    long = cart.calibrate("Work on the cart takes half as long again as it was planned.", 10, 15)
    coupled = cart.know(
        "A change of the prices comes with a change of the taxes of the cart.",
        type="causal_dependency",
        related_files=(FILE, RARE),
    )
    dead = cart.know(
        "Caching totals in the session failed, because carts are shared by tabs.", type="dead_end"
    )
    return long.id, coupled.id, dead.id


def test_a_planner_is_told_what_follows(cart: Cart, lessons: tuple[UUID, UUID, UUID]) -> None:
    _, coupled, dead = lessons
    file = f"/home/ana/shop/{FILE}"

    given = given_at(Point.PLANNER, cart.opened(), files=(file,), estimate=10, **CART)

    assert given.advice is not None
    assert given.advice.calibration == pytest.approx(1.5)
    assert (given.advice.planned_steps, given.advice.step_limit) == (10, 15)
    assert given.advice.also_in_scope == (RARE,)
    assert set(given.advice.rests_on) == set(lessons)
    assert given.advice.checklist == (dead, coupled)
    assert "1.50 times the steps planned; allow 15 steps" in given.delivery.text
    assert ids(given) == set(lessons)


def test_what_waits_or_is_tainted_changes_no_plan(cart: Cart) -> None:
    said = "Work on the cart takes three times as long as it was planned to take ({})."
    waiting, tainted = (cart.calibrate(said.format(one), 10, 30) for one in ("one", "two"))
    update_memory(waiting.id, needs_review=True)
    update_memory(tainted.id, taint_reason="web: x.test")

    given = given_at(Point.PLANNER, cart.opened(), estimate=10, **CART)
    cart.calibrate("Work on the cart takes nine times as long as it was planned to take.", 1, 9)
    most = given_at(Point.PLANNER, cart.opened(plan=("one", "two", "three")), **CART)

    assert given.advice is not None
    assert (given.advice.calibration, given.advice.step_limit) == (None, 10)
    assert (given.advice.rests_on, given.delivery.text) == ((), "")
    assert most.advice is not None
    assert (most.advice.planned_steps, most.advice.step_limit) == (3, 6)


@pytest.mark.usefixtures("lessons")
def test_what_is_withheld_from_a_session_changes_no_plan(cart: Cart) -> None:
    shares = {"enabled": True, "control_percent": 0, "passive_percent": 0, "withheld_percent": 50}
    change_experiments(caller=cart.owner, ref=cart.slug, changed=shares)

    for _ in range(4):
        run = cart.opened()
        both = [given_at(Point.PLANNER, run, files=(FILE,), estimate=10, **CART) for _ in "ab"]
        with tenancy.unit():
            rows = GivenOut.all_rows.filter(session_id=run.id)
            told = set(rows.filter(withheld=False).values_list("memory_id", flat=True))
            left = set(rows.filter(withheld=True).values_list("memory_id", flat=True))
            count = rows.count()
        assert (told & left, len(told | left), count) == (set(), 3, 3)
        for given in both:
            assert given.advice is not None
            assert set(given.advice.rests_on) == told
            assert not left & ids(given)


def test_a_stage_passes_on_what_it_recorded_to_the_next_and_to_no_other(cart: Cart) -> None:
    error = cart.know("The suite fails on a cold cache with a stale total.", type="error_pattern")
    decision = cart.know(CENTS, type="decision")
    cart.learned_in(cart.opened(thread="cache", phase="qa_reviewer"), error, decision)

    fixer, planner = (
        given_at(Point.BRIEF, cart.opened(thread="cache", phase=phase))
        for phase in ("qa_fixer", "planner")
    )

    assert error.id in ids(fixer)
    assert decision.id not in ids(fixer)
    assert ids(planner) == set()


def test_an_own_methodology_says_what_its_stages_pass_on(cart: Cart) -> None:
    passes = Transition(before="design", after="doing", types=frozenset({MemoryType.DECISION}))
    phases = {"design": "define", "doing": "implement"}
    course = Course(relays=(passes,))
    define_methodology(caller=cart.owner, name="kanban", phases=phases, course=course, now=cart.now)
    work = {"methodology": "kanban", "thread": "cache", "shared": True}
    decision = cart.know(CENTS, type="decision")
    note = "I keep the notes on totals in my own folder."
    own = cart.know(note, type="decision", scope="personal")
    cart.learned_in(cart.opened(phase="design", **work), decision, own)

    given = given_at(Point.BRIEF, cart.opened(cart.member, phase="doing", **work))

    assert ids(given) == {decision.id}
    assert list_methodologies(caller=cart.member)[1].relays == (passes,)


def test_relays_that_lead_nowhere_are_refused(cart: Cart) -> None:
    right = Transition(before="design", after="doing")
    for relays in (
        (replace(right, after="design"),),
        (replace(right, before=" "),),
        (right, right),
    ):
        course: Any = {"course": Course(relays=relays), "phases": {"doing": "implement"}}
        with pytest.raises(InvalidInput):
            define_methodology(caller=cart.owner, name="kanban", now=cart.now, **course)

    assert own_methodologies(caller=cart.owner) == {}


def test_the_brief_over_rest_holds_what_stands(cart: Cart) -> None:
    cart.know("The lamp in the kitchen is green.")
    silent = given_at(Point.BRIEF, cart.opened(), **CART).delivery
    firm = cart.know(
        "Money is counted in whole cents everywhere, because floats drift.", pinned=True
    )
    rule = "To add a discount, write its rule first, then the test, then the docs."
    recipe = cart.know(rule, type="workflow_recipe")
    before = cart.at(days=-2)
    late = "Mails were late in spring because one queue took all of them."
    old = before.know(late, type="reflection")
    in_time = "Mails are on time since summer because two queues share them."
    last = cart.know(in_time, type="reflection")
    template = "To add a mail, copy a template first, then write the test and look at it."
    cart.know(template, related_modules=("src/mail",), type="workflow_recipe")
    theirs = "My own invoices are counted in thousandths, since the bank asks so."
    cart.know(theirs, by=cart.member, scope="personal", pinned=True)

    given = given_at(Point.BRIEF, cart.opened(), **CART)

    assert (silent.text, silent.tokens) == ("", 0)
    assert ids(given) == {firm.id, recipe.id, last.id}
    assert old.content not in given.delivery.text


def test_what_may_not_be_passed_on_crowds_out_nothing(cart: Cart) -> None:
    few = cart.know(CENTS, type="decision")
    note = cart.know("The ledger is read last, for now.", type="decision", reach="session")
    cart.learned_in(cart.opened(thread="cache", phase="planner"), few, note)
    with tenancy.unit():
        row = Memory.objects.get(pk=few.id)
        row.needs_review, row.confidence = True, 0.99
        for number in range(STAGE_MEMORIES_MOST):
            row.pk, row.content, row.content_hash = uuid4(), f"Guess {number}.", f"{number:064}"
            row.save(force_insert=True)

    coder = cart.opened(thread="cache", phase="coder")

    assert ids(given_at(Point.BRIEF, coder)) == {few.id}
