"""Signal 2: files that go together, with their direction."""

import pytest

from memory.observer.signals import co_access
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (Story().edit("a.py").edit("b.py"), ["a.py|b.py"]),
        (Story().edit("b.py").read("a.py").edit("b.py").read("a.py"), ["a.py|b.py"]),
        (Story().edit("a.py").run("ls").edit("b.py").read("c.py"), ["a.py|b.py"]),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(co_access.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().read("a.py").read("b.py").read("a.py").read("b.py"),
        Story().read("a.py").edit("b.py"),
        Story().edit("a.py").run("x").run("x").run("x").run("x").run("x").edit("b.py"),
        Story().edit("a.py").edit("a.py"),
        Story().edit("a.py").edit("b.py", is_error=True),
        Story().counting(50).edit("a.py").by("sub").counting(3).edit("b.py"),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(co_access.find, story) == []


def test_files_that_one_call_changes_go_together() -> None:
    story = Story().call("apply_patch", {"path": "a.py"}, files=[])
    story.rows[0]["files"] = ["a.py", "b.py"]

    assert keys(co_access.find, story) == ["a.py|b.py"]


def test_the_first_touched_names_the_direction() -> None:
    found = co_access.find(scratchpad=Story().edit("z.py").edit("a.py").scratchpad())

    assert found[0].files == ("z.py", "a.py")
    assert dict(found[0].details)["seconds"] != "0"
