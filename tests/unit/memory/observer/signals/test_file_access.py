"""Signal 1: files a session came back to."""

import pytest

from memory.observer.signals import file_access
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (Story().read("a.py").read("b.py").read("a.py"), ["a.py"]),
        (Story().read("a.py").edit("a.py"), ["a.py"]),
        (Story().edit("a.py").run("cat a.py").edit("b.py").read("b.py"), ["a.py", "b.py"]),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(file_access.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().read("a.py").read("b.py"),
        Story(),
        Story().call("Read", {"file_path": "/etc/hosts"}).call("Read", {"file_path": "/etc/hosts"}),
        Story().read("a.py", is_error=True).read("a.py"),
        Story().grep("a.py").grep("a.py"),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(file_access.find, story) == []
