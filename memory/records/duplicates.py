"""Duplicates inside one batch, before anything is compared with the store.

Exact by hash, near by the Jaccard overlap of words, and only when neither polarity nor a value
differs: two lines of a table of limits share most of their words. What a text says is read once, so
that a thousand lines of one table are compared within a second.
"""

from collections import Counter
from dataclasses import dataclass
from heapq import nsmallest
from math import ceil

from memory.records import statements
from memory.records.statements import Assertion
from memory.text import text as texts

JACCARD_THRESHOLD = 0.75  # at least
MOST_COMPARED = 50  # of those with no other value, the ones that share the most long words; default


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    position: int
    words: frozenset[str]
    says: Assertion


class Seen:
    """The contents of a batch so far, with what finds those that say nearly the same.

    Two sets that overlap by J share one of the first |A| - ceil(J |A|) + 1 words of any order that
    is the same for all (Bayardo and others 2007). Long words first: they are the rare ones.
    """

    def __init__(self) -> None:
        self._by_hash: dict[str, int] = {}
        self._by_word: dict[str, list[int]] = {}
        self._entries: dict[int, _Entry] = {}
        self._count = 0

    def first_of(self, *, content: str, content_hash: str = "") -> int:
        """Return the place of the first that says the same, be it this one's own; keep it."""
        position, self._count = self._count, self._count + 1
        digest = content_hash or texts.content_hash(content=content)
        known = self._by_hash.get(digest)
        if known is not None:
            return known
        entry = _entry(position, content)
        count = len(entry.words) - ceil(JACCARD_THRESHOLD * len(entry.words)) + 1
        leading = tuple(sorted(entry.words, key=lambda word: (-len(word), word))[:count])
        first = self._near(entry, leading)
        self._by_hash[digest] = first
        if first == position:
            self._entries[position] = entry
            for word in leading:
                self._by_word.setdefault(word, []).append(position)
        return first

    def _near(self, entry: _Entry, leading: tuple[str, ...]) -> int:
        """Return the earliest of those that share a leading word and say the same."""
        shared = Counter(place for word in leading for place in self._by_word.get(word, ()))
        alike = (
            (-count, place)
            for place, count in shared.items()
            if not statements.have_other_values(old=self._entries[place].says, new=entry.says)
        )
        nearest = sorted(place for _, place in nsmallest(MOST_COMPARED, alike))
        return next(
            (place for place in nearest if _says_the_same(self._entries[place], entry)),
            entry.position,
        )


def first_of_same(*, contents: tuple[str, ...]) -> tuple[int, ...]:
    """Return for each content the position of the first that says the same, be it its own."""
    seen = Seen()
    return tuple(seen.first_of(content=content) for content in contents)


def is_near_duplicate(*, old: str, new: str) -> bool:
    """Say whether two contents share at least 75 % of their words and assert the same."""
    return _says_the_same(_entry(0, old), _entry(1, new))


def _entry(position: int, content: str) -> _Entry:
    return _Entry(
        position=position,
        words=statements.words(text=content),
        says=statements.assertion(text=content),
    )


def _says_the_same(old: _Entry, new: _Entry) -> bool:
    overlap = statements.jaccard(left=old.words, right=new.words)
    is_near = overlap >= JACCARD_THRESHOLD
    return is_near and statements.asserts_the_same(old=old.says, new=new.says)
