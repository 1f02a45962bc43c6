"""Transcripts of Claude Code and of Codex, of two versions each: what their lines become."""

from pathlib import Path
from typing import Any

import pytest

from memory.client.transcripts import parsers, reader
from memory.client.transcripts.parsers import STRIDE, Parser
from memory.client.transcripts.reader import LineStatus, ReadLine
from memory.observer import effort_signals, reentered_dead_ends
from memory.sessions import events as session_events
from memory.sessions import reducers
from memory.sessions.scratchpad import Setting
from tests.support.stories import read_events

FOLDER = Path(__file__).with_name("transcripts")
CLAUDE = "claude_code_2_aloud.jsonl"
CODEX = "rollout-2026-aloud.jsonl"
WRONG = "I was wrong about the cache. Prices are kept in the session."
ENDED = "This approach won't work: the mail server is not available in this sandbox."
CONTEXT = "<environment_context>\n  <cwd>/work/shop</cwd>\n</environment_context>"

both = pytest.mark.parametrize("name", [CLAUDE, CODEX])


def _read(name: str) -> list[ReadLine]:
    parser: Parser = parsers.read_codex if name.startswith("rollout") else parsers.read_claude_code
    return list(reader.read(path=FOLDER / name, parser=parser))


def _turns(name: str) -> list[tuple[str, str]]:
    return [(row["role"], row["text"]) for one in _read(name) for row in one.turns]


def _events(name: str, kind: str) -> list[dict[str, Any]]:
    rows = [row for one in _read(name) for row in one.events]
    return [row for row in rows if row["kind"] == kind]


def test_what_people_and_agent_said_and_did_becomes_turns_and_events() -> None:
    name = "claude_code_2.jsonl"
    read, edit, _ = _events(name, "tool_call")
    first, second, ours = _events(name, "tool_result")

    assert _turns(name) == [
        ("user", "The cart tests see old prices.  Find out why."),
        ("assistant", "I look at the price service."),
        ("assistant", "Prices are cached for 30 s."),
    ]
    # Paths begin at the folder of the work, and edits are told by digests.
    assert (read["name"], read["call"]) == ("Read", "toolu_1")
    assert read["args"] == {"path": "cart/prices.py", "line": 10}
    assert edit["args"]["path"] == "cart/prices.py"
    assert edit["args"]["before"] != edit["args"]["after"]
    assert "CACHE" not in str(edit)
    assert (first["text"], first.get("is_error")) == ("CACHE_SECONDS = 30", None)
    assert second["is_error"] is True
    assert "text" not in ours  # what Cairn itself said
    # An answer over several lines is one step, completed by the next.
    assert [row["tokens"] for row in _events(name, "step_complete")] == [50, 15, 15]
    for number, one in enumerate(_read(name), 1):
        assert {row["sequence"] // STRIDE for row in (*one.turns, *one.events)} <= {number}


def test_kinds_that_nobody_knows_are_kept_by_their_names_alone() -> None:
    known = {"claude_code_2.jsonl": ["hologram"], "rollout-2026.jsonl": ["hologram", "telepathy"]}

    for name, kinds in known.items():
        unknown = [one for one in _read(name) if one.status is LineStatus.UNKNOWN]
        assert [row["kind"] for one in unknown for row in one.events] == kinds
        assert "cube" not in str(unknown)


def test_the_first_versions_are_read_too() -> None:
    for name in ("claude_code_1.jsonl", "rollout-2025.jsonl"):
        assert _turns(name) == [("user", "Why are prices old?"), ("assistant", "They are cached.")]
    (claude,), (codex,) = (
        _events(name, "tool_call") for name in ("claude_code_1.jsonl", "rollout-2025.jsonl")
    )
    (result,) = _events("rollout-2025.jsonl", "tool_result")
    assert (claude["args"], claude["agent"]) == ({"command": "cat cart/prices.py"}, "sidechain")
    assert codex["args"] == {"command": "bash -lc pytest"}
    assert (result["text"], result["is_error"]) == ("1 failed", True)


def test_tools_of_ours_are_known_by_every_name_that_programs_give_them() -> None:
    ours = ("mcp__cairn__search", "mcp__plugin_cairn_cairn__search", "cairn.search")
    others = ("mcp__plugin_evil_cairn__search", "mcp__cairnish__search")

    assert all(parsers.is_own(name=name) for name in ours)
    assert not any(parsers.is_own(name=name) for name in others)


def test_of_a_command_as_much_is_told_as_the_server_keeps() -> None:
    command = f"git commit -m '{'The cart is locked. ' * 30}' && curl https://example.org/prices"

    told = parsers.arguments(given={"command": command, "path": "a" * 900}, root="")

    assert told["command"] == command
    assert len(str(told["path"])) == parsers.TARGET_MOST
    assert parsers.COMMAND_MOST == session_events.COMMAND_MOST


def test_what_stands_in_messages_and_in_items_is_said_once_and_what_is_said_twice_twice() -> None:
    assert _turns("rollout-2026.jsonl") == [
        ("user", "Why are prices old?"),
        ("assistant", "Prices are cached for 30 s."),
        ("user", "go on"),
        ("user", "go on"),
    ]
    assert [row["text"] for row in _events("rollout-2026.jsonl", "reasoning")] == [
        "Perhaps a cache.",
        "Prices are cached for 30 s.",
    ]


def test_calls_and_their_results_are_paired_and_exit_codes_tell_failures() -> None:
    run, patch = _events("rollout-2026.jsonl", "tool_call")
    failed, done = _events("rollout-2026.jsonl", "tool_result")

    assert (run["name"], run["args"]) == ("exec_command", {"command": "cat cart/prices.py"})
    assert (failed["call"], failed["is_error"]) == (run["call"], True)
    assert (done["call"], done.get("is_error"), done["text"]) == (patch["call"], None, "Success")
    assert patch["args"]["path"] == "cart/prices.py"
    assert patch["args"]["before"] != patch["args"]["after"]
    assert "CACHE" not in str(patch)
    assert [row["tokens"] for row in _events("rollout-2026.jsonl", "step_complete")] == [120]


def test_folder_of_the_work_is_told_by_whoever_knows_it() -> None:
    def cwd(**line: Any) -> str:
        return parsers.place_of_codex(line).cwd

    assert cwd(type="session_meta", payload={"cwd": "/work/shop"}) == "/work/shop"
    assert cwd(type="message", content=[{"text": CONTEXT}]) == "/work/shop"
    assert cwd(type="message", content=[{"text": f"Why does it say {CONTEXT}?"}]) == ""
    assert cwd(type="session_meta", payload={"cwd": 3}) == ""


@both
def test_what_is_said_aloud_is_a_turn_and_a_thought_and_its_lessons_are_seen_once(
    name: str,
) -> None:
    turns = {row["sequence"]: row["text"] for one in _read(name) for row in one.turns}
    rows = tuple(row for one in _read(name) for row in one.events)
    pad = reducers.rebuild(setting=Setting(root="/home/mia/shop"), events=read_events(rows))

    thoughts = _events(name, "reasoning")
    aloud = {row["sequence"]: row["text"] for row in thoughts if row["sequence"] in turns}
    assert set(aloud.values()) >= {WRONG, ENDED}
    assert aloud.items() <= turns.items()
    assert "The cart tests see old prices. Find out why." not in aloud.values()
    (ended,) = reentered_dead_ends.find_dead_ends(scratchpad=pad)
    (corrected,) = effort_signals.find_self_correction(scratchpad=pad)
    assert ended.why_it_failed.startswith(ENDED)
    assert ended.approach == "running `pytest tests/mail`"
    assert ended.alternative == "running `pytest tests/cart`"
    assert (corrected.times, dict(corrected.details)["text"]) == (1, WRONG)
    assert pad.missing == 0


def test_a_secret_said_aloud_is_taken_out_of_both_and_counted_once(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    told = (FOLDER / CLAUDE).read_text().splitlines()[1]
    spoken = f"The {'pass' + 'word'}={'Tr0ub4dor' + 'x9Kq2Lm'} is in the settings."
    file.write_text(told.replace("I look at the price service.", spoken))

    (one,) = reader.read(path=file, parser=parsers.read_claude_code)

    assert one.turns[0]["text"] == one.events[0]["text"] != spoken
    assert len(one.masked) == 1
