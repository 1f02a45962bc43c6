"""Parallel agents: what several saw is one, and needs one session."""

from hypothesis import given
from hypothesis import strategies as st

from memory.observer import finding, quorum
from memory.observer.sightings import Sighting
from memory.observer.signal_table import SignalKind
from tests.support.stories import Story


def seen(story: Story) -> tuple[Sighting, ...]:
    """Return what one agent saw."""
    return finding.find_all(scratchpad=story.scratchpad(), verdicts={})


ONE = seen(Story().edit("a").edit("b").say("Correction: the flag of the cache is read at start."))
TWO = seen(Story().edit("b").edit("a").grep("x").grep("x").grep("x"))
THREE = seen(Story().say("Correction: the flag of the cache is read at the start."))


def test_what_two_saw_is_joined_with_the_evidence_of_both() -> None:
    joined = quorum.join(seen=(("one", ONE), ("two", TWO)))

    pair = next(each for each in joined if each.sighting.kind is SignalKind.CO_ACCESS)
    assert pair.agents == ("one", "two")
    assert pair.sighting.times == 2
    assert len(joined) == len(ONE) + len(TWO) - 1


def test_nearly_the_same_words_are_the_same() -> None:
    joined = quorum.join(seen=(("one", ONE), ("three", THREE)))

    said = [each for each in joined if each.sighting.kind is SignalKind.SELF_CORRECTION]
    assert [each.agents for each in said] == [("one", "three")]


def test_one_agent_twice_is_no_witness() -> None:
    joined = quorum.join(seen=(("one", ONE), ("one", ONE)))

    assert {each.agents for each in joined} == {("one",)}


@given(st.permutations((("one", ONE), ("two", TWO), ("three", THREE))))
def test_the_order_of_agents_does_not_matter(
    order: list[tuple[str, tuple[Sighting, ...]]],
) -> None:
    usual = quorum.join(seen=(("one", ONE), ("two", TWO), ("three", THREE)))

    assert quorum.join(seen=tuple(order)) == usual


def test_two_witnesses_need_one_session() -> None:
    assert quorum.sessions_needed(usual=3, agents=2) == 1
    assert quorum.sessions_needed(usual=3, agents=1) == 3
