"""What reducers note of events: outside content by its order, errors by their fingerprint."""

import pytest

from memory.observer import file_signals
from memory.sessions import reducers
from memory.sessions.scratchpad import taint_of
from tests.support.stories import Story


def taint(story: Story) -> str:
    """Return why the one pair of files that a story changes is tainted."""
    scratchpad = story.scratchpad()
    (sighting,) = file_signals.find_co_access(scratchpad=scratchpad)
    return taint_of(last_sequence=sighting.last_sequence, scratchpad=scratchpad)


@pytest.mark.parametrize(
    ("story", "reason"),
    [
        (Story().edit("a").edit("b"), ""),
        (Story().edit("a").edit("b").fetch("https://x.example/"), ""),
        (Story().edit("a").edit("b").run("gh issue view 3"), ""),
        (Story().fetch("https://x.example/").edit("a").edit("b"), "web: x.example"),
        (Story().edit("a").run("gh pr view 3").edit("b"), "issue or mail: gh pr"),
        (Story().call("mcp__jira__get", {}).edit("a").edit("b"), "issue or mail: jira"),
        (Story().run("cat /tmp/notes.txt").edit("a").edit("b"), "outside file: /tmp/notes.txt"),
    ],
)
def test_what_came_after_outside_content_is_tainted_and_what_came_before_is_clean(
    story: Story, reason: str
) -> None:
    assert taint(story) == reason


def main_and_aside(*, sends: str) -> tuple[str, ...]:
    """Return by what the main agent's words are tainted; its subagent read a page meanwhile."""
    story = Story().event("tool_call", sequence=128, name=sends)
    for sequence in (256, 384):
        story.event("reasoning", sequence=sequence, text="Always run it from the release folder.")
    story.by("aside").event(
        "tool_call", sequence=reducers.FIRST_BLOCK + 1, name="WebFetch",
        args={"url": "https://evil.example/"},
    )  # fmt: skip
    scratchpad = story.scratchpad()
    return tuple(taint_of(last_sequence=one, scratchpad=scratchpad) for one in (128, 256, 384))


def test_what_a_subagent_saw_taints_since_it_was_sent_or_all_where_nobody_knows_when() -> None:
    for name in ("Task", "Agent", "spawn_agent"):
        assert main_and_aside(sends=name) == ("", "web: evil.example", "web: evil.example")
    assert set(main_and_aside(sends="TodoWrite")) == {"web: evil.example"}


def test_what_the_main_agent_saw_later_does_not_hide_what_a_subagent_saw() -> None:
    story = Story().call("Task", {}).say("Looking.").fetch("https://x.example/")
    alone = story.scratchpad().taint
    story.event(
        "tool_call",
        sequence=reducers.FIRST_BLOCK + 1,
        agent="aside",
        name="WebFetch",
        args={"url": "https://evil.example/"},
    )
    both = story.scratchpad().taint

    assert alone is not None
    assert both is not None
    assert (both.sequence, both.reason) == (1, "web: evil.example")
    assert alone.sequence > both.sequence


def test_a_subagent_that_is_told_of_as_it_works_taints_what_comes_after_it() -> None:
    story = Story().edit("a").edit("b").by("aside").fetch("https://evil.example/").by("")

    assert taint(story) == ""
    assert taint(story.edit("b")) == "web: evil.example"


TRACE = """Traceback (most recent call last):
  File "/work/a.py", line {line}, in run
    raise KeyError(name)
KeyError: '{name}'
"""


def digest(text: str, program: str = "pytest") -> str:
    """Return the digest of an output."""
    return reducers.fingerprint_of(program=program, text=text)[0]


def test_an_error_is_the_same_whatever_its_numbers_paths_and_values() -> None:
    first, again = TRACE.format(line=3, name="a"), TRACE.format(line=99, name="b")

    assert digest(first) == digest(again)
    assert digest("No such file: /tmp/a1/x.py") == digest("No such file: /srv/b/y.py")
    assert digest("KeyError: 'a'") != digest("ValueError: 'a'")
    assert digest("permission denied", "git push") != digest("permission denied", "docker run")
    assert digest("a." * 8_000) != digest("\n" * 16_000)  # and long outputs stay linear
    assert reducers.fingerprint_of(program="python", text=first)[1] == "KeyError: 'a'"


def test_failure_is_told_by_exit_code_or_count() -> None:
    for text in ("3 failed, 2 passed", "--- FAIL: TestMint", "Exit code 1\nboom"):
        assert reducers.says_failure(text=text, is_test=True), text
    assert reducers.says_failure(text="Exit code 1\nboom", is_test=False)
    assert not reducers.says_failure(text="0 failed, 2 passed", is_test=True)
    for text in ("Exit code 0", "grep found: 3 failed"):
        assert not reducers.says_failure(text=text, is_test=False), text
