"""Promotion: gates by type of session, frequency, trust, novelty, caps; dead ends and QA beside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.intake.validation import check_attributes
from memory.observer import detect, promotion
from memory.observer.detect import Seen
from memory.observer.detections import Sighting, SignalKind
from memory.observer.promotion import Gate, ObservedCandidate
from memory.sessions.scratchpad import SessionType
from memory.taxonomy import MemoryType, Source
from tests.support.stories import Story

WONT = "This approach won't work because the driver has no savepoints."
MANY = {(kind, key): 9 for kind in SignalKind for key in ("a|b", "a", "b", "x")}


def offered(
    story: Story,
    *,
    before: promotion.SeenBefore | None = None,
    is_piece: bool = False,
) -> tuple[ObservedCandidate, ...]:
    """Return what a story offers."""
    scratchpad = story.scratchpad()
    found = detect.find_all(scratchpad=scratchpad, rejected={})
    return promotion.propose(
        scratchpad=scratchpad,
        seen=detect.join(seen={"": (scratchpad, found)}),
        seen_before=before or {},
        is_piece=is_piece,
    )


def passed(story: Story) -> Story:
    """End a build with a report of QA that it passed."""
    return story.event("qa_report", outcome="passed", text="fine").done()


def terminal() -> Story:
    """Begin a session in a terminal."""
    return Story(type=SessionType.TERMINAL)


@pytest.mark.parametrize("type", list(SessionType))
def test_a_gate_opens_for_what_it_waits_for_and_nothing_else(type: SessionType) -> None:
    said, gate = "Correction: it is lazy.", promotion.GATES[type].gate
    runs = Story(type=type).say(said)
    passed_qa = Story(type=type).say(said).event("qa_report", outcome="passed")
    failed, ended = (Story(type=type).say(said).done(how) for how in ("failure", "success"))

    told = (runs, passed_qa, failed, ended)
    opened = [promotion.is_gate_open(scratchpad=one.scratchpad()) for one in told]

    assert (
        opened
        == {
            Gate.QA_PASSED: [False, True, False, False],
            Gate.END: [False, False, True, True],
            Gate.SUCCESS: [False, False, False, True],
            Gate.NEVER: [False] * 4,
        }[gate]
    )


def test_qa_that_failed_again_after_it_passed_keeps_the_gate_shut() -> None:
    story = passed(Story().say("Correction: it is lazy."))

    (found,) = offered(story.event("qa_report", outcome="failed", text="Sign-out"))

    assert found.content == "QA found: Sign-out"


def test_what_failed_in_a_build_is_kept_and_only_qa_lets_failures_through_a_shut_gate() -> None:
    story = Story().edit("a").say(WONT).say("Correction: it is lazy.")
    spec = Story(type=SessionType.SPEC).edit("a").say(WONT)

    found = offered(story.event("qa_report", outcome="failed", text="Login broken"))

    assert {(one.type, one.source) for one in found} == {
        (MemoryType.DEAD_END, Source.OBSERVER_INFERRED),
        (MemoryType.ERROR_PATTERN, Source.QA_AUTO),
    }
    assert offered(spec.event("qa_report", outcome="failed", text="Login broken")) == ()


def test_long_builds_are_promoted_piece_by_piece() -> None:
    story = Story(planned=6).say("Correction: it is lazy.")

    assert len(offered(story, is_piece=True)) == 1
    assert promotion.is_piecewise(setting=story.setting)
    assert not promotion.is_piecewise(setting=Story(planned=5).setting)


def test_a_signal_waits_for_the_sessions_it_needs() -> None:
    story = passed(Story().edit("a").edit("b"))
    key = (SignalKind.CO_ACCESS, "a|b")

    assert offered(story, before={key: 1}) == ()
    assert [one.sessions for one in offered(story, before={key: 2})] == [3]


def test_work_that_failed_leaves_its_dead_ends_and_what_was_taken_back_only_that_it_was() -> None:
    failed = terminal().edit("a").edit("b").say(WONT).say("Correction: it is lazy.")
    restored = terminal().edit("a").edit("b").run("git restore .").done()

    types = {one.type for one in offered(failed.done("failure"), before=MANY)}
    keys = {one.key for one in offered(restored, before=MANY)}

    assert types == {MemoryType.DEAD_END}
    assert keys == {"backtrack:a", "backtrack:b"}


def test_what_was_done_after_work_was_taken_back_stands() -> None:
    story = terminal().edit("a").run("git restore a").edit("a").fails("pytest", "KeyError: 'x'")
    story.edit("a").run("pytest").done()
    pad = story.scratchpad()
    seen = detect.find_all(scratchpad=pad, rejected={})

    kinds = {one.key.partition(":")[0] for one in offered(story, before=once_more(seen))}

    assert kinds >= {"error_retry", "file_access", "backtrack"}


def test_what_follows_outside_content_waits_for_a_person() -> None:
    clean = offered(terminal().say("Correction: it is lazy.").done())[0]
    story = terminal().fetch("https://x.example/").say("Correction: it is lazy.").done()

    (tainted,) = offered(story)

    assert not clean.needs_review
    assert tainted.needs_review
    assert tainted.confidence == clean.confidence
    assert tainted.surety == pytest.approx(clean.surety * 0.7)


def beside(story: Story) -> Seen:
    """Return what one of several agents saw."""
    scratchpad = story.scratchpad()
    return scratchpad, detect.find_all(scratchpad=scratchpad, rejected={})


def test_what_two_agents_saw_needs_one_session_and_the_taint_of_one_is_of_both() -> None:
    one = beside(Story().edit("a").edit("b").run("ls"))
    two = beside(Story().fetch("https://x.example/").edit("a").edit("b"))
    own = terminal().done().scratchpad()

    proposed = promotion.propose(
        scratchpad=own,
        seen=detect.join(seen={"one": one, "two": two}),
        seen_before={},
    )

    pair = next(each for each in proposed if each.key == "co_access:a|b")
    assert pair.reason == "web: x.example"
    assert {each.key for each in proposed} >= {"parallel_conflict:a", "parallel_conflict:b"}


@given(st.floats(0, 1), st.integers(1, 9), st.integers(0, 9), st.floats(0, 1.4))
def test_confidence_is_a_share_that_more_sessions_never_lower(
    value: float, needed: int, beyond: int, trust: float
) -> None:
    fewer, more = (
        promotion.confidence(value=value, sessions=needed + each, needed=needed, trust=trust)
        for each in (beyond, beyond + 1)
    )

    assert 0 <= fewer <= more <= 0.95


def once_more(seen: tuple[Sighting, ...]) -> promotion.SeenBefore:
    """Return that other sessions have shown all of this."""
    return {(sighting.kind, sighting.key): 5 for sighting in seen}


def everything() -> Story:
    """Return a session that shows most signals."""
    story = Story(type=SessionType.INSIGHTS, planned=5).prompt("Make it resumable")
    story.edit("a").edit("b").edit("a").grep("x").grep("x").grep("x", "lib/x.py:1: x")
    story.edit("m/a.sql").run("psql -f a").run("make docs")
    story.edit("m/b.sql").run("psql -f b").run("make docs").edit("pyproject.toml").edit("a")
    story.fails("pytest a", "KeyError: 'x'").edit("a").run("pytest a").run("pytest")
    story.edit("q", "1", "2").edit("q", "2", "1").say(WONT).read("big", tokens=90_000)
    return story.done()


def test_every_payload_fits_its_type_and_every_content_says_something() -> None:
    story = everything()
    found = detect.find_all(scratchpad=story.scratchpad(), rejected={})
    before = once_more(found)

    candidates = offered(story, before=before)

    assert len({one.key.partition(":")[0] for one in candidates}) >= 10
    for one in candidates:
        assert check_attributes(type=one.type, attributes=one.attributes) == ()
        assert 20 < len(one.content) <= 700
        assert one.evidence
