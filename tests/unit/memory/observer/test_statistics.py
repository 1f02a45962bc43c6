"""Sessions add up: files, edges, errors, modules; in any order, with the mean of all."""

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.observer import detect, statistics
from memory.observer.signal_table import SignalKind
from memory.observer.statistics import EdgeRow, ErrorRow, FileRow, ModuleRow, PairRow, SessionFacts
from tests.support.stories import ROOT, Story, without_clocks

counts = st.integers(0, 20)
edges = st.builds(
    EdgeRow,
    first=st.just("a"),
    second=st.just("b"),
    sessions=counts,
    meetings=counts,
    forward=counts,
    timed=counts,
    seconds=st.floats(0, 100),
    by_task=st.dictionaries(st.sampled_from(["fix", "feature"]), counts, max_size=2),
)


def facts(story: Story, *, task_type: str = "") -> SessionFacts:
    """Return what a story adds."""
    pad = story.scratchpad()
    found = statistics.found(scratchpad=pad)
    return statistics.of_session(scratchpad=pad, found=found, task_type=task_type)


def test_a_session_counts_its_files_once() -> None:
    told = facts(Story().read("a/x.py").read("a/x.py").edit("a/x.py").run("cat /etc/hosts"))

    assert told.files == (FileRow(path="a/x.py", sessions=1, reads=2, edits=1, tokens=1, sized=1),)


def test_a_session_counts_its_pairs_with_direction_and_task() -> None:
    (edge,) = facts(Story().edit("b").edit("a"), task_type="fix").edges

    assert (edge.first, edge.second, edge.forward) == ("a", "b", 0)
    assert edge.by_task == {"fix": 1}
    assert edge.seconds > 0


def test_all_pairs_of_a_session_are_counted_and_the_strongest_twenty_offered() -> None:
    story = Story()
    for number in range(40):
        story.edit(f"a/b/{number}.py").edit(f"c/d/{number}.py").event("commit", text="done")

    told = facts(story)
    pad = story.scratchpad()
    offered = detect.find_all(scratchpad=pad, verdicts={}, known=statistics.found(scratchpad=pad))

    assert len(told.edges) == 40
    assert told.pairs == (PairRow(first="a/b", second="c/d", sessions=1),)
    assert sum(one.kind is SignalKind.CO_ACCESS for one in offered) == 20


def test_what_has_no_clock_is_not_in_the_mean() -> None:
    story = Story().edit("b").edit("a")
    without = facts(without_clocks(Story().edit("b").edit("a"))).edges[0]

    (edge,) = facts(story).edges
    both = statistics.edge_after(row=edge, add=without)

    assert (without.meetings, without.timed) == (1, 0)
    assert (both.meetings, both.timed, both.seconds) == (2, 1, edge.seconds)


def test_a_session_counts_its_errors_and_how_they_were_resolved() -> None:
    (row,) = facts(Story().fails("make all", "error: x").edit("a").run("make all")).errors

    assert (row.sessions, row.resolved, row.hows) == (1, 1, {"after a change of a": 1})


def test_what_follows_outside_content_is_no_edge_and_no_error() -> None:
    story = Story().edit("a").edit("b").fetch("https://x.example/").edit("c").edit("d")

    told = facts(story.fails("make all", "error: x").run("make all"))

    assert [(edge.first, edge.second) for edge in told.edges] == [("a", "b")]
    assert told.errors == ()


def test_steps_and_tokens_count_for_the_module_they_were_spent_on() -> None:
    story = Story(planned=2).read("a/b/x.py", tokens=500).edit("a/b/x.py", tokens=700)
    told = facts(story.read("c/d/y.py", tokens=300).done())

    assert told.modules == (
        ModuleRow(module="a/b", sessions=1, planned=2, actual=3, samples=1, tokens=1200, costed=1),
        ModuleRow(module="c/d", sessions=1, tokens=300, costed=1),
    )


def test_what_is_touched_in_one_step_lies_in_as_many_modules_as_its_files() -> None:
    story = Story()
    for path in ("src/auth/a.py", "src/pay/b.py"):
        story.event("tool_call", name="Read", args={"file_path": f"{ROOT}/{path}"})

    told = facts(story.ends(tokens=400))

    assert told.modules == (
        ModuleRow(module="src/auth", sessions=1),
        ModuleRow(module="src/pay", sessions=1, tokens=400, costed=1),
    )


def test_a_session_that_counts_no_steps_has_all_its_modules() -> None:
    story = Story()
    story.step = 0
    for path in ("src/auth/a.py", "src/pay/b.py", "lib/c.py"):
        story.event("tool_call", name="Edit", args={"file_path": f"{ROOT}/{path}"})

    assert [row.module for row in facts(story).modules] == ["lib", "src/auth", "src/pay"]


def test_what_is_done_after_outside_content_counts_for_no_file_and_no_module() -> None:
    story = Story(planned=4).read("src/auth/a.py").edit("src/auth/a.py").read("src/pay/b.py")
    story.fetch("https://x.example/").edit("src/auth/a.py").edit("src/pay/c.py").read("lib/d.py")

    told = facts(story.done())

    assert told.files == (
        FileRow(path="src/auth/a.py", sessions=1, reads=1, edits=1),
        FileRow(path="src/pay/b.py", sessions=1, reads=1, tokens=1, sized=1),
    )
    assert told.modules == (
        ModuleRow(module="src/auth", sessions=1, tokens=2_000, costed=1),
        ModuleRow(module="src/pay", sessions=1, tokens=1_000, costed=1),
    )


def test_a_session_that_failed_is_no_sample_of_a_plan() -> None:
    told = facts(Story(planned=2).edit("a/b/x.py").done("failure"))

    assert statistics.ratio(module=told.modules[0]) is None


def test_a_session_whose_steps_nobody_knows_is_no_sample_of_a_plan() -> None:
    story = Story(planned=5).counting(10**9).edit("a/b/x.py")

    (told,) = facts(story.event("session_complete", outcome="success")).modules

    assert (told.planned, told.actual, told.samples) == (0, 0, 0)


@given(st.lists(edges, min_size=1, max_size=6), st.data())
def test_edges_add_up_in_any_order(rows: list[EdgeRow], data: st.DataObject) -> None:
    def added(some: list[EdgeRow]) -> EdgeRow:
        start = EdgeRow(first="a", second="b")
        return reduce(lambda row, add: statistics.edge_after(row=row, add=add), some, start)

    one, other = added(rows), added(data.draw(st.permutations(rows)))

    assert (one.sessions, one.meetings, one.by_task) == (
        other.sessions,
        other.meetings,
        other.by_task,
    )
    assert one.seconds == pytest.approx(other.seconds)


def test_an_edge_weighs_the_share_of_sessions_with_either() -> None:
    edge = EdgeRow(first="a", second="b", sessions=4)

    weight = statistics.weight(
        edge=edge, first=FileRow(path="a", sessions=5), second=FileRow(path="b", sessions=4)
    )

    assert weight == pytest.approx(4 / 5)


@pytest.mark.parametrize(
    ("forward", "direction"), [(4, ("a", "b")), (3, ("a", "b")), (2, None), (1, ("b", "a"))]
)
def test_a_direction_needs_three_of_four(forward: int, direction: tuple[str, str] | None) -> None:
    edge = EdgeRow(first="a", second="b", sessions=4, forward=forward)

    assert statistics.direction(edge=edge) == direction


def test_the_most_frequent_way_out_of_an_error_comes_first() -> None:
    row = ErrorRow(fingerprint="f", hows={"x": 1})
    for how in ("y", "z", "y", "u", "v", "w"):
        row = statistics.error_after(row=row, add=ErrorRow(fingerprint="f", hows={how: 1}))

    assert next(iter(row.hows)) == "y"
    assert len(row.hows) == statistics.HOWS_MOST


def test_files_and_modules_add_up() -> None:
    file = statistics.file_after(
        row=FileRow(path="a", sessions=1, reads=2), add=FileRow(path="a", sessions=1, edits=3)
    )
    module = statistics.module_after(
        row=ModuleRow(module="m", planned=4, actual=4, tokens=100, costed=1),
        add=ModuleRow(module="m", planned=4, actual=8, tokens=300, costed=1),
    )

    assert file == FileRow(path="a", sessions=2, reads=2, edits=3)
    assert statistics.ratio(module=module) == pytest.approx(1.5)
    assert statistics.mean_tokens(module=module) == 200
    assert statistics.mean_tokens(module=ModuleRow(module="m")) is None
