"""All signals of a session: the worthiest first, slow calls only beside another signal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.observer import detect, detections
from memory.observer.detect import Seen
from memory.observer.detections import EVIDENCE_MOST, SIGHTINGS_MOST, Sighting, SignalKind
from tests.support.stories import Story

SLOW = SignalKind.TIME_ANOMALY


def kinds(story: Story, **rejected: float) -> list[SignalKind]:
    """Return the kinds of signal in a story, where people rejected such shares."""
    shares = {SignalKind(kind): share for kind, share in rejected.items()}
    return [one.kind for one in detect.find_all(scratchpad=story.scratchpad(), rejected=shares)]


def test_every_signal_has_its_finder_and_the_value_that_is_documented() -> None:
    documented = {
        "co_access": 0.91,
        "self_correction": 0.88,
        "backtrack": 0.68,
        "time_anomaly": 0.48,
    }

    assert set(detect.FINDERS) == set(detections.SIGNALS) == set(SignalKind)
    found = {kind: detections.value(kind=SignalKind(kind)) for kind in documented}
    assert found == pytest.approx(documented)
    needed = [detections.sessions_needed(kind=SignalKind.FILE_ACCESS, agents=n) for n in (2, 1)]
    assert needed == [1, 3]  # two witnesses need one session


@given(st.sampled_from(list(SignalKind)), st.floats(0, 0.9))
def test_more_rejections_lower_a_value(kind: SignalKind, share: float) -> None:
    less = detections.value(kind=kind, rejected=share)

    assert detections.value(kind=kind, rejected=share + 0.1) < less


def test_the_worthiest_come_first() -> None:
    story = Story().edit("a.py").edit("b.py").edit("a.py").grep("x").grep("x").grep("x")

    found = kinds(story)

    values = [detections.value(kind=kind) for kind in found]
    assert found[0] is SignalKind.CO_ACCESS
    assert values == sorted(values, reverse=True)


def test_a_slow_call_counts_beside_another_signal_and_where_people_do_not_reject_it() -> None:
    slow, failing = (Story().run("a").run("b").run("c").run("d") for _ in range(2))
    slow.run("make all", takes=300)
    failing.fails("make all", "error: x", takes=300).run("make all")

    assert SLOW not in kinds(slow)
    assert SLOW in kinds(failing)
    assert SLOW not in kinds(failing, time_anomaly=1.0)


def test_sightings_and_their_evidence_are_bounded() -> None:
    story = Story()
    for place in (*range(60),) * 3:
        story.edit(f"src/{place}.py")

    found = detect.find_all(scratchpad=story.scratchpad(), rejected={})

    assert len(found) <= SIGHTINGS_MOST * len(SignalKind)
    assert all(len(sighting.evidence) <= EVIDENCE_MOST for sighting in found)


def seen(story: Story) -> Seen:
    """Return what one agent did and saw."""
    scratchpad = story.scratchpad()
    return scratchpad, detect.find_all(scratchpad=scratchpad, rejected={})


SAID = "Correction: the flag of the cache is read at"
BY_NAME = {
    "one": seen(Story().edit("a").edit("b").say(f"{SAID} start.")),
    "two": seen(Story().edit("b").edit("a").grep("x").grep("x").grep("x")),
    "three": seen(Story().say(f"{SAID} the start.")),
}


@given(st.permutations(("one", "two", "three")))
def test_what_two_saw_is_joined_in_whatever_order(order: list[str]) -> None:
    joined = detect.join(seen={name: BY_NAME[name] for name in order})

    found = {(one.kind, one.key): one for one in joined}
    pair = found[SignalKind.CO_ACCESS, "a|b"]
    assert (pair.agents, pair.times, pair.reason) == (("one", "two"), 2, "")
    corrected = [one for one in joined if one.kind is SignalKind.SELF_CORRECTION]
    assert [one.agents for one in corrected] == [("one", "three")]  # nearly the same words
    collided = [one.key for one in joined if one.kind is SignalKind.PARALLEL_CONFLICT]
    assert collided == ["a", "b"]


def shown(story: Story) -> dict[tuple[SignalKind, str], Sighting]:
    """Return what the agents of a story showed."""
    found = detect.witnessed(scratchpad=story.scratchpad(), rejected={})
    return {(one.kind, one.key): one for one in found}


@pytest.mark.parametrize("names", [("",), ("left", "right")])
def test_each_agent_that_saw_it_is_a_witness(names: tuple[str, ...]) -> None:
    story = Story()
    for name in names:
        story.by(name).grep("discount").grep("discount").grep("discount")

    assert shown(story)[SignalKind.REPEATED_GREP, "discount"].agents == names


def test_what_is_the_session_s_has_one_witness_and_what_two_read_and_left_has_two() -> None:
    story = Story(planned=4)
    for _ in range(10):
        story.by("").edit("auth/store/a.py").by("a").edit("auth/store/b.py")
    costly, left = Story(), Story()
    for agent in ("", "a"):
        costly.by(agent).read("x").read("x").read("x").read("big", tokens=90_000)
    for agent in ("a", "b"):
        left.by(agent).read("old/x.py").grep("retry").edit(f"net/{agent}.py")

    assert shown(story.done())[SignalKind.STEP_OVERRUN, "auth/store"].agents == ("",)
    assert shown(costly)[SignalKind.CONTEXT_SPIKE, "big"].agents == ("",)
    assert shown(left)[SignalKind.READ_ABANDON, "old/x.py"].agents == ("a", "b")


def test_each_agent_has_the_files_it_touched_and_two_that_edit_one_side_by_side_collide() -> None:
    story = Story().by("a").edit("mail/out/a.py").run("pytest a").run("pytest b")
    story.by("b").edit("auth/store/b.py").edit("auth/store/c.py").edit("auth/store/b.py")
    both = Story().by("a").read("x").by("b").read("x").by("a").edit("y").by("b").edit("y")

    assert (SignalKind.TEST_ORDER, "mail/out: pytest a > pytest b") in shown(story)
    assert shown(both.by("a").run("ls"))[SignalKind.PARALLEL_CONFLICT, "y"].agents == ("a", "b")
