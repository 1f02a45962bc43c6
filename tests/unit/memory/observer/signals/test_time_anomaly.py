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


def in_one_breath(*took: int | None) -> Story:
    """Tell calls with their results, as programs that say how long each took, or not."""
    story = Story()
    for number, seconds in enumerate(took):
        told = {} if seconds is None else {"duration_ms": seconds * 1_000}
        story.event("tool_call", name="Bash", args={"command": f"make t{number}"})
        story.event("tool_result", name="Bash", at=story.at, **told)
    return story


def test_a_program_that_says_how_long_its_calls_took_is_believed() -> None:
    story = in_one_breath(1, 1, 1, 1, 300)

    assert keys(time_anomaly.find, story) == ["run make"]


def test_calls_of_which_nobody_knows_how_long_they_took_are_not_counted() -> None:
    deeds = in_one_breath(None, None).scratchpad().deeds.values()

    assert [deed.seconds for deed in deeds] == [None, None]


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
