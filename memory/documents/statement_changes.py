"""Which statement of a document took the place of which, from one of its versions to the next.

Statements have ids made of their words, so the two versions are compared as a diff compares lines:
what stands between the same neighbors and shares most words is the same statement, said anew. One
that also moved is found as long as few others lie between. What finds no partner is new, or gone.

Measured on documents of public repositories, over the commits that change one line of one of them
(`python -m tests.bench.bench_documents CLONES`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from memory.text import text as texts

SHARED: Final = 0.5  # Dice's coefficient of two texts' words, from which they are one statement
REACH: Final = 8  # statements on either side that are compared, so that time is linear; ours


class PlacedStatement(NamedTuple):
    """A statement of a document: its id, and its text with what leads to it."""

    id: str
    text: str


def find_replaced(
    *, before: Sequence[PlacedStatement], after: Sequence[PlacedStatement]
) -> Mapping[str, str]:
    """Return the ids of statements said anew: the new id, and the one whose place it takes.

    Both versions are in the order of the document. Each statement is in at most one pair.
    """
    matcher = SequenceMatcher(
        None, [one.id for one in before], [one.id for one in after], autojunk=False
    )
    replaced: dict[str, str] = {}
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind == "replace":
            replaced |= _pair_block(before[start:end], after[first:last])
    return replaced


def _pair_block(
    before: Sequence[PlacedStatement], after: Sequence[PlacedStatement]
) -> Mapping[str, str]:
    """Pair what stood between two neighbors with what stands there now, most alike first."""
    old_words = [_words(one.text) for one in before]
    scores: list[tuple[float, int, int]] = []
    for new, statement in enumerate(after):
        words = _words(statement.text)
        at = new * len(before) // len(after)
        near = range(max(0, at - REACH), min(len(before), at + REACH + 1))
        shares = ((-_dice(old_words[old], words), old, new) for old in near)
        scores.extend(score for score in shares if score[0] <= -SHARED)
    pairs: dict[int, int] = {}
    for _, old, new in sorted(scores):
        if new not in pairs and old not in pairs.values():
            pairs[new] = old
    return {after[new].id: before[old].id for new, old in pairs.items()}


def _words(text: str) -> Counter[str]:
    return Counter(texts.WORD.findall(text.lower()))


def _dice(first: Counter[str], second: Counter[str]) -> float:
    """Return Dice's coefficient of two bags of words (Dice 1945), 0..1."""
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0
