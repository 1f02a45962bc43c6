"""Signal 11: globs whose answers were not used."""

import pytest

from memory.observer.signals import glob_ignored
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (
            Story().glob("**/auth*.py", "old/auth.py", "x/auth2.py").read("core/login.py"),
            ["**/auth*.py"],
        ),
        (Story().glob("*.sql", "a.sql").grep("x").edit("schema/b.txt"), ["*.sql"]),
        (
            Story().glob("*.py", "/work/shop/a.py").read("b.py").glob("*.md", "c.md").read("c.md"),
            ["*.py"],
        ),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(glob_ignored.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().glob("*.py").read("b.py"),
        Story().glob("*.py", "a.py").read("a.py"),
        Story().glob("*.py", "/work/shop/src/a.py").read("b.py").read("src/a.py"),
        Story().glob("*.py", "a.py").run("ls"),
        Story().glob("*.py", "a.py").read("src/a.py"),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(glob_ignored.find, story) == []
