"""Transcripts: where they lie, what lines become, and that they hold no secret."""

import json
import random
import subprocess
import tracemalloc
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.client import masking
from memory.client.transcripts import parsers, reader
from memory.client.transcripts.parsers import STRIDE, Parser
from memory.client.transcripts.reader import (
    BLOCK,
    FIRST_BLOCK,
    SOURCES,
    LineStatus,
    ReadLine,
    Transcript,
)
from memory.observer import dead_ends, effort_signals
from memory.sessions import events as session_events
from memory.sessions import reducers
from memory.sessions.scratchpad import Setting
from tests.support import secret_kinds
from tests.support.stories import read_events

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
def test_broken_lines_cost_no_other_line(name: str, junk: list[bytes], tmp_path: Path) -> None:
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
def test_no_object_of_a_line_raises(name: str, lines: list[dict[str, Any]], tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    read = _all(file, PARSERS[name])

    assert len(read) == len(lines)
    numbers = [("kind" in row, row["sequence"]) for row in _rows(read)]
    assert len(set(numbers)) == len(numbers)
    assert all(json.dumps(row) for row in _rows(read))


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("missing", [20, 0], ids=["half a line", "a line without its end"])
def test_what_is_being_written_is_read_once(tmp_path: Path, end: bytes, missing: int) -> None:
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


def test_too_long_a_line_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_subagents_are_of_the_same_session_in_their_order(main: Transcript) -> None:
    found = reader.subagents(of=main)
    later = reader.subagents(of=main, ranks={"agent-a1": 1, "agent-gone": 4})  # a rank stays

    assert [(one.path.stem, one.rank) for one in found] == [("agent-b2", 1), ("agent-a1", 2)]
    assert [(one.path.stem, one.rank) for one in later] == [("agent-a1", 1), ("agent-b2", 5)]
    assert {one.external_id for one in found} == {main.external_id} == {f"claude-code/{MAIN}"}
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


def test_what_a_subagent_says_is_a_thought_of_its_own(main: Transcript) -> None:
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
def test_what_is_said_aloud_is_a_turn_and_a_thought(name: str) -> None:
    turns = {row["sequence"]: row["text"] for one in _read(name) for row in one.turns}
    rows = tuple(row for one in _read(name) for row in one.events)
    pad = reducers.rebuild(setting=Setting(root="/home/mia/shop"), events=read_events(rows))

    thoughts = _events(name, "reasoning")
    aloud = {row["sequence"]: row["text"] for row in thoughts if row["sequence"] in turns}
    assert set(aloud.values()) >= {WRONG, ENDED}
    assert aloud.items() <= turns.items()
    assert "The cart tests see old prices. Find out why." not in aloud.values()
    (ended,) = dead_ends.find_dead_ends(scratchpad=pad)
    (corrected,) = effort_signals.find_self_correction(scratchpad=pad)
    assert ended.why_it_failed.startswith(ENDED)
    assert (ended.approach, ended.alternative) == ("the mail server", "")
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


DRAW = random.Random(8)


def test_value_is_taken_out_and_what_is_around_it_stays() -> None:
    value = secret_kinds.filled(form="{A12}7x{A12}", draw=DRAW)
    words = f"It looks for -----END {'PRIVATE'} KEY----- in the file."

    masked = masking.mask(text=f"before DB_PASSWORD={value} after")
    named = masking.mask(text="api_key=>tractor1token: Tractor!4711vio rest")

    assert masked.text == "before DB_PASSWORD=[redacted: assigned_secret] after"
    assert masked.kinds == ("assigned_secret",)
    assert named.text == "api_key=>[redacted: assigned_secret] [redacted: assigned_secret] rest"
    assert masking.mask(text=words).text == words


def _key(lines: int) -> str:
    body = "\n".join(secret_kinds.filled(form="{b64}", draw=DRAW) for _ in range(lines))
    return f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{body}\n-----END RSA {'PRIVATE'} KEY-----"


def test_private_key_that_begins_before_the_tail_of_a_cut_text_is_taken_out() -> None:
    key = _key(50)
    before = ("word " * 3_600)[: 18_000 - len(key) - 1_200]

    kept = parsers.masked(text=f"{before}{key}{' after' * 200}", most=12_000).text

    assert len(kept) == 12_000
    assert kept.endswith(" after")
    assert not [line for line in key.splitlines() if line in kept]


@pytest.mark.parametrize("between", ["\n", "\\n", "\n   12\u2192", '",\n  "'])
def test_private_key_without_its_beginning_is_taken_out(between: str) -> None:
    lines = _key(9).splitlines()[3:]
    short = [*lines[:-1], "aB3=", lines[-1]]

    masked = masking.mask(text=f"The rest is: {between.join(short)} and so on")

    assert masked.kinds == ("private_key",)
    assert masked.text.startswith("The rest is: ")
    assert masked.text.endswith(" and so on")
    assert not [line for line in short if line in masked.text]


def test_what_lies_behind_the_bound_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers, "SCANNED_MOST", 2_000)
    value = secret_kinds.filled(form="ghp_{A36}", draw=DRAW)

    kept = parsers.masked(text=f"{'word ' * 396}{value} {'more ' * 2_000}", most=1_900).text

    assert value[4:12] not in kept
    assert "more" not in kept


@given(before=st.integers(0, 3_000), length=st.integers(20, 60))
def test_no_half_of_a_secret_is_left_where_a_text_is_cut(before: int, length: int) -> None:
    value = secret_kinds.filled(form=f"ghp_{{A{length + 30}}}", draw=random.Random(length))
    text = f"{'word ' * (before // 5)}{value} {'word ' * 2_000}"

    kept = parsers.masked(text=text, most=1_000).text

    assert len(kept) <= 1_000
    assert value[4:24] not in kept


@given(text=st.text(max_size=300))
def test_masking_twice_is_masking_once(text: str) -> None:
    once = masking.mask(text=text).text

    assert masking.mask(text=once).text == once
