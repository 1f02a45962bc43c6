"""Signal 4: work taken back."""

import pytest

from memory.observer.signals import backtrack
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (Story().edit("a.py", "x", "y").edit("a.py", "y", "x"), ["a.py"]),
        (Story().edit("a.py").run("git checkout -- a.py"), ["a.py"]),
        (Story().edit("a.py").edit("b.py").run("git restore ."), ["a.py", "b.py"]),
        (Story().edit("a.py").run("cd /work/shop && git reset --hard"), ["a.py"]),
        (Story().edit("a.py").run("git stash"), ["a.py"]),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(backtrack.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().edit("a.py", "x", "y").edit("a.py", "y", "z"),
        Story().edit("a.py").run("git checkout main"),
        Story().edit("a.py").run("git commit -am done").run("git restore ."),
        Story().edit("a.py").run("git stash pop"),
        Story().edit("a.py", "x", "y").edit("b.py", "y", "x"),
        Story().edit("a.py").run("git checkout -b feature"),
        Story().edit("a.py", "x", "y", is_error=True).edit("a.py", "y", "x"),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(backtrack.find, story) == []
