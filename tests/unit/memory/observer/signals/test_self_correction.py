"""Signal 9: the agent says that it was wrong, and the file it had last says where."""

import pytest

from memory.observer.signals import self_correction
from tests.support.stories import Story

WRONG = "I was wrong about the cache. The store is actually Postgres."


@pytest.mark.parametrize(
    ("story", "files"),
    [
        (Story().read("a.py").say(WRONG), ("a.py",)),
        (Story().say("Correction: the flag is read at start."), ()),
        (Story().read("a.py").edit("b.py").say("Let me reconsider: it is lazy."), ("b.py",)),
        (Story().read("a.py").say(WRONG).read("c.py").say(WRONG), ("a.py",)),
        (Story().read("a.py").by("sub").read("c.py").by("").say(WRONG), ("a.py",)),
        (Story().read("a.py").by("sub").say(WRONG), ()),
    ],
)
def test_it_is_seen_once_with_its_file(story: Story, files: tuple[str, ...]) -> None:
    found = self_correction.find(scratchpad=story.scratchpad())

    assert [sighting.files for sighting in found] == [files]


@pytest.mark.parametrize(
    "story",
    [
        Story().say("Let me look at the tests."),
        Story().prompt("do it").prompt("No, you were wrong about the cache"),
        Story().read("a.py", WRONG),
        Story().say("This approach won't work."),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert self_correction.find(scratchpad=story.scratchpad()) == ()
