"""A dead end needs words and a try; entering a known one needs a deed, not reading or refusing."""

import pytest

from memory.observer import reentered_dead_ends
from memory.observer.reentered_dead_ends import CALLS_APART, How, KnownEnd, Reentry
from tests.support.stories import Story

ID = "7"
BROWSER = KnownEnd(id=ID, content="Caching prices in the browser failed: shoppers saw stale ones.")
AUDIT = KnownEnd(
    id=ID, content="It broke the lock file.", approach="running `npm audit fix --force`"
)
SAVEPOINTS = KnownEnd(
    id=ID,
    content="Changing imports/run.py did not work. This approach won't work because the driver "
    "has no savepoints.",
    approach="changing imports/run.py",
)
TESTED = KnownEnd(id=ID, content="x", approach="running `pytest imports -x`")
WONT = "This approach won't work because the driver has no savepoints."
GOES = "Let me cache prices in the browser."


def _found(story: Story, known: KnownEnd, *said: tuple[int, str]) -> tuple[Reentry, ...]:
    return reentered_dead_ends.find(scratchpad=story.scratchpad(), said=said, known=(known,))


@pytest.mark.parametrize(
    ("story", "known", "said", "how"),
    [
        (
            Story().run("cd web && npm audit fix --force").run("npm audit fix --force"),
            AUDIT, (), How.RAN,
        ),
        (Story().say(GOES).edit("shop/prices.ts"), BROWSER, ((1, GOES),), How.WENT),
        (
            Story().edit("imports/log.py")
            .say("This approach won't work because this driver has no savepoints either."),
            SAVEPOINTS, (), How.GAVE_UP,
        ),
        (
            Story().edit("a").event("commit", text="Cache the prices in the browser"),
            BROWSER, (), How.COMMITTED,
        ),
    ],
)  # fmt: skip
def test_doing_it_again_is_an_entry_once(
    story: Story, known: KnownEnd, said: tuple[tuple[int, str], ...], how: How
) -> None:
    (found,) = _found(story, known, *said)

    assert (found.memory_id, found.how) == (ID, how)
    assert how is not How.WENT or found.sequence == 1


@pytest.mark.parametrize(
    ("story", "said", "known"),
    [
        (Story().run("npm audit"), "", AUDIT),
        (Story().run("npm install"), "", AUDIT),
        (Story().say(GOES), GOES, BROWSER),
        (Story().say("x").read("a"), GOES, BROWSER),
        (Story().say("x").edit("a"), "Caching prices in the browser failed.", BROWSER),
        (Story().say("x").edit("a"), "I'll not cache prices in the browser.", BROWSER),
        (Story().say("x").edit("a"), "Let me cache the images on disk.", BROWSER),
        (Story().edit("imports/run.py"), "", SAVEPOINTS),
        (Story().fails("pytest imports -x", "FAILED"), "", TESTED),
    ],
)
def test_what_is_no_entry(story: Story, said: str, known: KnownEnd) -> None:
    assert _found(story, known, (1, said)) == ()


def test_an_intention_is_followed_by_the_next_calls_alone() -> None:
    story = Story().read("a").say(GOES)
    said = (len(story.rows), GOES)
    for _ in range(CALLS_APART):
        story.read("a")
    far = story.edit("shop/prices.ts")

    assert _found(far, BROWSER, said) == ()


def test_a_dead_end_says_what_failed_and_what_came_instead() -> None:
    story = Story().prompt("Make imports resumable\nplease").edit("imports/run.py")
    story.fails("pytest imports", "NotSupportedError: savepoints").say(WONT).edit("imports/log.py")

    (found,) = reentered_dead_ends.find_dead_ends(scratchpad=story.scratchpad())

    assert found.approach == "running `pytest imports`"
    assert found.why_it_failed == f"{WONT} NotSupportedError: savepoints"
    assert found.alternative == "changing imports/log.py"
    assert found.task == "Make imports resumable"
    assert found.files == ("imports/run.py",)


def test_words_after_a_try_are_one_and_words_alone_are_none() -> None:
    for story in (
        Story().edit("a").say("Let me try a different approach."),
        Story().run("docker ps").say("Docker is not available in this environment."),
        Story().fails("make", "error: x").say("I need to abandon this."),
    ):
        assert len(reentered_dead_ends.find_dead_ends(scratchpad=story.scratchpad())) == 1
    for story in (
        Story().say(WONT),
        Story().read("a").say(WONT).edit("a"),
        Story().edit("a").say("This approach works."),
        Story().edit("a").by("sub").say(WONT),
    ):
        assert reentered_dead_ends.find_dead_ends(scratchpad=story.scratchpad()) == ()


def test_who_gives_up_and_says_what_comes_instead_gave_up_once() -> None:
    story = Story().edit("a.py").say(f"{WONT} Let me try a different approach: a log.")

    (found,) = reentered_dead_ends.find_dead_ends(scratchpad=story.scratchpad())

    assert found.why_it_failed.startswith(WONT)
