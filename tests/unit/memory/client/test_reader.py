"""Transcripts: where they lie, what stands beside them, and how they are read."""

import json
import subprocess
import tracemalloc
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.client.transcripts import parsers, reader
from memory.client.transcripts.parsers import Parser
from memory.client.transcripts.reader import (
    BLOCK,
    FIRST_BLOCK,
    SOURCES,
    LineStatus,
    ReadLine,
    Transcript,
)

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
MAIN = "5f1c8f0e"
in_a_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def _rows(read: list[ReadLine]) -> list[dict[str, Any]]:
    return [row for one in read for row in (*one.turns, *one.events)]


def _all(path: Path, parser: Parser, **more: Any) -> list[ReadLine]:
    return list(reader.read(path=path, parser=parser, **more))


@pytest.mark.parametrize("name", PARSERS)
def test_reading_on_from_any_line_says_what_reading_at_once_says(name: str) -> None:
    whole = _all(FOLDER / name, PARSERS[name])

    for number, one in enumerate(whole, 1):
        stored = json.dumps(asdict(one.position))
        place = reader.position_of(json.loads(stored))
        rest = _all(FOLDER / name, PARSERS[name], start=place)
        assert _rows(rest) == _rows(whole[number:])


@pytest.mark.parametrize("name", PARSERS)
@in_a_folder
@given(junk=st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")), max_size=5))
def test_broken_lines_are_counted_and_cost_no_other_line(
    name: str, junk: list[bytes], tmp_path: Path
) -> None:
    broken = [b"{{" + raw for raw in junk]  # no JSON, whatever follows
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
    ended = _all(file, parsers.read_claude_code, start=first[-1].position)
    file.write_bytes(whole)

    rest = _all(file, parsers.read_claude_code, start=first[-1].position)

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


def _line(text: str, *, at: str = "2026-11-20T12:00:00Z", **more: Any) -> str:
    message = {"role": "assistant", "id": text, "content": [{"type": "text", "text": text}]}
    told = {"type": "assistant", "timestamp": at, "sessionId": MAIN, "message": message, **more}
    return json.dumps(told) + "\n"


@pytest.fixture
def main(tmp_path: Path) -> Transcript:
    """A session of Claude Code with two subagents, the second called before the first by name."""
    path = tmp_path / f"{MAIN}.jsonl"
    where = {"cwd": "/home/mia/shop", "gitBranch": "prices", "isSidechain": False}
    path.write_text(_line("Look at the cart.", **where))
    folder = tmp_path / MAIN / "subagents"
    folder.mkdir(parents=True)
    for name, at in (("agent-b2", "2026-11-20T12:01:00Z"), ("agent-a1", "2026-11-20T12:02:00Z")):
        aside = {"isSidechain": True, "agentId": name[6:], "cwd": "/home/mia/shop"}
        user = {"type": "user", "message": {"role": "user", "content": "Look into it."}}
        (folder / f"{name}.jsonl").write_text(
            _line("I was wrong about the cache.", at=at, **aside)
            + _line("", at=at, **aside, **user)
        )
    return Transcript(path=path, source=SOURCES["claude-code"], size=path.stat().st_size)


def test_subagents_are_of_the_same_session_in_the_order_in_which_they_began(
    main: Transcript,
) -> None:
    found = reader.subagents(of=main)
    later = reader.subagents(of=main, ranks={"agent-a1": 1, "agent-gone": 4})  # a rank stays

    assert [(one.path.stem, one.rank) for one in found] == [("agent-b2", 1), ("agent-a1", 2)]
    assert [(one.path.stem, one.rank) for one in later] == [("agent-a1", 1), ("agent-b2", 5)]
    assert {one.external_id for one in found} == {main.external_id} == {f"claude-code:{MAIN}"}
    assert len({one.key for one in (main, *found)}) == 3
    named = tuple(reader.named_transcripts(paths=(main.path.parent,), name="claude-code"))
    assert [one.path for one in named] == [main.path]


def test_subagent_without_a_whole_line_has_no_rank_yet(main: Transcript) -> None:
    path = main.path.with_suffix("") / "subagents" / "agent-00.jsonl"
    line = _line("Soon.", at="2026-11-20T11:00:00Z")
    path.write_text(line[:40])
    before = [one.path.stem for one in reader.subagents(of=main)]
    path.write_text(line.strip())  # whole, before its end has come

    assert before == ["agent-b2", "agent-a1"]
    assert reader.subagents(of=main)[0].path == path


def test_file_that_cannot_be_looked_at_hides_no_other(tmp_path: Path) -> None:
    folder = tmp_path / ".claude/projects/-shop"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").symlink_to(folder / "a.jsonl")
    (folder / "b.jsonl").symlink_to(folder / "gone")
    (folder / "c.jsonl").write_text(_line("x"))

    found = tuple(reader.find_transcripts(home=tmp_path))

    names = [(one.path.name, one.size > 0) for one in found]
    assert names == [("a.jsonl", False), ("c.jsonl", True)]


def test_what_a_subagent_says_is_a_thought_of_its_own_under_numbers_of_its_own(
    main: Transcript,
) -> None:
    lines = [
        _all(one.path, parsers.read_claude_code, rank=one.rank) for one in reader.subagents(of=main)
    ]

    rows = [[row for read in one for row in read.events] for one in lines]
    told = [[(row["kind"], row["agent"]) for row in one] for one in rows]
    assert told == [[("reasoning", "b2")], [("reasoning", "a1")]]
    numbers = [one[0]["sequence"] for one in rows]
    assert [number // BLOCK - FIRST_BLOCK // BLOCK for number in numbers] == [0, 1]
    assert max(numbers) < 2**31
    assert not any(read.turns for one in lines for read in one)


def test_lines_behind_the_numbers_of_a_subagent_are_counted_as_broken(tmp_path: Path) -> None:
    path = tmp_path / "agent-1.jsonl"
    path.write_text(_line("x") * 3)
    place = reader.Position(offset=len(_line("x")), line=BLOCK // 128 - 2)

    found = _all(path, parsers.read_claude_code, start=place, rank=1)

    assert [one.status for one in found] == [LineStatus.READ, LineStatus.BROKEN]


def test_main_agent_goes_on_after_a_subagent_in_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    call = [{"type": "tool_use", "id": "1", "name": "Read", "input": {"file_path": "a.py"}}]
    lines = (
        _line("x", isSidechain=side, message={"content": call, "id": "m"})
        for side in (False, True, False)
    )
    path.write_text("".join(lines))

    rows = _rows(_all(path, parsers.read_claude_code))

    called = [row.get("agent", "") for row in rows if row["kind"] == "tool_call"]
    assert called == ["", "sidechain", ""]


def test_where_the_work_was_is_told_without_secrets(main: Transcript, tmp_path: Path) -> None:
    folder = tmp_path / "shop" / "backend"
    folder.mkdir(parents=True)
    subprocess.run(("git", "init", "-q", tmp_path / "shop"), check=True)
    secret, commit = "ghp_" + "a1B2" * 9, "4f0e" * 10
    rollout, path = tmp_path / "rollout-1.jsonl", main.path.with_name("other.jsonl")
    git = {"branch": "prices", "commit_hash": commit, "repository_url": "x"}
    rollout.write_text(json.dumps({"type": "session_meta", "payload": {"cwd": "/w", "git": git}}))
    path.write_text(_line("x") + _line("y", cwd=str(folder), gitBranch=f"mine-{secret}"))

    plain = reader.work_place(transcript=main)
    masked = reader.work_place(transcript=Transcript(path=path, source=main.source, size=1))
    codex = reader.work_place(transcript=Transcript(path=rollout, source=SOURCES["codex"], size=1))

    assert (plain.cwd, plain.branch, plain.commit) == ("/home/mia/shop", "prices", "")
    assert (masked.cwd, plain.root) == (str(folder), "")
    assert Path(masked.root) == (tmp_path / "shop").resolve()
    assert secret not in masked.branch
    assert (codex.cwd, codex.branch, codex.commit) == ("/w", "prices", commit)
