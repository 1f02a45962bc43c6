"""Duplicates inside one batch, before anything is compared with the store (spec 2.4).

Exact by hash, near by the Jaccard overlap of words, and only when neither polarity nor a value
differs: two lines of a table of limits share most of their words.
"""

from dataclasses import dataclass

from memory.intake import statements
from memory.intake import text as texts
from memory.intake.statements import Difference

JACCARD_THRESHOLD = 0.75  # at least, spec 2.4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    position: int
    content: str
    content_hash: str
    words: frozenset[str]


def first_of_same(*, contents: tuple[str, ...]) -> tuple[int, ...]:
    """Return for each content the position of the first that says the same, be it its own."""
    kept: list[_Entry] = []
    by_hash: dict[str, int] = {}
    firsts: list[int] = []
    for position, content in enumerate(contents):
        entry = _Entry(
            position=position,
            content=content,
            content_hash=texts.content_hash(content=content),
            words=statements.words(text=content),
        )
        known = by_hash.get(entry.content_hash)
        first = _near(entry, kept) if known is None else known
        if first == position:
            kept.append(entry)
        by_hash.setdefault(entry.content_hash, first)
        firsts.append(first)
    return tuple(firsts)


def is_near_duplicate(*, old: str, new: str) -> bool:
    """Say whether two contents share at least 75 % of their words and assert the same."""
    overlap = statements.jaccard(left=statements.words(text=old), right=statements.words(text=new))
    same = statements.difference_of_restatement(old=old, new=new) is Difference.NONE
    return overlap >= JACCARD_THRESHOLD and same


def _near(entry: _Entry, kept: list[_Entry]) -> int:
    for other in kept:
        if not _could_overlap(len(entry.words), len(other.words)):
            continue
        if is_near_duplicate(old=other.content, new=entry.content):
            return other.position
    return entry.position


def _could_overlap(left: int, right: int) -> bool:
    return min(left, right) >= JACCARD_THRESHOLD * max(left, right)
