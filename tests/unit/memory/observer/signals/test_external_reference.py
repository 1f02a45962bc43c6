"""Signal 10: pages of the web that the work needed."""

import pytest

from memory.observer.signals import external_reference
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (Story().fetch("https://docs.example.org/a").edit("a.py"), ["docs.example.org"]),
        (
            Story().run("curl -s https://api.example.com/v1").read("b.py").edit("a.py"),
            ["api.example.com"],
        ),
        (
            Story().fetch("https://a.example/x").fetch("https://a.example/y").edit("a.py"),
            ["a.example"],
        ),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(external_reference.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().fetch("https://docs.example.org/a").read("a.py"),
        Story().edit("a.py").fetch("https://docs.example.org/a"),
        Story().call("WebSearch", {"query": "django sessions"}).edit("a.py"),
        Story().fetch("https://a.example/x").edit("a.py", is_error=True),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(external_reference.find, story) == []
