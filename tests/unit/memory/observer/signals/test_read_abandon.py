"""Signal 5: files that looked right and were not."""

import pytest

from memory.observer.signals import read_abandon
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (Story().read("old/a.py").grep("mint").read("b/c.py").edit("b/c.py"), ["old/a.py"]),
        (Story().read("x/a.py").glob("**/*.py", "b.py").edit("b/c.py"), ["x/a.py"]),
        (Story().read("x/a.py").run("ls").grep("mint").edit("b/c.py"), ["x/a.py"]),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(read_abandon.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().read("x/a.py").grep("mint").read("b/c.py"),
        Story().read("x/a.py").grep("mint").edit("x/b.py"),
        Story().read("x/a.py").grep("mint").edit("b/c.py").read("x/a.py"),
        Story().read("x/a.py").read("b/c.py").edit("b/c.py"),
        Story().edit("b/c.py").read("x/a.py").grep("mint"),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(read_abandon.find, story) == []
