"""Dead ends need words and a try; what was tried and what came instead are kept."""

import pytest

from memory.observer import reentered_dead_ends
from tests.support.stories import Story

WONT = "This approach won't work because the driver has no savepoints."


def test_a_dead_end_says_what_failed_and_what_came_instead() -> None:
    story = Story().prompt("Make imports resumable\nplease").edit("imports/run.py")
    story.fails("pytest imports", "NotSupportedError: savepoints").say(WONT).edit("imports/log.py")

    (found,) = reentered_dead_ends.find_dead_ends(scratchpad=story.scratchpad())

    assert found.approach == "running `pytest imports`"
    assert found.why_it_failed == f"{WONT} NotSupportedError: savepoints"
    assert found.alternative == "changing imports/log.py"
    assert found.task == "Make imports resumable"
    assert found.files == ("imports/run.py",)


@pytest.mark.parametrize(
    "story",
    [
        Story().edit("a").say("Let me try a different approach."),
        Story().run("docker ps").say("Docker is not available in this environment."),
        Story().fails("make", "error: x").say("I need to abandon this."),
    ],
)
def test_words_after_a_try_are_one(story: Story) -> None:
    assert len(reentered_dead_ends.find_dead_ends(scratchpad=story.scratchpad())) == 1


def test_who_gives_up_and_says_what_comes_instead_gave_up_once() -> None:
    story = Story().edit("a.py").say(f"{WONT} Let me try a different approach: a log.")

    (found,) = reentered_dead_ends.find_dead_ends(scratchpad=story.scratchpad())

    assert found.why_it_failed.startswith(WONT)


@pytest.mark.parametrize(
    "story",
    [
        Story().say(WONT),
        Story().read("a").say(WONT).edit("a"),
        Story().edit("a").say("This approach works."),
        Story().edit("a").by("sub").say(WONT),
    ],
)
def test_words_alone_are_none(story: Story) -> None:
    assert reentered_dead_ends.find_dead_ends(scratchpad=story.scratchpad()) == ()
