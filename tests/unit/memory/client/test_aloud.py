"""What an agent says aloud between two calls of tools is a turn, and reasoning too."""

from pathlib import Path
from typing import Any

import pytest

from memory.client.transcripts import claude_code, codex, reader
from memory.client.transcripts.entries import Parser
from memory.client.transcripts.reader import ReadLine
from memory.observer import dead_ends
from memory.observer.signals import failures
from memory.sessions import event_parsing as events
from memory.sessions import fold
from memory.sessions.scratchpad import Scratchpad, Setting

FOLDER = Path(__file__).with_name("transcripts")
CLAUDE = ("claude_code_2_aloud.jsonl", claude_code.read)
CODEX = ("rollout-2026-aloud.jsonl", codex.read)
WRONG = "I was wrong about the cache. Prices are kept in the session."
ENDED = "This approach won't work: the mail server is not available in this sandbox."

both = pytest.mark.parametrize(("name", "parser"), [CLAUDE, CODEX])


def _read(name: str, parser: Parser) -> list[ReadLine]:
    return list(reader.read(path=FOLDER / name, parser=parser))


def _thoughts(read: list[ReadLine]) -> list[dict[str, Any]]:
    return [row for one in read for row in one.events if row["kind"] == "reasoning"]


def _folded(read: list[ReadLine]) -> Scratchpad:
    rows = tuple(row for one in read for row in one.events)
    return fold.rebuild(
        setting=Setting(root="/home/mia/shop"), events=events.read_all(rows=rows).events
    )


@both
def test_what_is_said_aloud_is_a_turn_and_a_thought_of_the_same_number(
    name: str, parser: Parser
) -> None:
    read = _read(name, parser)

    turns = {row["sequence"]: row["text"] for one in read for row in one.turns}
    aloud = {row["sequence"]: row["text"] for row in _thoughts(read) if row["sequence"] in turns}
    assert set(aloud.values()) >= {WRONG, ENDED}
    assert aloud.items() <= turns.items()
    assert "The cart tests see old prices. Find out why." not in aloud.values()


@both
def test_a_dead_end_and_a_correction_said_aloud_are_seen_once(name: str, parser: Parser) -> None:
    pad = _folded(_read(name, parser))

    (ended,) = dead_ends.find(scratchpad=pad)
    (corrected,) = failures.find_self_correction(scratchpad=pad)
    assert ended.why_it_failed.startswith(ENDED)
    assert (ended.approach, ended.alternative) == (
        "running `pytest tests/mail`",
        "running `pytest tests/cart`",
    )
    assert (corrected.times, dict(corrected.details)["text"]) == (1, WRONG)
    assert pad.missing == 0


def test_a_secret_said_aloud_is_taken_out_of_both_and_counted_once(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    told = (FOLDER / CLAUDE[0]).read_text().splitlines()[1]
    spoken = f"The {'pass' + 'word'}={'Tr0ub4dor' + 'x9Kq2Lm'} is in the settings."
    file.write_text(told.replace("I look at the price service.", spoken))

    (one,) = reader.read(path=file, parser=claude_code.read)

    assert one.turns[0]["text"] == one.events[0]["text"] != spoken
    assert len(one.masked) == 1
