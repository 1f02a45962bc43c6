"""Signal 16: two at work on one file."""

import pytest

from memory.observer.signals import parallel_conflict
from tests.support.stories import Story, keys

MERGE = "Auto-merging a.py\nCONFLICT (content): Merge conflict in a.py\nAutomatic merge failed"


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (Story().edit("a.py", text="File has been modified since read", is_error=True), ["a.py"]),
        (Story().fails("git merge main", MERGE), ["a.py"]),
        (Story().by("one").edit("a.py").by("two").edit("a.py"), ["a.py"]),
        (
            Story().fails("git pull", "error: changes would be overwritten by merge"),
            ["repository"],
        ),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(parallel_conflict.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().edit("a.py", text="String to replace not found", is_error=True),
        Story().by("one").edit("a.py").by("two").edit("b.py"),
        Story().run("git merge main", "Merge made by the 'ort' strategy"),
        Story().by("one").edit("a.py").edit("a.py"),
        Story().by("one").read("a.py").by("two").read("a.py"),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(parallel_conflict.find, story) == []


def test_agents_with_scratchpads_of_their_own_collide_in_what_both_edited() -> None:
    one = Story().edit("a.py").edit("b.py").scratchpad()
    two = Story().edit("a.py").read("b.py").scratchpad()

    found = parallel_conflict.between(scratchpads=(one, two))

    assert [sighting.key for sighting in found] == ["a.py"]
    assert len(found[0].evidence) == 2
