"""Transcripts of Claude Code, of two of its versions."""

from pathlib import Path
from typing import Any

import pytest

from memory.client.transcripts import claude_code, entries, reader
from memory.client.transcripts.entries import STRIDE
from memory.client.transcripts.reader import LineStatus, ReadLine
from memory.sessions import events as session_events

FOLDER = Path(__file__).with_name("transcripts")


def _read(name: str) -> list[ReadLine]:
    return list(reader.read(path=FOLDER / name, parser=claude_code.read))


def _turns(name: str) -> list[tuple[str, str]]:
    return [(row["role"], row["text"]) for one in _read(name) for row in one.turns]


def _events(name: str, kind: str) -> list[dict[str, Any]]:
    rows = [row for one in _read(name) for row in one.events]
    return [row for row in rows if row["kind"] == kind]


def test_what_people_and_agent_said_becomes_turns_and_nothing_else_does() -> None:
    assert _turns("claude_code_2.jsonl") == [
        ("user", "The cart tests see old prices.  Find out why."),
        ("assistant", "I look at the price service."),
        ("assistant", "Prices are cached for 30 s."),
    ]


def test_tools_are_told_by_paths_from_the_folder_of_the_work_and_edits_by_digests() -> None:
    read, edit, _ = _events("claude_code_2.jsonl", "tool_call")

    assert (read["name"], read["call"]) == ("Read", "toolu_1")
    assert read["args"] == {"path": "cart/prices.py", "line": 10}
    assert edit["args"]["path"] == "cart/prices.py"
    assert edit["args"]["before"] != edit["args"]["after"]
    assert "CACHE" not in str(edit)


def test_results_say_what_came_and_whether_it_failed_but_not_what_we_said_ourselves() -> None:
    first, second, ours = _events("claude_code_2.jsonl", "tool_result")

    assert (first["text"], first.get("is_error")) == ("CACHE_SECONDS = 30", None)
    assert second["is_error"] is True
    assert "text" not in ours


def test_an_answer_over_several_lines_is_one_step_completed_by_the_next() -> None:
    steps = _events("claude_code_2.jsonl", "step_complete")

    assert [row["tokens"] for row in steps] == [50, 15, 15]


def test_kind_that_nobody_knows_is_kept_by_its_name_alone() -> None:
    unknown = [one for one in _read("claude_code_2.jsonl") if one.status is LineStatus.UNKNOWN]

    assert [row["kind"] for one in unknown for row in one.events] == ["hologram"]
    assert "cube" not in str(unknown)


def test_sequence_follows_from_the_line() -> None:
    for number, one in enumerate(_read("claude_code_2.jsonl"), 1):
        for row in (*one.turns, *one.events):
            assert row["sequence"] // STRIDE == number


def test_the_first_version_is_read_too_with_its_side_chains() -> None:
    assert _turns("claude_code_1.jsonl") == [
        ("user", "Why are prices old?"),
        ("assistant", "They are cached."),
    ]
    (call,) = _events("claude_code_1.jsonl", "tool_call")
    assert call["args"] == {"command": "cat cart/prices.py"}
    assert call["agent"] == "sidechain"


@pytest.mark.parametrize(
    ("name", "is_own"),
    [
        ("mcp__cairn__search", True),
        ("mcp__plugin_cairn_cairn__search", True),
        ("cairn.search", True),
        ("mcp_cairn_search", True),
        ("mcp__plugin_evil_cairn__search", False),
        ("mcp__cairnish__search", False),
        ("Bash", False),
    ],
)
def test_tools_of_ours_are_known_by_every_name_that_programs_give_them(
    name: str, is_own: bool
) -> None:
    assert entries.is_own(name=name) is is_own


def test_of_a_command_as_much_is_told_as_the_server_keeps() -> None:
    command = f"git commit -m '{'The cart is locked. ' * 30}' && curl https://example.org/prices"

    told = entries.arguments(given={"command": command, "path": "a" * 900}, root="")

    assert told["command"] == command
    assert len(str(told["path"])) == entries.TARGET_MOST
    assert entries.COMMAND_MOST == session_events.COMMAND_MOST
