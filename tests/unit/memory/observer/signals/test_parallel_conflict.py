"""Signal 16: two at work on one file."""

import pytest

from memory.observer.signals import parallel_conflict
from tests.support.stories import Story, keys, without_clocks


def both_at_work(*, pause: float = 0) -> Story:
    """Let two agents edit a file while both are at work; each counts steps of its own."""
    story = Story().counting(50).by("one").read("b.py").by("two").counting(3).read("b.py")
    story.by("one").counting(51).edit("a.py")
    story.at += pause
    return story.by("two").counting(4).edit("a.py").by("one").counting(52).run("ls")


def sent() -> Story:
    """Let an agent edit a file, send another that edits it, and edit it again afterwards."""
    story = Story().counting(50).edit("a.py").event("tool_call", name="Task", call="t")
    story.by("sub").counting(1).read("a.py").edit("a.py").read("b.py").by("").counting(51)
    return story.event("tool_result", name="Task", call="t").edit("a.py")


def told_afterwards() -> Story:
    """Let an agent edit what another had edited, whose last call is told with how long it took."""
    story = Story().read("b.py").by("sub").edit("a.py").event("tool_call", name="Bash", args={})
    story.event("tool_result", name="Bash", at=story.at, duration_ms=300_000)
    return story.by("").edit("a.py").run("ls")


MERGE = "Auto-merging a.py\nCONFLICT (content): Merge conflict in a.py\nAutomatic merge failed"


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (Story().edit("a.py", text="File has been modified since read", is_error=True), ["a.py"]),
        (Story().fails("git merge main", MERGE), ["a.py"]),
        (both_at_work(), ["a.py"]),
        (without_clocks(both_at_work()), ["a.py"]),
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
        sent(),
        without_clocks(sent()),
        both_at_work(pause=3_600),
        told_afterwards(),
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
