"""Between steps: from the fifth on, in the order of triggers, each thing once."""

import pytest

from memory.injection import steps
from memory.injection.steps import Asked, Trigger
from tests.support.stories import Story

ALL = frozenset(Trigger)


def busy() -> Story:
    """Return a session at its sixth step."""
    return Story().run("a").run("b").run("c").run("d").run("e")


def asked(
    story: Story, *, through: int = 0, triggers: frozenset[Trigger] = ALL
) -> tuple[Asked, ...]:
    """Return what is asked at the step a story has come to."""
    scratchpad = story.scratchpad()
    return steps.asked(
        scratchpad=scratchpad,
        step=scratchpad.current_step,
        through=through,
        triggers=triggers,
    )


@pytest.mark.parametrize(
    ("story", "trigger"),
    [
        (busy().read("a.py"), Trigger.FILE_TOUCHED),
        (busy().edit("a.py"), Trigger.FILE_TOUCHED),
        (busy().call("mcp__cairn__add_memory", {"content": "x"}), Trigger.RECORDED),
        (busy().grep("mint"), Trigger.SEARCHED),
        (busy().glob("*.py"), Trigger.SEARCHED),
    ],
)
def test_a_trigger_asks(story: Story, trigger: Trigger) -> None:
    assert [one.trigger for one in asked(story)] == [trigger]


def test_triggers_come_in_their_order() -> None:
    story = busy().grep("mint").call("mcp__cairn__add_memory", {}).read("a.py")

    assert [one.trigger for one in asked(story)] == list(Trigger)


def test_only_touched_files_ask_unless_a_project_wants_more() -> None:
    story = busy().grep("mint").read("a.py")

    found = asked(story, triggers=steps.DEFAULT)

    assert [one.trigger for one in found] == [Trigger.FILE_TOUCHED]


@pytest.mark.parametrize(
    "story",
    [
        Story().read("a.py"),
        Story().read("a.py").read("b.py").read("c.py").edit("a.py"),
        busy().run("cat /etc/hosts"),
        busy().read("a.py").run("b").run("c"),
        busy(),
    ],
)
def test_nothing_new_about_files_asks_nothing(story: Story) -> None:
    assert asked(story, triggers=steps.DEFAULT) == ()


def test_what_an_earlier_step_looked_at_is_not_asked_again() -> None:
    story = busy().grep("mint").read("a.py")
    through = story.scratchpad().through

    assert asked(story, through=through) == ()
    assert asked(story.read("b.py"), through=through)[0].files == ("b.py",)


def test_the_last_three_searches_are_asked_with_the_newest_first() -> None:
    story = busy().grep("one").grep("two").grep("three").grep("four")

    assert asked(story)[0].patterns == ("four", "three", "two")
