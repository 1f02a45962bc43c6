"""Sessions add up: files, edges, errors, modules; in any order, with the mean of all."""

from dataclasses import replace

import pytest

from memory.observer import detect
from memory.observer.detections import SignalKind
from memory.sessions import counters
from memory.sessions.counters import EdgeRow, ErrorRow, FileRow, ModuleRow, OfRow, PairRow
from tests.support.stories import ROOT, Story, without_clocks


def facts(type: type[OfRow], story: Story, *, task_type: str = "") -> tuple[OfRow, ...]:
    """Return what a story adds to one table."""
    rows = detect.rows_of_session(scratchpad=story.scratchpad(), task_type=task_type)
    return tuple(row for row in rows if isinstance(row, type))


def test_a_session_counts_its_files_pairs_and_errors_once() -> None:
    story = Story().read("a/x.py").read("a/x.py").edit("a/x.py").run("cat /etc/hosts")

    (edge,) = facts(EdgeRow, Story().edit("b").edit("a"), task_type="fix")
    (row,) = facts(ErrorRow, Story().fails("make all", "error: x").edit("a").run("make all"))

    assert facts(FileRow, story) == (
        FileRow(path="a/x.py", sessions=1, reads=2, edits=1, tokens=1, sized=1),
    )
    assert (edge.first, edge.second, edge.forward) == ("a", "b", 0)
    assert edge.by_task == {"fix": 1}
    assert edge.apart_ms > 0
    assert (row.sessions, row.resolved, row.hows) == (1, 1, {"after a change of a": 1})


def test_all_pairs_of_a_session_are_counted_and_the_strongest_twenty_offered() -> None:
    story = Story()
    for number in range(40):
        story.edit(f"a/b/{number}.py").edit(f"c/d/{number}.py").event("commit", text="done")

    offered = detect.find_all(scratchpad=story.scratchpad(), rejected={})

    assert len(facts(EdgeRow, story)) == 40
    assert facts(PairRow, story) == (PairRow(first="a/b", second="c/d", sessions=1),)
    assert sum(one.kind is SignalKind.CO_ACCESS for one in offered) == 20


def test_what_has_no_clock_is_not_in_the_mean() -> None:
    story = Story().edit("b").edit("a")
    without = facts(EdgeRow, without_clocks(Story().edit("b").edit("a")))[0]

    (edge,) = facts(EdgeRow, story)
    both = counters.added_row(row=edge, add=without)

    assert (without.meetings, without.timed) == (1, 0)
    assert (both.meetings, both.timed, both.apart_ms) == (2, 1, edge.apart_ms)


def test_what_follows_outside_content_is_no_edge_and_no_error() -> None:
    story = Story().edit("a").edit("b").fetch("https://x.example/").edit("c").edit("d")

    story.fails("make all", "error: x").run("make all")

    assert [(edge.first, edge.second) for edge in facts(EdgeRow, story)] == [("a", "b")]
    assert facts(ErrorRow, story) == ()


def test_steps_and_tokens_count_for_the_module_they_were_spent_on() -> None:
    story = Story(planned=2).read("a/b/x.py", tokens=500).edit("a/b/x.py", tokens=700)
    story.read("c/d/y.py", tokens=300).done()

    assert facts(ModuleRow, story) == (
        ModuleRow(module="a/b", sessions=1, planned=2, actual=3, samples=1, tokens=1200, costed=1),
        ModuleRow(module="c/d", sessions=1, tokens=300, costed=1),
    )


def test_what_is_touched_in_one_step_or_in_none_lies_in_as_many_modules_as_its_files() -> None:
    story, uncounted = Story(), Story().counting(0)
    for path in ("src/auth/a.py", "src/pay/b.py"):
        for told in (story, uncounted):
            told.event("tool_call", name="Read", args={"file_path": f"{ROOT}/{path}"})

    assert [row.module for row in facts(ModuleRow, uncounted)] == ["src/auth", "src/pay"]
    assert facts(ModuleRow, story.ends(tokens=400)) == (
        ModuleRow(module="src/auth", sessions=1),
        ModuleRow(module="src/pay", sessions=1, tokens=400, costed=1),
    )


def test_what_is_done_after_outside_content_counts_for_no_file_and_no_module() -> None:
    story = Story(planned=4).read("src/auth/a.py").edit("src/auth/a.py").read("src/pay/b.py")
    story.fetch("https://x.example/").edit("src/auth/a.py").edit("src/pay/c.py").read("lib/d.py")

    story.done()

    assert facts(FileRow, story) == (
        FileRow(path="src/auth/a.py", sessions=1, reads=1, edits=1),
        FileRow(path="src/pay/b.py", sessions=1, reads=1, tokens=1, sized=1),
    )
    assert facts(ModuleRow, story) == (
        ModuleRow(module="src/auth", sessions=1, tokens=2_000, costed=1),
        ModuleRow(module="src/pay", sessions=1, tokens=1_000, costed=1),
    )


def test_a_session_that_failed_or_whose_steps_nobody_knows_is_no_sample_of_a_plan() -> None:
    failed = Story(planned=2).edit("a/b/x.py").done("failure")
    unknown = Story(planned=5).counting(10**9).edit("a/b/x.py")
    unknown.event("session_complete", outcome="success")

    for story in (failed, unknown):
        (module,) = facts(ModuleRow, story)
        assert (module.planned, module.actual, module.samples) == (0, 0, 0)


def test_an_edge_weighs_its_share_of_sessions_and_its_direction_needs_three_of_four() -> None:
    edge = EdgeRow(first="a", second="b", sessions=4)
    first, second = FileRow(path="a", sessions=5), FileRow(path="b", sessions=4)

    found = [counters.direction(edge=replace(edge, forward=n)) for n in (4, 3, 2, 1)]

    assert counters.weight(edge=edge, first=first, second=second) == pytest.approx(4 / 5)
    assert found == [("a", "b"), ("a", "b"), None, ("b", "a")]


def test_the_most_frequent_way_out_of_an_error_is_its_usual_one() -> None:
    row = ErrorRow(fingerprint="f", hows={"x": 1})
    for how in ("y", "z", "y", "u", "v", "w"):
        row = counters.added_row(row=row, add=ErrorRow(fingerprint="f", hows={how: 1}))

    assert row.usual_way == "y"
