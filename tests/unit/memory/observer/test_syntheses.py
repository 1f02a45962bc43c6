"""What sessions add to sums, and what is said of them once a threshold."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.intake.validation import check_attributes
from memory.observer import detect, syntheses
from memory.observer.detections import SignalKind
from memory.observer.syntheses import Summary, SumStatement
from memory.sessions import counters
from memory.sessions.counters import EdgeRow, ErrorRow, FileRow, ModuleRow, OfRow, PairRow
from memory.taxonomy import MemoryType
from tests.support.stories import ROOT, Story, without_clocks


def facts(type: type[OfRow], story: Story, *, task_type: str = "") -> tuple[OfRow, ...]:
    """Return what a story adds to one table."""
    rows = detect.rows_of_session(scratchpad=story.scratchpad(), task_type=task_type)
    return tuple(row for row in rows if isinstance(row, type))


def test_a_session_counts_its_files_pairs_and_errors_once() -> None:
    story = Story().read("a/x.py").read("a/x.py").edit("a/x.py").run("cat /etc/hosts")

    (edge,) = facts(EdgeRow, Story().edit("b").edit("a"), task_type="fix")
    mended = Story().fails("make all", "error: no deps").run("make deps").run("make all")
    (row,) = facts(ErrorRow, mended)

    assert facts(FileRow, story) == (
        FileRow(path="a/x.py", sessions=1, reads=2, edits=1, tokens=1, sized=1),
    )
    assert (edge.first, edge.second, edge.forward) == ("a", "b", 0)
    assert edge.by_task == {"fix": 1}
    assert edge.apart_ms > 0
    assert (row.sessions, row.resolved, row.hows) == (1, 1, {"solved by `make deps`": 1})


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


NOTHING: frozenset[str] = frozenset()


def summary(**given: object) -> Summary:
    """Return a module of ten sessions with some of it otherwise."""
    usual = {"module": ModuleRow(module="auth", sessions=10), "files": (), "edges": (),
             "errors": ()}  # fmt: skip
    return Summary(**{**usual, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sessions", "key"),
    [(4, ""), (5, "5:auth"), (7, "5:auth"), (60, "50:auth"), (5000, "100:auth")],
)
def test_the_highest_threshold_reached_is_due(sessions: int, key: str) -> None:
    row = ModuleRow(module="auth", sessions=sessions)

    assert syntheses.due(module=row, done=NOTHING) == key


@given(st.lists(st.integers(0, 120), max_size=30))
def test_each_threshold_is_done_once(sessions: list[int]) -> None:
    done: list[str] = []
    for count in sorted(sessions):
        row = ModuleRow(module="auth", sessions=count)
        key = syntheses.due(module=row, done=frozenset(done))
        done.extend((key,) if key else ())

    assert len(set(done)) == len(done) <= len(syntheses.THRESHOLDS)


def test_files_of_nearly_every_session_are_a_prefetch_pattern() -> None:
    files = tuple(
        FileRow(path=path, sessions=count, reads=count)
        for path, count in (("a", 10), ("b", 9), ("c", 8), ("d", 6), ("e", 5))
    )

    (draft,) = syntheses.of_module(summary=summary(files=files))

    assert draft.type is MemoryType.PREFETCH_PATTERN
    assert draft.attributes["always_read"] == ("a", "b")
    assert draft.attributes["often_read"] == ("c", "d")
    assert check_attributes(type=draft.type, attributes=draft.attributes) == ()


def test_files_that_nearly_always_change_together_are_a_dependency() -> None:
    files = (FileRow(path="a", sessions=6), FileRow(path="b", sessions=5))
    strong = EdgeRow(first="a", second="b", sessions=5, forward=5)
    weak = EdgeRow(first="a", second="c", sessions=5, forward=5)

    (draft,) = syntheses.of_module(summary=summary(files=files, edges=(strong, weak)))

    assert draft.content == "A change of a comes with a change of b (5 sessions)."


def test_an_error_of_two_sessions_is_a_pattern_with_the_way_out_that_helped_most() -> None:
    hows = {"solved by `make deps`": 1, "solved by adding `x` to auth/keys.py": 3}
    errors = (
        ErrorRow(fingerprint="1", message="KeyError: X", sessions=2, hows=hows),
        ErrorRow(fingerprint="2", message="KeyError: Y", sessions=1, hows={"so": 1}),
        ErrorRow(fingerprint="3", message="KeyError: Z", sessions=5),
    )

    (draft,) = syntheses.of_module(summary=summary(errors=errors))

    assert draft.type is MemoryType.ERROR_PATTERN
    assert "KeyError: X" in draft.content
    assert draft.content.endswith(": solved by adding `x` to auth/keys.py.")
    assert draft.files == ("auth/keys.py",)


@pytest.mark.parametrize(
    ("planned", "actual", "samples", "count"),
    [(10, 20, 3, 1), (10, 5, 3, 1), (10, 11, 3, 0), (10, 20, 2, 0), (0, 20, 3, 0)],
)
def test_plans_that_were_off_calibrate(planned: int, actual: int, samples: int, count: int) -> None:
    row = ModuleRow(module="m", sessions=5, planned=planned, actual=actual, samples=samples)

    drafts = syntheses.of_module(summary=summary(module=row))

    assert [draft.type for draft in drafts] == [MemoryType.TASK_CALIBRATION] * count
    assert all(
        check_attributes(type=each.type, attributes=each.attributes) == () for each in drafts
    )


def test_no_synthesis_says_more_than_five_things() -> None:
    files = tuple(FileRow(path=f"f{place}", sessions=10, reads=9) for place in range(20))
    edges = tuple(
        EdgeRow(first=f"f{place}", second=f"f{place + 1}", sessions=9) for place in range(9)
    )
    errors = tuple(
        ErrorRow(fingerprint=str(place), message="x", sessions=9, hows={"so": 1})
        for place in range(9)
    )
    row = ModuleRow(module="m", sessions=10, planned=10, actual=30, samples=5)

    drafts = syntheses.of_module(
        summary=summary(module=row, files=files, edges=edges, errors=errors)
    )

    assert len(drafts) == syntheses.DRAFTS_MOST


def test_an_error_is_of_the_module_that_it_names_or_whose_change_helped() -> None:
    def is_of(message: str, how: str) -> bool:
        error = ErrorRow(fingerprint="1", message=message, hows={how: 1})
        files = (FileRow(path="auth/sign.py"),)
        module = ModuleRow(module="auth")
        found = syntheses.summarize(module=module, files=files, edges=(), errors=(error,))
        return found.errors == (error,)

    assert is_of("KeyError in auth/sign.py", "when tried again")
    assert is_of("KeyError: 'x'", "after a change of pay/bill.py, auth/keys.py")
    assert not is_of("KeyError: 'x'", "after a change of pay/bill.py")
    assert not is_of("KeyError: 'x'", "as `pytest auth/keys.py`")
    assert not is_of("", "after a change of auth/keys.py")  # it was forgotten


WEEK = (
    EdgeRow(first="a/b/x", second="c/d/y", sessions=6),
    EdgeRow(first="a/b/x", second="a/b/z", sessions=9),
    EdgeRow(first="a/b/x", second="e/f/y", sessions=4),
)


def test_modules_that_go_together_are_named_once_a_pair_unless_known_or_done() -> None:
    pair, key = frozenset({("a/b", "c/d")}), "0:a/b|c/d"

    ((found, draft),) = syntheses.weekly(edges=WEEK, pairs=(), known=frozenset(), done=NOTHING)

    assert (found, draft.files) == (key, ("a/b/x", "c/d/y"))
    assert syntheses.weekly(edges=WEEK, pairs=(), known=pair, done=NOTHING) == ()
    done = frozenset({key})
    assert syntheses.weekly(edges=WEEK, pairs=(), known=frozenset(), done=done) == ()


SAYS = "auth/sign.py and auth/keys.py were worked on together in 4 sessions."


TOLD = (
    SumStatement(content=SAYS, files=("auth/sign.py", "auth/keys.py")),
    SumStatement(
        content="Work on auth takes 2.0 times the steps planned.",
        files=(),
        type=MemoryType.TASK_CALIBRATION,
        attributes={"module": "auth"},
    ),
)


RIGHT = {"facts": [1], "type": "causal_dependency", "text": SAYS}


def test_what_templates_say_is_told_first_and_what_few_sessions_showed_not_at_all() -> None:
    summary = Summary(
        module=ModuleRow(module="auth", sessions=5, planned=10, actual=20, samples=3),
        files=(FileRow(path="auth/a.py", sessions=3), FileRow(path="auth/b.py", sessions=1)),
        edges=(EdgeRow(first="auth/a.py", second="auth/b.py", sessions=2),),
        errors=(ErrorRow(fingerprint="1", message="KeyError: 'x'", sessions=2),),
    )

    told = syntheses.facts(summary=summary)

    assert [one.type for one in told] == [MemoryType.TASK_CALIBRATION, *[MemoryType.FACT] * 3]
    assert not any("auth/b.py was touched" in one.content for one in told)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("text", "draft_shape"),
        ({**RIGHT, "text": 1}, "draft_shape"),
        ({**RIGHT, "facts": []}, "draft_facts"),
        ({**RIGHT, "facts": [3]}, "draft_facts"),
        ({**RIGHT, "facts": [True]}, "draft_facts"),
        ({**RIGHT, "facts": [1, 1, 1, 1, 1]}, "draft_facts"),
        ({**RIGHT, "type": "constitution"}, "draft_type"),
        ({**RIGHT, "type": "task_calibration"}, "draft_type"),
        ({**RIGHT, "text": SAYS.replace("4", "9")}, "phrase_invented"),
        ({**RIGHT, "text": SAYS.replace("were", "were not")}, "phrase_turned"),
    ],
)
def test_a_draft_that_does_not_hold_is_dropped(entry: object, why: str) -> None:
    found, dropped = syntheses.read_drafts(data={"syntheses": [entry]}, told=TOLD)

    assert (found, dropped) == ((), {why: 1})


def test_drafts_have_files_and_payload_of_their_facts_and_five_are_taken_and_none_twice() -> None:
    text = f"{TOLD[1].content} {SAYS}"
    entry = {"facts": [2, 1], "type": "task_calibration", "text": text}
    many = [{**RIGHT, "text": SAYS[: -1 - cut]} for cut in (0, 0, 1, 2, 3, 4, 5)]

    ((draft,), none) = syntheses.read_drafts(data={"syntheses": [entry]}, told=TOLD)
    found, dropped = syntheses.read_drafts(data={"syntheses": many}, told=TOLD)

    assert (draft.files, draft.attributes) == (TOLD[0].files, {"module": "auth"})
    assert not none
    assert len(found) == syntheses.DRAFTS_MOST
    assert dropped == {"draft_twice": 1, "over_bound": 1}
