"""Sums are read back as the rows they were made from, and add up."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memory.observer import statistics
from memory.observer.detections import Evidence, Sighting
from memory.observer.signal_table import SignalKind
from memory.observer.statistics import (
    EdgeRow,
    ErrorRow,
    FileRow,
    ModuleRow,
    PairRow,
    SessionFacts,
)
from memory.statistics import counters
from memory.statistics.counters import Count, Kind
from memory.statistics.quorum import Witnessed

FILE = FileRow(path="src/a.py", sessions=1, reads=3, edits=1)
EDGE = EdgeRow(
    first="a", second="b", sessions=1, meetings=4, forward=1, timed=3, seconds=2.5,
    by_task={"build": 1},
)  # fmt: skip
ERROR = ErrorRow(
    fingerprint="f1", message="boom", what="pytest", sessions=1, occurrences=2, resolved=1,
    hows={"edit": 1},
)  # fmt: skip
MODULE = ModuleRow(module="src", sessions=1, planned=3, actual=4, samples=1, tokens=90, costed=1)
PAIR = PairRow(first="lib", second="src", sessions=1)
FACTS = SessionFacts(
    files=(FILE,), edges=(EDGE,), errors=(ERROR,), modules=(MODULE,), pairs=(PAIR,)
)


def sums(times: int) -> dict[str, counters.Count]:
    """Add the facts of so many sessions, as the table does."""
    found: dict[str, counters.Count] = {}
    for one in counters.of_facts(facts=FACTS):
        added: Counter[str] = Counter()
        for _ in range(times):
            added.update(one.counts)
        found[one.kind] = counters.Count(kind=one.kind, key=one.key, counts=added, notes=one.notes)
    return found


def test_one_session_is_read_back() -> None:
    found = sums(1)
    file, edge, error, module = (found[kind] for kind in list(counters.Kind)[:4])

    assert counters.file_row(counts=file.counts, notes=file.notes) == FILE
    assert counters.edge_row(counts=edge.counts, notes=edge.notes) == EDGE
    assert counters.error_row(key=error.key, counts=error.counts, notes=error.notes) == ERROR
    assert counters.module_row(counts=module.counts, notes=module.notes) == MODULE
    pair = found[counters.Kind.PAIR]
    assert counters.pair_row(counts=pair.counts, notes=pair.notes) == PAIR


def test_two_sessions_are_what_the_rows_say_of_two() -> None:
    edge = sums(2)[counters.Kind.EDGE]

    read = counters.edge_row(counts=edge.counts, notes=edge.notes)

    assert read == statistics.edge_after(row=EDGE, add=EDGE)


def test_long_keys_are_cut_and_stay_apart() -> None:
    one, other = (counters.signal_key(kind="k", key="x" * 500 + end) for end in "ab")

    assert one != other
    assert max(len(one), len(other)) <= counters.KEY_MOST


def test_a_tainted_signal_counts_for_none() -> None:
    def seen(key: str, reason: str) -> Witnessed:
        evidence = (Evidence(sequence=1, step=1),)
        kind = SignalKind.BACKTRACK
        sighting = Sighting(kind=kind, key=key, files=(), evidence=evidence)
        return Witnessed(sighting=sighting, agents=("",), reason=reason)

    found = counters.of_signals(seen=(seen("a", ""), seen("b", "web: x"), seen("a", "")))

    assert [(one.key, one.counts) for one in found] == [("backtrack:a", {"sessions": 1})]


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
