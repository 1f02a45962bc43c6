"""The trust gate looks at the order of events, and nothing raises trust."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.observer import trust_gate
from memory.observer.signals import co_access
from memory.observer.trust_gate import Gated, TrustTier
from tests.support.stories import Story


def gated(story: Story) -> Gated:
    """Judge the one pair of files that a story changes."""
    scratchpad = story.scratchpad()
    (sighting,) = co_access.find(scratchpad=scratchpad)
    reason = trust_gate.taint_of(last_sequence=sighting.last_sequence, scratchpad=scratchpad)
    return trust_gate.gated(confidence=0.8, reason=reason)


@pytest.mark.parametrize(
    "story",
    [
        Story().edit("a").edit("b"),
        Story().edit("a").edit("b").fetch("https://x.example/"),
        Story().edit("a").edit("b").run("gh issue view 3"),
    ],
)
def test_what_came_before_outside_content_is_clean(story: Story) -> None:
    assert gated(story) == Gated(confidence=0.8, tier=TrustTier.AGENT, reason="")


@pytest.mark.parametrize(
    ("story", "reason"),
    [
        (Story().fetch("https://x.example/").edit("a").edit("b"), "web: x.example"),
        (Story().edit("a").run("gh pr view 3").edit("b"), "issue or mail: gh pr"),
        (Story().call("mcp__jira__get", {}).edit("a").edit("b"), "issue or mail: jira"),
        (Story().run("cat /tmp/notes.txt").edit("a").edit("b"), "outside file: /tmp/notes.txt"),
    ],
)
def test_what_came_after_it_is_tainted(story: Story, reason: str) -> None:
    judged = gated(story)

    assert judged.reason == reason
    assert judged.is_tainted
    assert judged.tier is TrustTier.AGENT_AFTER_EXTERNAL
    assert judged.confidence == pytest.approx(0.56)


@given(st.lists(st.sampled_from(list(TrustTier)), min_size=1), st.sampled_from(list(TrustTier)))
def test_a_further_parent_never_raises_trust(tiers: list[TrustTier], more: TrustTier) -> None:
    alone = trust_gate.lowest(tiers=tuple(tiers))

    assert trust_gate.lowest(tiers=(*tiers, more)) >= alone


def test_without_parents_there_is_no_trust() -> None:
    assert trust_gate.lowest(tiers=()) is TrustTier.IMPORTED


@pytest.mark.parametrize(
    ("tier", "needs_review", "may"),
    [
        (TrustTier.AGENT, False, True),
        (TrustTier.AGENT, True, False),
        (TrustTier.AGENT_AFTER_EXTERNAL, False, False),
        (TrustTier.HUMAN_VERIFIED, False, True),
    ],
)
def test_a_synthesis_rests_on_nothing_tainted_or_waiting(
    tier: TrustTier, needs_review: bool, may: bool
) -> None:
    assert trust_gate.may_be_source(tier=tier, needs_review=needs_review) is may
