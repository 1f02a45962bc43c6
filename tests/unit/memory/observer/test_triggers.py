"""Early triggers: four conditions, each once for what it is about."""

import pytest

from memory.observer.actions.session_findings import fired
from memory.observer.detections import SignalKind
from tests.support.stories import Story


@pytest.mark.parametrize(
    ("story", "kind", "priority"),
    [
        (Story().say("Correction: it is lazy."), SignalKind.SELF_CORRECTION, 0.9),
        (Story().grep("x").grep("x").grep("X"), SignalKind.REPEATED_GREP, 0.8),
        (Story().fails("a", "KeyError: 1").fails("b", "ValueError: 1"), SignalKind.ERROR_RETRY,
         0.75),
        (Story().read("pyproject.toml").edit("a.py").edit("b.py"), SignalKind.CONFIG_TOUCHED, 0.7),
    ],
)  # fmt: skip
def test_a_condition_fires(story: Story, kind: SignalKind, priority: float) -> None:
    (early,) = fired(scratchpad=story.scratchpad(), already=[])

    assert (early["kind"], early["priority"]) == (kind, priority)


def test_less_does_not_fire() -> None:
    for story in (
        Story().say("Let me look."),
        Story().grep("x").grep("x").grep("y"),
        Story().fails("a", "KeyError: 1").fails("a", "KeyError: 2"),
        Story().edit("pyproject.toml"),
        Story().edit("a.py").edit("b.py"),
    ):
        assert fired(scratchpad=story.scratchpad(), already=[]) == []


def test_what_fired_does_not_fire_again() -> None:
    story = Story().grep("x").grep("x").grep("x")
    first = fired(scratchpad=story.scratchpad(), already=[])

    again = fired(scratchpad=story.grep("x").say("Correction: y").scratchpad(), already=first)

    assert [early["kind"] for early in again] == [SignalKind.SELF_CORRECTION]
