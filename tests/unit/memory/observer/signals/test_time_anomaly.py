"""Signal 8: calls that took far longer than the others."""

import pytest

from memory.observer.signals import time_anomaly
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (
            Story().read("a").read("b").read("c").read("d").run("make all", takes=90),
            ["run make all"],
        ),
        (Story().read("a").read("b").read("c").read("d").read("e", takes=300), ["read e"]),
        (
            Story()
            .run("pytest x", takes=20)
            .run("pytest x", takes=20)
            .run("pytest x", takes=20)
            .run("pytest y", takes=20)
            .run("tox -e py", takes=500),
            ["test tox"],
        ),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(time_anomaly.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().read("a").read("b").run("make all", takes=90),
        Story().read("a").read("b").read("c").read("d").run("make", takes=50),
        Story()
        .run("a", takes=80)
        .run("b", takes=80)
        .run("c", takes=80)
        .run("d", takes=80)
        .run("e", takes=90),
        Story(),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(time_anomaly.find, story) == []
