"""Files to have at hand: by share of sessions, within tokens and count."""

from hypothesis import given
from hypothesis import strategies as st

from memory.injection import prefetch_rules
from memory.injection.prefetch_rules import Work
from memory.observer.statistics import FileRow, ModuleRow

MODULE = ModuleRow(module="auth", sessions=10)
ROWS = st.lists(
    st.builds(
        FileRow,
        path=st.integers(0, 40).map(lambda number: f"f{number}"),
        sessions=st.integers(0, 10),
        reads=st.integers(0, 3),
    ),
    max_size=40,
)


def row(path: str, sessions: int) -> FileRow:
    """Return a file read in so many of ten sessions."""
    return FileRow(path=path, sessions=sessions, reads=sessions)


def test_files_of_nearly_every_session_come_before_those_of_most() -> None:
    files = (row("often", 6), row("always", 9), row("half", 5), row("limit", 8))
    tokens = dict.fromkeys(("often", "always", "half", "limit"), 100)

    plan = prefetch_rules.plan(works=(Work(module=MODULE, files=files),), tokens=tokens)

    assert [(one.path, one.always) for one in plan.files] == [
        ("always", True),
        ("limit", False),
        ("often", False),
    ]


@given(ROWS, st.dictionaries(st.integers(0, 40).map(lambda number: f"f{number}"),
                             st.integers(0, 20_000)))  # fmt: skip
def test_the_plan_never_exceeds_its_tokens_and_files(
    rows: list[FileRow], tokens: dict[str, int]
) -> None:
    plan = prefetch_rules.plan(works=(Work(module=MODULE, files=tuple(rows)),), tokens=tokens)

    assert plan.tokens == sum(one.tokens for one in plan.files) <= prefetch_rules.TOKENS_MOST
    assert len(plan.files) <= prefetch_rules.FILES_MOST
    assert {one.path for one in plan.files} <= set(tokens)


def test_a_file_that_is_too_large_makes_way_and_is_named() -> None:
    files = (row("huge", 10), row("small", 9), row("unknown", 10))

    plan = prefetch_rules.plan(
        works=(Work(module=MODULE, files=files),), tokens={"huge": 40_000, "small": 10}
    )

    assert [one.path for one in plan.files] == ["small"]
    assert plan.left_out == ("huge", "unknown")


def test_two_sessions_plan_nothing() -> None:
    new = Work(module=ModuleRow(module="auth", sessions=2), files=(row("a", 2),))

    plan = prefetch_rules.plan(works=(new,), tokens={"a": 1})

    assert plan.files == ()


def test_files_of_several_modules_share_one_budget_and_each_counts_in_its_own() -> None:
    rare = Work(module=ModuleRow(module="depot", sessions=20), files=(row("rare", 9),))
    near = Work(module=MODULE, files=(row("often", 6), row("always", 9)))

    plan = prefetch_rules.plan(
        works=(rare, near), tokens=dict.fromkeys(("rare", "often", "always"), 10)
    )

    assert [one.path for one in plan.files] == ["always", "often"]
