"""Signal 15: far more steps than planned."""

import pytest

from memory.observer.signals import step_overrun
from tests.support.stories import Story


def worked(*, planned: int, steps: int) -> Story:
    """Return a session of so many steps in one module."""
    story = Story(planned=planned)
    for _ in range(steps):
        story.edit("auth/store/a.py")
    return story.done()


@pytest.mark.parametrize(
    ("planned", "steps", "ratio"), [(10, 15, "1.50"), (4, 12, "3.00"), (1, 6, "6.00")]
)
def test_it_is_seen_with_its_ratio(planned: int, steps: int, ratio: str) -> None:
    found = step_overrun.find(scratchpad=worked(planned=planned, steps=steps).scratchpad())

    assert [sighting.key for sighting in found] == ["auth/store"]
    assert dict(found[0].details)["ratio"] == ratio


@pytest.mark.parametrize(("planned", "steps"), [(0, 40), (10, 14), (4, 8), (20, 20)])
def test_it_is_not_seen(planned: int, steps: int) -> None:
    story = worked(planned=planned, steps=steps)

    assert step_overrun.find(scratchpad=story.scratchpad()) == ()


def test_a_step_that_nobody_can_have_reached_is_no_overrun() -> None:
    story = Story(planned=5).edit("a.py").counting(10**9).edit("a.py")

    assert step_overrun.find(scratchpad=story.scratchpad()) == ()
