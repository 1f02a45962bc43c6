"""Extraction by words: turns a second on one core, and what it finds in foreign conversations.

    python -m tests.bench.bench_extraction [ROUNDS]
    BENCH_EMBEDDER=local/all-minilm-l6-v2 python -m tests.bench.bench_extraction FOLDER [LIST]

ROUNDS is how often the labelled conversations are read; figures are processor time of one core.
FOLDER holds conversations of others as `*.json`: `turns` with speaker and text, and in `expected`
the statements that a reader, who has not seen the rules, would keep: statement, type, turn from 0.
An expected statement is found where a candidate of its turn or one beside it means the same: its
cosine is at least 0.6. Whether what was taken stands alone, is true of the text and has its right
type is for a reader: LIST is a file that they are written to, one a line.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from memory.evaluation import conversations
from memory.experiments import uplift
from memory.extraction.extract import Candidate, extract
from memory.extraction.model_answers import worth_asking
from memory.providers import registry
from memory.sessions.turns import Speaker, Turn
from tests.bench import measures

SET = Path(conversations.__file__).parent / "sets/conversations/conversations.jsonl"
ROUNDS = 20
SAME = 0.6  # cosine
BESIDE = 1  # turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A conversation: its name, what was taken of it, what was expected, and where it was said."""

    name: str
    taken: tuple[Candidate, ...]
    expected: tuple[tuple[int, str], ...]


def main(*, rounds: int) -> None:
    """Read the set so often, by the extractor and by the gate of the mode hybrid."""
    given = conversations.parse(text=SET.read_text(encoding="utf-8"))
    turns = rounds * sum(len(one.turns) for one in given)
    for name, work in (("extract", extract), ("worth asking", worth_asking)):
        _, spent = measures.spent(
            lambda work=work: [work(turns=one.turns) for _ in range(rounds) for one in given]
        )
        measures.line(name, f"{turns:,} turns, {turns / spent:,.0f} a second")


def measure_foreign(*, folder: Path, listed: Path | None) -> None:
    """Print how many expected statements are found, and write down what was taken."""
    read = tuple(_read(path) for path in sorted(folder.glob("*.json")))
    found = [_is_found(one, turn, text) for one in read for turn, text in one.expected]
    share = uplift.share(successes=sum(found), trials=len(found))
    quiet = [len(one.taken) for one in read if not one.expected]
    measures.line("found", f"{sum(found)} of {len(found)} [{share.low:.2f}, {share.high:.2f}]")
    measures.line("taken", f"{sum(len(one.taken) for one in read)} of {len(read)} conversations")
    measures.line("where nothing is expected", f"{sum(quiet)} taken of {len(quiet)}")
    if listed is not None:
        lines = (
            f"{one.name}\t{taken.turn - 1}\t{taken.type.value}\t{taken.content}\n"
            for one in read
            for taken in one.taken
        )
        listed.write_text("".join(lines), encoding="utf-8")


def _read(path: Path) -> Read:
    given = json.loads(path.read_text(encoding="utf-8"))
    turns = tuple(
        Turn(sequence=number, speaker=Speaker(one["speaker"]), text=one["text"])
        for number, one in enumerate(given["turns"], 1)
    )
    expected = tuple((one["turn"] + 1, one["statement"]) for one in given["expected"])
    return Read(name=path.stem, taken=extract(turns=turns), expected=expected)


def _is_found(one: Read, turn: int, statement: str) -> bool:
    near = tuple(each.content for each in one.taken if abs(each.turn - turn) <= BESIDE)
    if not near:
        return False
    first, *others = registry.embedder().embed_documents(texts=(statement, *near))
    return max(float(first @ other) for other in others) >= SAME


if __name__ == "__main__":
    first, *others = sys.argv[1:] or [str(ROUNDS)]
    if first.isdigit():
        main(rounds=int(first))
    else:
        measure_foreign(folder=Path(first), listed=Path(others[0]) if others else None)
