"""Signal 13: the order of tests and how many runs it took."""

import pytest

from memory.observer.signals import order_of_tests
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (
            Story()
            .edit("auth/s/a.py")
            .fails("pytest tests/a.py", "1 failed")
            .run("pytest tests/a.py")
            .run("pytest"),
            ["auth/s: pytest tests/a.py > pytest"],
        ),
        (Story().run("npm test").run("npm test -- auth"), [": npm test > npm test -- auth"]),
        (
            Story().run("go test ./a", "ok").run("go test ./b", "ok").run("go test ./...", "ok"),
            [": go test ./a > go test ./b > go test ./..."],
        ),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(order_of_tests.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().run("pytest").run("pytest"),
        Story().run("pytest a").fails("pytest b", "1 failed"),
        Story().run("pytest a").run("pytest b", "2 failed, 3 passed"),
        Story().run("make").run("ls"),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(order_of_tests.find, story) == []
