"""Reading transcripts: broken, cut off, resumed, whatever they hold."""

import json
import tracemalloc
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.client.transcripts import parsers, reader
from memory.client.transcripts.parsers import Parser
from memory.client.transcripts.reader import LineStatus, Position, ReadLine

FOLDER = Path(__file__).with_name("transcripts")
PARSERS = {
    "claude_code_2.jsonl": parsers.read_claude_code,
    "rollout-2026.jsonl": parsers.read_codex,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
NAMES = ("type", "message", "payload", "content", "timestamp", "role", "usage", "input", "output")
KINDS = st.sampled_from(("user", "assistant", "event_msg", "response_item", "tool_use", "message"))
ODD = st.dictionaries(st.sampled_from(NAMES), KINDS | JSON, max_size=5)
in_a_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def _rows(read: list[ReadLine]) -> list[dict[str, Any]]:
    return [row for one in read for row in (*one.turns, *one.events)]


def _all(path: Path, parser: Parser, start: Position = reader.START) -> list[ReadLine]:
    return list(reader.read(path=path, parser=parser, start=start))


@pytest.mark.parametrize("name", PARSERS)
def test_reading_on_from_any_line_says_what_reading_at_once_says(name: str) -> None:
    whole = _all(FOLDER / name, PARSERS[name])

    for number, one in enumerate(whole, 1):
        stored = json.dumps(asdict(one.position))
        place = reader.position_of(json.loads(stored))
        rest = _all(FOLDER / name, PARSERS[name], place)
        assert _rows(rest) == _rows(whole[number:])


@pytest.mark.parametrize("name", PARSERS)
@in_a_folder
@given(junk=st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")), max_size=5))
def test_broken_lines_are_counted_and_cost_no_other_line(
    name: str, junk: list[bytes], tmp_path: Path
) -> None:
    broken = [b"{" + raw for raw in junk]
    file = tmp_path / name
    file.write_bytes(b"".join(line + b"\n" for line in broken) + (FOLDER / name).read_bytes())

    read = _all(file, PARSERS[name])

    assert sum(one.status is LineStatus.BROKEN for one in read) == len(broken)
    texts = [row.get("text") for row in _rows(read)]
    assert texts == [row.get("text") for row in _rows(_all(FOLDER / name, PARSERS[name]))]


@pytest.mark.parametrize("name", PARSERS)
@in_a_folder
@given(lines=st.lists(ODD, max_size=6))
def test_whatever_objects_a_line_holds_nothing_is_raised(
    name: str, lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    read = _all(file, PARSERS[name])

    assert len(read) == len(lines)
    numbers = [("kind" in row, row["sequence"]) for row in _rows(read)]
    assert len(set(numbers)) == len(numbers)
    assert all(json.dumps(row) for row in _rows(read))


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("missing", [20, 0], ids=["half a line", "a line without its end"])
def test_what_is_being_written_is_read_once_when_it_is_whole(
    tmp_path: Path, end: bytes, missing: int
) -> None:
    whole = end.join((FOLDER / "claude_code_2.jsonl").read_bytes().splitlines()) + end
    at = whole.index(end, len(whole) // 2)
    file = tmp_path / "session.jsonl"
    file.write_bytes(whole[: at - missing])
    first = _all(file, parsers.read_claude_code)
    file.write_bytes(whole[: at + len(end)])
    ended = _all(file, parsers.read_claude_code, first[-1].position)
    file.write_bytes(whole)

    rest = _all(file, parsers.read_claude_code, first[-1].position)

    assert len(ended) == (1 if missing else 0)  # an end that comes later is no line of its own
    assert [*first, *rest][-1].position.line == len(whole.splitlines())
    assert _rows([*first, *rest]) == _rows(_all(file, parsers.read_claude_code))


def test_line_that_is_too_long_is_passed_over_without_being_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "LINE_MOST", 1_000)
    file = tmp_path / "session.jsonl"
    long = json.dumps({"type": "user", "message": {"content": "x" * 5_000}})
    file.write_text(f'{long}\n{{"type": "user", "message": {{"content": "short"}}}}\n')

    read = _all(file, parsers.read_claude_code)

    assert [one.status for one in read] == [LineStatus.BROKEN, LineStatus.READ]
    assert read[1].turns[0]["text"] == "short"


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    line = json.dumps({"type": "user", "message": {"content": "word " * 200}}) + "\n"
    file = tmp_path / "session.jsonl"
    file.write_text(line * 800)
    tracemalloc.start()

    count = sum(1 for _ in reader.read(path=file, parser=parsers.read_claude_code))

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 800
    assert peak < file.stat().st_size / 2
