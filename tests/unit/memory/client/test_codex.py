"""Transcripts of Codex, of two of its versions."""

from pathlib import Path
from typing import Any

import pytest

from memory.client.transcripts import codex, reader
from memory.client.transcripts.reader import LineStatus, ReadLine

FOLDER = Path(__file__).with_name("transcripts")
CONTEXT = "<environment_context>\n  <cwd>/work/shop</cwd>\n</environment_context>"


def _read(name: str) -> list[ReadLine]:
    return list(reader.read(path=FOLDER / name, parser=codex.read))


def _turns(name: str) -> list[tuple[str, str]]:
    return [(row["role"], row["text"]) for one in _read(name) for row in one.turns]


def _events(name: str, kind: str) -> list[dict[str, Any]]:
    rows = [row for one in _read(name) for row in one.events]
    return [row for row in rows if row["kind"] == kind]


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


def test_patch_names_its_file_and_tells_its_sides_by_digests() -> None:
    patch = _events("rollout-2026.jsonl", "tool_call")[1]

    assert patch["args"]["path"] == "cart/prices.py"
    assert patch["args"]["before"] != patch["args"]["after"]
    assert "CACHE" not in str(patch)


def test_count_of_tokens_completes_a_step() -> None:
    assert [row["tokens"] for row in _events("rollout-2026.jsonl", "step_complete")] == [120]


def test_kinds_that_nobody_knows_are_kept_by_their_names() -> None:
    unknown = [one for one in _read("rollout-2026.jsonl") if one.status is LineStatus.UNKNOWN]

    assert [row["kind"] for one in unknown for row in one.events] == ["hologram", "telepathy"]


def test_bare_items_of_the_first_version_are_read_too() -> None:
    assert _turns("rollout-2025.jsonl") == [
        ("user", "Why are prices old?"),
        ("assistant", "They are cached."),
    ]
    (call,), (result,) = (
        _events("rollout-2025.jsonl", kind) for kind in ("tool_call", "tool_result")
    )
    assert call["args"] == {"command": "bash -lc pytest"}
    assert (result["text"], result["is_error"]) == ("1 failed", True)


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ({"type": "session_meta", "payload": {"cwd": "/work/shop"}}, "/work/shop"),
        ({"type": "message", "content": [{"text": CONTEXT}]}, "/work/shop"),
        ({"type": "message", "content": [{"text": f"Why does it say {CONTEXT}?"}]}, ""),
        ({"type": "session_meta", "payload": {"cwd": 3}}, ""),
    ],
)
def test_folder_of_the_work_is_told_by_whoever_knows_it(line: dict[str, Any], folder: str) -> None:
    assert codex.work_place(line).cwd == folder
