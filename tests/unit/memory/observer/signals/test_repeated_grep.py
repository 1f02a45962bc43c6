"""Signal 6: the same search three times."""

import pytest

from memory.observer.signals import repeated_grep
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (Story().grep("mint").grep("mint").grep("mint"), ["mint"]),
        (Story().grep("Mint").read("a.py").grep("mint").edit("a.py").grep("MINT"), ["mint"]),
        (Story().run("rg mint").grep("mint").run("grep -rn mint src"), ["mint"]),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(repeated_grep.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().grep("mint").grep("mint"),
        Story().grep("mint").grep("mint").grep("minted"),
        Story().glob("*.py").glob("*.py").glob("*.py"),
        Story(),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(repeated_grep.find, story) == []
