"""Signal 14: changes that needed a change of configuration."""

import pytest

from memory.observer.signals import config_touched
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (Story().edit("src/a.py").edit("pyproject.toml"), ["pyproject.toml"]),
        (Story().edit("config/queues.yaml").read("x").edit("src/a.py"), ["config/queues.yaml"]),
        (
            Story().edit("package.json").edit("tsconfig.json").edit("a.ts"),
            ["package.json", "tsconfig.json"],
        ),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(config_touched.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().read("pyproject.toml").edit("a.py"),
        Story().edit("pyproject.toml"),
        Story().edit("a.py").edit("b.py"),
        Story().edit("package.json").edit("tsconfig.json"),
        Story().edit("package.json", is_error=True).edit("a.ts"),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(config_touched.find, story) == []
