"""Parallel agents: what several saw is one, and needs one session."""

from hypothesis import given
from hypothesis import strategies as st

from memory.observer import detect
from memory.observer.signal_table import SignalKind
from memory.statistics import quorum
from memory.statistics.quorum import Seen
from tests.support.stories import Story


def seen(agent: str, story: Story) -> Seen:
    """Return what one agent did and saw."""
    scratchpad = story.scratchpad()
    found = detect.find_all(scratchpad=scratchpad, verdicts={})
    return Seen(agent=agent, scratchpad=scratchpad, found=found)


def first() -> Story:
    """Return what the first agent did."""
    return Story().edit("a").edit("b").say("Correction: the flag of the cache is read at start.")


ONE = seen("one", first())
TWO = seen("two", Story().edit("b").edit("a").grep("x").grep("x").grep("x"))
THREE = seen("three", Story().say("Correction: the flag of the cache is read at the start."))


def test_what_two_saw_is_joined_with_the_evidence_of_both() -> None:
    joined = quorum.join(seen=(ONE, TWO))

    pair = next(each for each in joined if each.sighting.kind is SignalKind.CO_ACCESS)
    assert pair.agents == ("one", "two")
    assert pair.sighting.times == 2
    assert pair.reason == ""


def test_nearly_the_same_words_are_the_same() -> None:
    joined = quorum.join(seen=(ONE, THREE))

    said = [each for each in joined if each.sighting.kind is SignalKind.SELF_CORRECTION]
    assert [each.agents for each in said] == [("one", "three")]


def test_one_agent_is_no_witness_of_itself() -> None:
    joined = quorum.join(seen=(ONE, seen("one", first())))

    shown = [each for each in joined if each.sighting.kind is not SignalKind.PARALLEL_CONFLICT]
    assert {each.agents for each in shown} == {("one",)}


def test_files_that_both_edited_are_a_collision() -> None:
    joined = quorum.join(seen=(ONE, TWO))

    collided = [each for each in joined if each.sighting.kind is SignalKind.PARALLEL_CONFLICT]
    assert [each.sighting.key for each in collided] == ["a", "b"]


@given(st.permutations((ONE, TWO, THREE)))
def test_the_order_of_agents_does_not_matter(order: list[Seen]) -> None:
    assert quorum.join(seen=tuple(order)) == quorum.join(seen=(ONE, TWO, THREE))


def test_two_witnesses_need_one_session() -> None:
    assert quorum.sessions_needed(usual=3, agents=2) == 1
    assert quorum.sessions_needed(usual=3, agents=1) == 3
