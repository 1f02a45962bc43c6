"""Signal 3: errors that were tried again, and what resolved them."""

import pytest

from memory.observer import detections
from memory.observer.signals import error_retry
from tests.support.stories import Story


@pytest.mark.parametrize(
    ("story", "resolved", "how"),
    [
        (
            Story().fails("pytest a", "KeyError: 'X'").edit("a.py").run("pytest a"),
            "yes",
            "after a change of a.py",
        ),
        (
            Story().fails("npm install", "npm ERR! 404 not found").run("npm install --legacy"),
            "yes",
            "as `npm install --legacy`",
        ),
        (Story().fails("git push", "error: timed out").run("git push"), "yes", "when tried again"),
        (Story().fails("make all", "error: x").fails("make all", "error: x"), "no", ""),
        (Story().edit("a.py", is_error=True).edit("a.py"), "yes", "when tried again"),
    ],
)
def test_it_is_seen_with_what_resolved_it(story: Story, resolved: str, how: str) -> None:
    found = error_retry.find(scratchpad=story.scratchpad())

    assert len(found) == 1
    assert detections.detail(sighting=found[0], name="resolved") == resolved
    assert detections.detail(sighting=found[0], name="how") == how


@pytest.mark.parametrize(
    "story",
    [
        Story().fails("pytest a", "KeyError: 'X'"),
        Story().fails("pytest a", "KeyError: 'X'").run("npm install"),
        Story().run("pytest a").run("pytest a"),
        Story().edit("a.py", is_error=True).edit("b.py"),
        Story().call("Bash", {"command": "rm x"}, text="The user doesn't want to proceed",
                     is_error=True).run("rm x"),
    ],
)  # fmt: skip
def test_it_is_not_seen(story: Story) -> None:
    assert error_retry.find(scratchpad=story.scratchpad()) == ()


def test_the_same_error_again_is_one_sighting_with_its_evidence() -> None:
    story = Story().fails("pytest a", "KeyError: 'X'").fails("pytest a", "KeyError: 'Y'")

    found = error_retry.find(scratchpad=story.run("pytest a").scratchpad())

    assert found[0].times == 2
    assert [each.sequence for each in found[0].evidence] == [1, 4, 7]
