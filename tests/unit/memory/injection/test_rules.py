"""What is selected, what work begins with, and what follows from memories for a plan."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.customization import phases
from memory.experiments.points import POINTS, Point
from memory.injection import rules
from memory.injection.rules import (
    MEMORIES_MOST,
    ON_REQUEST,
    CandidateSet,
    FilePlan,
    Trigger,
    WorkState,
    unprompted,
)
from memory.records.queries.views import MemoryView
from memory.sessions.counters import FileRow, ModuleRow
from memory.taxonomy import MemoryType
from tests.support.stories import Story
from tests.support.views import view

KNOWN = view(related_files=("a",))
SHARES = st.floats(0, 1)
NUMBERS = st.integers(0, 30)
VIEWS = st.lists(
    st.builds(
        view,
        NUMBERS,
        st.sampled_from(list(MemoryType)),
        content=st.text(min_size=1, max_size=60).map(lambda text: text * 40),
        related_files=st.lists(st.sampled_from(["a", "b", "c"]), max_size=2).map(tuple),
        effective_confidence=SHARES,
    ),
    max_size=25,
)


def selected(*views: MemoryView, **given: Any) -> tuple[int, ...]:
    """Return the numbers of what is selected of some memories, relevant at 0.9 unless given."""
    relevance = given.pop("relevance", {})
    usual = {"point": Point.BRIEF, "delivered": frozenset()}
    candidates = CandidateSet(
        views={one.id: one for one in views},
        relevance={one.id: relevance.get(one.id.int, 0.9) for one in views},
        working=frozenset(given.pop("working", ())),
    )
    found = rules.select(candidates=candidates, **{**usual, **given})
    return tuple(one.int for one in found)


@given(
    views=VIEWS,
    point=st.sampled_from(list(Point)),
    delivered=st.frozensets(NUMBERS.map(lambda number: UUID(int=number)), max_size=9),
    working=st.frozensets(st.sampled_from(["a", "b", "c"])),
)
def test_no_budget_is_exceeded_and_nothing_is_selected_twice_or_by_its_place(
    views: list[MemoryView], point: Point, delivered: frozenset[UUID], **given: Any
) -> None:
    unique = list({one.id: one for one in views}.values())

    ids = selected(*unique, point=point, delivered=delivered, **given)

    contents = {one.id.int: one.content for one in unique}
    spent = sum(rules.tokens_of(content=contents[one]) for one in ids)
    assert spent <= POINTS[point].tokens
    assert len(ids) == len(set(ids)) <= MEMORIES_MOST[point]
    assert {one.int for one in delivered}.isdisjoint(ids)
    assert selected(*reversed(unique), point=point, delivered=delivered, **given) == ids


AT_FILE = {"point": Point.TOOL_RESULT, "working": {"a"}}
AT_STEP = {"point": Point.STEP, "working": {"a"}}


@pytest.mark.parametrize("given", [{}, AT_FILE, AT_STEP, {"point": Point.STEP}])
def test_what_fits_is_selected(given: dict[str, Any]) -> None:
    assert selected(KNOWN, **given) == (1,)


@pytest.mark.parametrize(
    ("known", "given"),
    [
        (KNOWN, {"delivered": frozenset({KNOWN.id})}),
        (KNOWN, {**AT_FILE, "working": {"b"}}),
        (KNOWN, {**AT_FILE, "working": ()}),
        (replace(KNOWN, type="event"), AT_FILE),
        (replace(KNOWN, type="event"), AT_STEP),
    ],
)
def test_the_rest_is_met_with_silence(known: MemoryView, given: dict[str, Any]) -> None:
    assert selected(known, **given) == ()


def test_a_memory_about_a_file_worked_on_comes_first_and_what_does_not_fit_makes_way() -> None:
    near, far = view(2, related_files=("a",)), view(1, related_files=("z",))
    long = replace(KNOWN, content="word " * 3_000)

    assert selected(far, near, working={"a"}, relevance={2: 0.8}) == (2, 1)
    assert selected(long, near, **AT_FILE, relevance={2: 0.7}) == (2,)


def busy() -> Story:
    """Return a session at its sixth step."""
    return Story().run("a").run("b").run("c").run("d").run("e")


def looked_up(
    story: Story, *, through: int = 0, triggers: frozenset[Trigger] = ON_REQUEST
) -> tuple[str, ...]:
    """Return what is looked up at the step a story has come to."""
    return rules.triggered_questions(
        scratchpad=story.scratchpad(), through=through, triggers=triggers
    )


@pytest.mark.parametrize(
    ("story", "question"),
    [
        (busy().call("mcp__cairn__add_memory", {"content": "Mints expire."}), "Mints expire."),
        (busy().glob("*.py"), ".py"),
        (busy().grep("one").grep("two").grep("three").grep("four"), "four three two"),
    ],
)
def test_a_trigger_looks_something_up(story: Story, question: str) -> None:
    assert looked_up(story) == (question,)


def test_triggers_come_in_their_order_where_a_project_wants_them_and_once() -> None:
    story = busy().grep("mint").call("mcp__cairn__add_memory", {"content": "One."}).read("a.py")

    assert looked_up(story) == ("One.", "mint")
    assert looked_up(story, triggers=frozenset({Trigger.FILE_TOUCHED})) == ()
    assert looked_up(story, through=story.scratchpad().through) == ()
    assert looked_up(busy().read("a.py")) == ()


MODULE = ModuleRow(module="auth", sessions=10)
ROWS = st.lists(
    st.builds(
        FileRow,
        path=st.integers(0, 40).map(lambda number: f"f{number}"),
        sessions=st.integers(0, 10),
        reads=st.integers(0, 3),
        tokens=st.integers(0, 20_000),
        sized=st.integers(0, 1),
    ),
    max_size=40,
    unique_by=lambda row: row.path,
)
RECORDED = tuple(
    view(number, type)
    for number, type in enumerate(
        (MemoryType.GOTCHA, MemoryType.ERROR_PATTERN, MemoryType.REQUIREMENT)
    )
)


def row(path: str, sessions: int, tokens: int = 100, sized: int = 1) -> FileRow:
    """Return a file read in so many of ten sessions."""
    return FileRow(path=path, sessions=sessions, reads=sessions, tokens=tokens, sized=sized)


def planned(*files: FileRow, module: ModuleRow = MODULE) -> FilePlan:
    """Return the plan of a module's files."""
    return rules.plan_files(modules=((module, files),))


def test_files_of_nearly_every_session_come_first_and_those_too_large_make_way() -> None:
    plan = planned(row("often", 6), row("always", 9), row("half", 5), row("limit", 8))
    large = planned(row("huge", 10, 40_000), row("small", 9), row("unknown", 10, sized=0))
    young = planned(row("a", 2), module=ModuleRow(module="auth", sessions=2))

    found = [(one.path, one.always) for one in plan.files]
    assert found == [("always", True), ("limit", False), ("often", False)]
    assert [one.path for one in large.files] == ["small"]
    assert large.left_out == ("huge", "unknown")
    assert young.files == ()  # two sessions plan nothing


@given(ROWS)
def test_the_plan_never_exceeds_its_tokens_and_files(rows: list[FileRow]) -> None:
    plan = planned(*rows)

    assert plan.tokens == sum(one.tokens for one in plan.files) <= rules.PLAN_TOKENS_MOST
    assert len(plan.files) <= rules.PLAN_FILES_MOST
    assert {one.path for one in plan.files} <= {one.path for one in rows if one.sized}


def test_files_of_several_modules_share_one_budget_and_each_counts_in_its_own() -> None:
    rare = ModuleRow(module="depot", sessions=20), (row("rare", 9),)
    near = MODULE, (row("often", 6), row("always", 9))

    plan = rules.plan_files(modules=(rare, near))

    assert [one.path for one in plan.files] == ["always", "often"]


def passed(before: str, after: str) -> set[str]:
    """Return the types that pass from stage to stage."""
    found = rules.handed_over(
        transitions=phases.NATIVE_TRANSITIONS, before=before, after=after, recorded=RECORDED
    )
    return {one.type for one in RECORDED if one.id in found}


def test_transitions_pass_the_types_they_name_and_others_nothing() -> None:
    assert passed("planner", "coder") == {"gotcha", "error_pattern", "requirement"}
    assert passed("qa_reviewer", "qa_fixer") == {"error_pattern", "requirement"}
    assert passed("coder", "planner") == set()


def test_a_transition_names_types_of_the_methodologys_own() -> None:
    story = view(9, MemoryType.REQUIREMENT, own_type="story")
    transition = phases.Transition(before="a", after="b", types=frozenset({"story"}))

    found = rules.handed_over(
        transitions=(transition,), before="a", after="b", recorded=(*RECORDED, story)
    )

    assert found == (story.id,)


def state_of(story: Story) -> WorkState | None:
    """Return where the work of a session stopped."""
    return rules.work_state(
        scratchpad=story.scratchpad(), branch="", at=datetime(2026, 11, 27, tzinfo=UTC)
    )


def test_only_unfinished_work_says_where_it_stands() -> None:
    story = Story().prompt("Make imports resumable").edit("a").edit("b")

    state = state_of(story.fails("pytest", "KeyError: x"))

    assert state is not None
    assert (state.task, state.files) == ("Make imports resumable", ("b", "a"))
    assert state.last_error == "KeyError: x"
    assert state_of(Story().edit("a").done()) is None
    assert state_of(Story().read("a")) is None


def test_a_file_that_was_only_read_after_it_was_suggested_is_nobody_s_habit() -> None:
    pad = Story().read("a.py").read("b.py").edit("c.py").done().scratchpad()
    edited = Story().read("a.py").read("b.py").edit("b.py").read("a.py").done().scratchpad()

    own = unprompted(scratchpad=pad, suggested={"a.py": 0})

    assert set(own.files) == {"b.py", "c.py"}
    assert {deed.target for deed in own.deeds.values()} == {"b.py", "c.py"}
    suggested = {"a.py": 2, "b.py": 0, "c.py": 0}  # touched before, or edited as well
    assert unprompted(scratchpad=edited, suggested=suggested) == edited


def test_calibrations_multiply_and_dependencies_widen() -> None:
    implied = rules.advise(
        memories=(
            view(1, MemoryType.TASK_CALIBRATION, attributes={"ratio": 1.2, "samples": 3}),
            view(2, MemoryType.TASK_CALIBRATION, attributes={"ratio": 1.8, "samples": 1}),
            view(3, MemoryType.DEAD_END),
            view(4, MemoryType.CAUSAL_DEPENDENCY, related_files=("a", "b")),
            view(5, MemoryType.CAUSAL_DEPENDENCY, related_files=("x", "y")),
        ),
        planned_steps=10,
        files=frozenset({"a"}),
    )

    assert implied.calibration == pytest.approx(1.35)
    assert implied.step_limit == 14
    assert implied.also_in_scope == ("b",)
    assert {each.int for each in implied.rests_on} == {1, 2, 3, 4, 5}


def test_a_plan_rests_on_no_more_than_the_limits_of_each_type() -> None:
    many = tuple(
        view(100 * place + number, type, attributes={"ratio": 1.0})
        for place, type in enumerate(MemoryType)
        for number in range(20)
    )

    implied = rules.advise(memories=many, planned_steps=5, files=frozenset())

    types = {one.id: MemoryType(one.type) for one in many}
    assert Counter(types[one] for one in implied.rests_on) == rules.CITED_MOST


@pytest.mark.parametrize(
    ("base", "calibration", "limit"),
    [(10, None, 10), (10, 1.25, 13), (10, 5.0, 20), (300, 2.0, 400), (10, 0.5, 5), (1, 0.1, 1)],
)
def test_advice_is_calibrated_in_bounds(base: int, calibration: float | None, limit: int) -> None:
    assert rules.step_limit(base=base, calibration=calibration) == limit


def test_a_base_of_no_steps_is_refused_and_complex_plans_are_worth_a_checklist() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        rules.step_limit(base=0, calibration=None)
    found = [rules.is_complex(steps=n, modules=m) for n, m in ((8, 1), (2, 2), (7, 1))]
    assert found == [True, True, False]


def test_a_checklist_is_short_and_begins_with_what_must_hold() -> None:
    types = (MemoryType.GOTCHA, MemoryType.DEAD_END, MemoryType.REQUIREMENT, MemoryType.FACT)
    memories = tuple(view(number, types[number % 4]) for number in range(16))

    found = rules.checklist(memories=memories)

    assert len(found) == rules.CHECKS_MOST
    assert [types[one.int % 4] for one in found[:5]] == [
        *[MemoryType.REQUIREMENT] * 4, MemoryType.DEAD_END,
    ]  # fmt: skip
