"""Which statement of a document took the place of which, from one of its versions to the next.

Statements have ids made of their words, so what both versions have is known by its id. Between two
such neighbors, what stands there now and shares most words with what stood there is the same
statement, said anew. What finds no partner is new, or gone. The work grows with the length of the
document: each statement is compared with a few.

Measured on documents of public repositories, over the commits that change one line of one of them
(`python -m tests.bench.bench_documents CLONES`).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import Final, NamedTuple

from memory.text import text as texts

SHARED: Final = 0.5  # Dice's coefficient of two texts' words, from which they are one statement
KEPT_SHARE: Final = 0.25  # of the shorter version's statements, unchanged; ours, not measured
REACH: Final = 8  # statements on either side that are compared, so that time is linear; ours


class PlacedStatement(NamedTuple):
    """A statement of a document: its id, and its text with what leads to it."""

    id: str
    text: str


def find_replaced(
    *, before: Sequence[PlacedStatement], after: Sequence[PlacedStatement]
) -> Mapping[str, str]:
    """Return the ids of statements said anew: the new id, and the one whose place it takes.

    Both versions are in the order of the document. Each statement is in at most one pair, and one
    that both versions have, be it elsewhere, in none.
    """
    kept = {one.id for one in before} & {one.id for one in after}
    old, new = _blocks(before, kept), _blocks(after, kept)
    replaced: dict[str, str] = {}
    for neighbor in old.keys() & new.keys():
        replaced |= _pair_block(old[neighbor], new[neighbor])
    return replaced


def is_same_document(
    *, before: Sequence[PlacedStatement], after: Sequence[PlacedStatement]
) -> bool:
    """Say whether two versions share enough to be of one document: the name may be another's."""
    kept = {one.id for one in before} & {one.id for one in after}
    return len(kept) >= KEPT_SHARE * min(len(before), len(after))


def _blocks(
    statements: Sequence[PlacedStatement], kept: Set[str]
) -> Mapping[str, list[PlacedStatement]]:
    """Return what stands behind each statement that both versions have, up to the next of them."""
    blocks: defaultdict[str, list[PlacedStatement]] = defaultdict(list)
    neighbor = ""
    for one in statements:
        if one.id in kept:
            neighbor = one.id
        else:
            blocks[neighbor].append(one)
    return blocks


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
    pairs: dict[str, str] = {}
    taken: set[int] = set()
    for _, old, new in sorted(scores):
        if after[new].id not in pairs and old not in taken:
            taken.add(old)
            pairs[after[new].id] = before[old].id
    return pairs


def _words(text: str) -> Counter[str]:
    return Counter(texts.WORD.findall(text.lower()))


def _dice(first: Counter[str], second: Counter[str]) -> float:
    """Return Dice's coefficient of two bags of words (Dice 1945), 0..1."""
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0
