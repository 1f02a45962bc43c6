"""What work begins with: files to read first, unfinished work, what a stage hands over."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from memory.customization import phases
from memory.injection import session_start_rules
from memory.injection.session_start_rules import FilePlan, WorkState, unprompted
from memory.sessions.counters import FileRow, ModuleRow
from memory.taxonomy import MemoryType
from tests.support.stories import Story
from tests.support.views import view

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
    return session_start_rules.plan_files(modules=((module, files),))


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

    assert (
        plan.tokens == sum(one.tokens for one in plan.files) <= session_start_rules.PLAN_TOKENS_MOST
    )
    assert len(plan.files) <= session_start_rules.PLAN_FILES_MOST
    assert {one.path for one in plan.files} <= {one.path for one in rows if one.sized}


def test_files_of_several_modules_share_one_budget_and_each_counts_in_its_own() -> None:
    rare = ModuleRow(module="depot", sessions=20), (row("rare", 9),)
    near = MODULE, (row("often", 6), row("always", 9))

    plan = session_start_rules.plan_files(modules=(rare, near))

    assert [one.path for one in plan.files] == ["always", "often"]


def passed(before: str, after: str) -> set[str]:
    """Return the types that pass from stage to stage."""
    found = session_start_rules.handed_over(
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

    found = session_start_rules.handed_over(
        transitions=(transition,), before="a", after="b", recorded=(*RECORDED, story)
    )

    assert found == (story.id,)


def state_of(story: Story) -> WorkState | None:
    """Return where the work of a session stopped."""
    return session_start_rules.work_state(
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
