"""All signals of a session: the worthiest first, slow calls only beside another signal."""

from hypothesis import given
from hypothesis import strategies as st

from memory.observer import detect, detections
from memory.observer.detect import Seen, Verdicts, Witnessed
from memory.observer.detections import EVIDENCE_MOST, SIGHTINGS_MOST, SignalKind
from memory.sessions import reducers
from memory.sessions.scratchpad import Setting
from tests.support.stories import Story, read_events

QUIET = Story().run("a").run("b").run("c").run("d")


def kinds(story: Story, **said: Verdicts) -> list[SignalKind]:
    """Return the kinds of signal in a story."""
    verdicts = {SignalKind(kind): verdict for kind, verdict in said.items()}
    found = detect.find_all(scratchpad=story.scratchpad(), verdicts=verdicts)
    return [sighting.kind for sighting in found]


def test_every_signal_has_its_finder() -> None:
    assert set(detect.FINDERS) == set(SignalKind)


def test_the_worthiest_come_first() -> None:
    story = Story().edit("a.py").edit("b.py").edit("a.py").grep("x").grep("x").grep("x")

    found = kinds(story)

    values = [detections.value(kind=kind) for kind in found]
    assert found[0] is SignalKind.CO_ACCESS
    assert values == sorted(values, reverse=True)


def test_what_was_found_already_gives_the_same_as_looking_again() -> None:
    story = Story().edit("a.py").edit("b.py").fails("make all", "error: x").run("make all")
    pad = story.scratchpad()

    known = detect.find_counted(scratchpad=pad)

    assert known[SignalKind.CO_ACCESS]
    assert detect.find_all(scratchpad=pad, verdicts={}, known=known) == detect.find_all(
        scratchpad=pad, verdicts={}
    )


def test_a_slow_call_alone_means_nothing() -> None:
    slow = Story().run("a").run("b").run("c").run("d").run("make all", takes=300)
    failing = Story().run("a").run("b").run("c").run("d")
    failing.fails("make all", "error: x", takes=300).run("make all")

    assert SignalKind.TIME_ANOMALY not in kinds(slow)
    assert SignalKind.TIME_ANOMALY in kinds(failing)


def test_a_signal_that_people_reject_is_not_looked_for() -> None:
    failing = Story().run("a").run("b").run("c").run("d")
    failing.fails("make all", "error: x", takes=300).run("make all")

    assert SignalKind.TIME_ANOMALY not in kinds(
        failing, time_anomaly=Verdicts(judged=20, rejected=20)
    )


def test_a_session_without_events_shows_nothing() -> None:
    assert kinds(Story()) == []


def test_sightings_and_their_evidence_are_bounded() -> None:
    story = Story()
    for _ in range(3):
        for place in range(60):
            story.edit(f"src/{place}.py")

    found = detect.find_all(scratchpad=story.scratchpad(), verdicts={})

    assert len(found) <= SIGHTINGS_MOST * len(SignalKind)
    assert all(len(sighting.evidence) <= EVIDENCE_MOST for sighting in found)


OVERRUN = SignalKind.STEP_OVERRUN


def seen(story: Story) -> Seen:
    """Return what one agent did and saw."""
    scratchpad = story.scratchpad()
    return scratchpad, detect.find_all(scratchpad=scratchpad, verdicts={})


def first() -> Story:
    """Return what the first agent did."""
    return Story().edit("a").edit("b").say("Correction: the flag of the cache is read at start.")


ONE = seen(first())


TWO = seen(Story().edit("b").edit("a").grep("x").grep("x").grep("x"))


THREE = seen(Story().say("Correction: the flag of the cache is read at the start."))


def test_what_two_saw_is_joined_with_the_evidence_of_both() -> None:
    joined = detect.join(seen={"one": ONE, "two": TWO})

    pair = next(each for each in joined if each.sighting.kind is SignalKind.CO_ACCESS)
    assert pair.agents == ("one", "two")
    assert pair.sighting.times == 2
    assert pair.reason == ""


def test_nearly_the_same_words_are_the_same() -> None:
    joined = detect.join(seen={"one": ONE, "three": THREE})

    said = [each for each in joined if each.sighting.kind is SignalKind.SELF_CORRECTION]
    assert [each.agents for each in said] == [("one", "three")]


def test_files_that_both_edited_are_a_collision() -> None:
    joined = detect.join(seen={"one": ONE, "two": TWO})

    collided = [each for each in joined if each.sighting.kind is SignalKind.PARALLEL_CONFLICT]
    assert [each.sighting.key for each in collided] == ["a", "b"]


@given(st.permutations(("one", "two", "three")))
def test_the_order_of_agents_does_not_matter(order: list[str]) -> None:
    by_name = {"one": ONE, "two": TWO, "three": THREE}

    assert detect.join(seen={name: by_name[name] for name in order}) == detect.join(seen=by_name)


def test_two_witnesses_need_one_session() -> None:
    kind = SignalKind.FILE_ACCESS
    assert detections.sessions_needed(kind=kind, agents=2) == 1
    assert detections.sessions_needed(kind=kind, agents=1) == 3


def witnessed(*names: str) -> dict[SignalKind, Witnessed]:
    """Let each of these agents look for the same thing again and again."""
    rows = [
        {"kind": "tool_call", "name": "Grep", "args": {"pattern": "apply_discount"}, "agent": name}
        for name in names
        for _ in range(4)
    ]
    events = read_events({**row, "sequence": n, "step": n} for n, row in enumerate(rows, 1))
    pad = reducers.rebuild(setting=Setting(), events=events)
    return {one.sighting.kind: one for one in detect.witnessed(scratchpad=pad, verdicts={})}


def test_one_agent_is_one_witness() -> None:
    assert witnessed("")[SignalKind.REPEATED_GREP].agents == ("",)


def test_two_agents_are_two_witnesses() -> None:
    assert witnessed("left", "right")[SignalKind.REPEATED_GREP].agents == ("left", "right")


def shown(story: Story) -> dict[tuple[SignalKind, str], Witnessed]:
    """Return what the agents of a story showed."""
    found = detect.witnessed(scratchpad=story.scratchpad(), verdicts={})
    return {(one.sighting.kind, one.sighting.key): one for one in found}


def test_that_a_session_took_longer_than_planned_has_one_witness() -> None:
    story = Story(planned=4)
    for _ in range(10):
        story.by("").edit("auth/store/a.py").by("a").edit("auth/store/b.py")

    overrun = [one for one in shown(story.done()).values() if one.sighting.kind is OVERRUN]

    assert [(one.sighting.key, one.agents) for one in overrun] == [("auth/store", ("",))]


def test_a_costly_step_has_one_witness() -> None:
    story = Story()
    for agent in ("", "a"):
        story.by(agent).read("x").read("x").read("x").read("big", tokens=90_000)

    assert shown(story)[SignalKind.CONTEXT_SPIKE, "big"].agents == ("",)


def test_each_agent_has_the_files_it_touched_itself() -> None:
    story = Story().by("a").edit("mail/out/a.py").run("pytest a").run("pytest b")
    story.by("b").edit("auth/store/b.py").edit("auth/store/c.py").edit("auth/store/b.py")

    orders = [one for one in shown(story).values() if one.sighting.kind is SignalKind.TEST_ORDER]

    assert "mail/out: pytest a > pytest b" in [one.sighting.key for one in orders]


def test_a_file_that_two_agents_read_and_left_has_two_witnesses() -> None:
    story = Story()
    for agent in ("a", "b"):
        story.by(agent).read("old/x.py").grep("retry").edit(f"net/{agent}.py")

    alone = SignalKind.READ_ABANDON, "old/x.py"

    assert shown(story)[alone].agents == ("a", "b")


def test_two_agents_that_edit_a_file_side_by_side_collide() -> None:
    story = Story().by("a").read("x").by("b").read("x").by("a").edit("y").by("b").edit("y")

    assert shown(story.by("a").run("ls"))[SignalKind.PARALLEL_CONFLICT, "y"].agents == ("a", "b")
