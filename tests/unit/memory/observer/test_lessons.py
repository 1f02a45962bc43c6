"""What a session showed that its agent is asked about, and what is ordinary work."""

from typing import Any

import pytest

from memory.observer.lessons import LESSONS_MOST, SAID_MOST, TOKENS_MOST, find_lessons, question
from memory.sessions import reducers
from memory.sessions.scratchpad import Setting
from memory.text import tokens
from tests.support.agent_runs import in_order
from tests.support.stories import read_events

Rows = tuple[dict[str, Any], ...]


def ran(command: str, error: str = "") -> Rows:
    """Return a command and what came of it."""
    call = {"kind": "tool_call", "name": "Bash", "call": command, "args": {"command": command}}
    result = {"kind": "tool_result", "call": command, "text": error, "is_error": bool(error)}
    return call, result


def edited(before: str, after: str) -> Rows:
    """Return an edit of the same place of a file."""
    args = {"path": "src/tax.py", "before": before, "after": after}
    call = {"kind": "tool_call", "name": "Edit", "call": f"{before}{after}", "args": args}
    return call, {"kind": "tool_result", "call": f"{before}{after}", "text": ""}


def said(kind: str, text: str) -> Rows:
    """Return what a person or the agent says."""
    return ({"kind": kind, "text": text},)


PUSH = (*ran("git push", "Exit code 1\nfatal: no upstream branch"), *ran("git push -u origin x"))
PROMPT = said("prompt", "Add the tax.")


@pytest.mark.parametrize(
    ("events", "kinds"),
    [
        (PUSH, ["fixed"]),
        ((*PROMPT, *said("prompt", "No, never edit gen by hand.")), ["corrected"]),
        ((*edited("a", "b"), *edited("b", "a")), ["taken_back"]),
        ((*ran("pytest -q", "1 failed"), *edited("a", "b"), *ran("pytest  -q")), []),
        ((*PROMPT, *ran("ls"), *edited("a", "b")), []),
        ((*PROMPT, *said("prompt", "No, use uv."), *PUSH), ["corrected", "fixed"]),
    ],
)
def test_evidence_is_told_most_telling_first_and_ordinary_work_is_none(
    events: Rows, kinds: list[str]
) -> None:
    scratchpad = reducers.rebuild(setting=Setting(), events=read_events(in_order(*events)))

    assert [one.kind.value for one in find_lessons(scratchpad=scratchpad)] == kinds


def test_a_question_keeps_to_its_tokens_whatever_was_said() -> None:
    corrections = [said("prompt", f"No, {word} " * 200) for word in ("ähnlich", "0x1f", "use", "x")]
    events = in_order(*PROMPT, *(one for rows in corrections for one in rows), *PUSH)
    scratchpad = reducers.rebuild(setting=Setting(), events=read_events(events))

    found = find_lessons(scratchpad=scratchpad)
    text = question(lessons=found, project="a-project-with-a-name-that-is-long")

    assert len(found) == LESSONS_MOST
    assert all(len(one.says) <= SAID_MOST for one in found)
    assert tokens.count(text=text) <= TOKENS_MOST
    assert "add_memory" in text
    assert question(lessons=(), project="shop") == ""
