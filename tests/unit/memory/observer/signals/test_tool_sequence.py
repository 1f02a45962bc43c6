"""Signal 7: the same sequence of steps again."""

import pytest

from memory.observer.signals import tool_sequence
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (
            Story()
            .edit("m/a.py")
            .run("npm run build")
            .run("git commit -m a")
            .edit("m/b.py")
            .run("npm run build")
            .run("git commit -m b"),
            ["edit m/*.py > run npm run > run git commit"],
        ),
        (
            Story()
            .edit("m/a.sql")
            .run("psql -f a")
            .run("make docs")
            .read("x.py")
            .edit("m/b.sql")
            .edit("m/c.sql")
            .run("psql -f b")
            .run("make docs"),
            ["edit m/*.sql > run psql > run make docs"],
        ),
        (
            Story()
            .run("make a")
            .run("docker build")
            .run("docker push")
            .run("make a")
            .run("docker build")
            .run("docker push"),
            ["run make a > run docker build > run docker push"],
        ),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(tool_sequence.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story()
        .edit("m/a.py")
        .run("pytest")
        .edit("m/a.py")
        .run("pytest")
        .edit("m/a.py")
        .run("pytest"),
        Story().edit("m/a.py").run("npm run build").run("git commit -m a"),
        Story().read("a").read("b").read("c").read("a").read("b").read("c"),
        Story()
        .edit("m/a.py")
        .edit("m/b.css")
        .edit("m/c.html")
        .edit("m/a.py")
        .edit("m/b.css")
        .edit("m/c.html"),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(tool_sequence.find, story) == []
