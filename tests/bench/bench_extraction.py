"""Extraction by words: turns a second on one core, over the labelled conversations.

Run: `.venv/bin/python -m tests.bench.bench_extraction 20`. The number is how often the set is read.
Figures are processor time of one core.
"""

import sys
from pathlib import Path

from memory.evaluation import conversations
from memory.extraction.extract import extract
from memory.extraction.model_answers import worth_asking
from tests.bench import measures

SET = Path(conversations.__file__).parent / "sets/conversations/conversations.jsonl"
ROUNDS = 20


def main(*, rounds: int) -> None:
    """Read the set so often, by the extractor and by the gate of the mode hybrid."""
    given = conversations.parse(text=SET.read_text(encoding="utf-8"))
    turns = rounds * sum(len(one.turns) for one in given)
    for name, work in (("extract", extract), ("worth asking", worth_asking)):
        _, spent = measures.spent(
            lambda work=work: [work(turns=one.turns) for _ in range(rounds) for one in given]
        )
        measures.line(name, f"{turns:,} turns, {turns / spent:,.0f} a second")


if __name__ == "__main__":
    main(rounds=int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
