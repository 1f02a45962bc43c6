"""Sums are read back as the rows they were made from, and add up."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.sessions import counters
from memory.sessions.counters import (
    Count,
    EdgeRow,
    ErrorRow,
    FileRow,
    Kind,
    ModuleRow,
    PairRow,
    Row,
)

FILE = FileRow(path="src/a.py", sessions=1, reads=3, edits=1)
EDGE = EdgeRow(
    first="a", second="b", sessions=1, meetings=4, forward=1, timed=3, apart_ms=7_500,
    by_task={"build": 1},
)  # fmt: skip
ERROR = ErrorRow(
    fingerprint="f1", message="boom", what="pytest", sessions=1, occurrences=2, resolved=1,
    hows={"edit": 1},
)  # fmt: skip
MODULE = ModuleRow(module="src", sessions=1, planned=3, actual=4, samples=1, tokens=90, costed=1)
PAIR = PairRow(first="lib", second="src", sessions=1)
ROWS = (FILE, EDGE, ERROR, MODULE, PAIR)


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("times", [1, 2])
def test_sums_are_read_back_as_the_rows_they_were_made_from(row: Row, times: int) -> None:
    count, whole = counters.count_of(row), row
    sums: Counter[str] = Counter()
    for _ in range(times):
        sums.update(count.counts)
    for _ in range(times - 1):
        whole = counters.added_row(row=whole, add=row)

    stored = replace(count, counts={**sums, counters.NOTES: count.notes})
    (found,) = counters.rows_of(type=type(row), sums=(stored,))

    assert found == whole
    assert count.kind is counters.KIND_OF[type(row)]


def test_long_keys_are_cut_and_stay_apart() -> None:
    one, other = (counters.key_of(text="x" * 500 + end) for end in "ab")

    assert one != other
    assert max(len(one), len(other)) <= counters.KEY_MOST


COUNTS = st.lists(
    st.builds(
        lambda kind, key, reads, edits: Count(
            kind=kind, key=key, counts={"reads": reads, "edits": edits}, notes={"path": key}
        ),
        st.sampled_from((Kind.FILE, Kind.SIGNAL)),
        st.sampled_from("abc"),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    max_size=5,
)


def held(counts: list[Count]) -> dict[tuple[Kind, str, str], int]:
    """Return what sums hold, without what comes to nothing."""
    found: Counter[tuple[Kind, str, str]] = Counter()
    for one in counts:
        found.update({(one.kind, one.key, name): n for name, n in one.counts.items()})
    return {place: number for place, number in found.items() if number}


@given(ends=st.lists(COUNTS, min_size=1, max_size=4))
def test_steps_from_end_to_end_come_to_what_the_last_one_holds(ends: list[list[Count]]) -> None:
    before: counters.Added = {}
    steps: list[Count] = []
    for end in ends:
        steps += counters.beyond(counts=end, before=before)
        before = counters.added(counts=end)

    back = counters.beyond(counts=(), before=before)

    assert held(steps) == held(ends[-1])
    assert held([*steps, *back]) == {}
    assert counters.beyond(counts=ends[-1], before=before) == ()
