"""Signal 17: steps that cost far more context than the others."""

import pytest

from memory.observer.signals import context_spike
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (
            Story().read("a").read("b").read("c").read("d").read("lock/big.json", tokens=30_000),
            ["lock/big.json"],
        ),
        (Story().read("a").run("npm ls", tokens=9_000).read("b").read("c").read("d"), ["npm ls"]),
        (
            Story()
            .read("a")
            .read("x", tokens=8_000)
            .read("b")
            .read("c")
            .read("d")
            .read("x", tokens=9_000),
            ["x"],
        ),
        (
            Story()
            .read("a")
            .read("b")
            .read("big", tokens=30_000)
            .read("d")
            .read("e")
            .by("sub")
            .counting(3)
            .read("small", tokens=10),
            ["big"],
        ),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(context_spike.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().read("a").read("big", tokens=30_000),
        Story()
        .read("a", tokens=100)
        .read("b", tokens=100)
        .read("c", tokens=100)
        .read("d", tokens=100)
        .read("e", tokens=900),
        Story()
        .read("a", tokens=5_000)
        .read("b", tokens=5_000)
        .read("c", tokens=5_000)
        .read("d", tokens=5_000)
        .read("e", tokens=9_000),
        Story(),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(context_spike.find, story) == []
