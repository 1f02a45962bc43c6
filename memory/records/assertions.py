"""What two statements assert differently, by words alone, and which of a batch say the same.

The heuristic behind conflict checks without a model, and the guard of what counts as said again: an
embedder hardly sees that "retry 3 times" became "retry 5 times", or that "use" became "never use".
It prefers to miss a difference of wording over inventing one: values count only where both texts
have one that the other lacks, and names only inside nearly the same sentence. Two statements of
which each says where or when it holds, or speaks of something that the other does not, differ in
their subject and contradict nothing. English and French; the expressions are bounded, so a scan
stays linear in the text.
"""

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from heapq import nsmallest
from math import ceil
from pathlib import Path
from typing import Final

from memory.entities.rules import CANONICAL
from memory.text import text as texts

JACCARD_THRESHOLD = 0.75  # at least
MOST_COMPARED = 50  # of those with no other value, the ones that share the most long words; default
FRAME_OVERLAP = 0.6  # Jaccard of what remains without values and negations; default

_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "assertions.toml")
NEGATORS, POSITIVES, FILLERS, CHANGES, SMALL = (
    frozenset(str(_TABLES["words"][name]).split())
    for name in ("negators", "positives", "fillers", "changes", "small")
)
SCOPES: Final = {  # words that say where a statement holds, and the place
    word: place for place, words in _TABLES["scopes"].items() for word in str(words).split()
}
_PATTERNS: Final = texts.compile_patterns(table=_TABLES["patterns"])
ENDINGS: Final = ("ies", "ing", "ed", "es", "s", "ent", "ait")  # the longest that fits is cut
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_HARD_VALUE = re.compile(
    r"(?<![\w.])v?\d[\d.,:]*(?:\s?(?:%|(?:ms|s|min|h|d|kb|mb|gb|tb|px|days?|hours?|minutes?"
    r"|seconds?|jours?|heures?|secondes?|mo|go|ko)\b)|(?!\w))|`[^`\n]+`|\"[^\"\n]+\"",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b(?:[A-Z][\w-]*|\w+_\w+|[a-z]+[A-Z]\w*)\b")
_PATH = re.compile(r"(?<!\w)(?:[\w.-]+)?/[\w./{}-]*\w|\b[\w-]+\.[a-z]{1,4}\b")
_LABEL = re.compile(r"[^:;.!?\n]{1,60}: ")  # of a row, or of a line that defines a word
_HEADINGS = re.compile(r"(?: \u203a |: )")
_ELISION = re.compile(r"\b(n|l|d|s|j|c|m|t|qu)'(?=\w)")
_NO_LONGER = re.compile(r"\b(?:ne|n['\u2019])\s*(?:\w+\s+)?(\w+)\s+plus\b", re.IGNORECASE)


class Difference(StrEnum):
    """How two statements about the same thing differ."""

    NONE = "none"
    POLARITY = "polarity"
    VALUE = "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """What a text asserts, read once: for comparing it with many others of nearly the same words.

    `stems` are of the telling words, `things` the names and paths.
    """

    is_negated: bool
    values: frozenset[str]
    things: frozenset[str]
    stems: frozenset[str]


def assertion(*, text: str) -> Assertion:
    """Read what a text asserts."""
    paths = frozenset(match.group().lower() for match in _PATH.finditer(text))
    things = names(text=text) | paths
    return Assertion(
        is_negated=is_negated(text=text),
        values=hard_values(text=text),
        things=things,
        stems=_telling_stems(text),
    )


def asserts_the_same(*, old: Assertion, new: Assertion) -> bool:
    """Say whether two of nearly the same words differ in nothing, and in no telling word each."""
    pairs = ((old.values, new.values), (old.things, new.things), (old.stems, new.stems))
    is_one = all(_exclusive(left, right) is Difference.NONE for left, right in pairs)
    return is_one and old.is_negated == new.is_negated


def words(*, text: str) -> frozenset[str]:
    """Return the lower-case words and numbers of a text, for overlaps."""
    return frozenset(re.findall(r"[\w'-]+", texts.normalize(text=text).lower()))


def jaccard(*, left: frozenset[str], right: frozenset[str]) -> float:
    """Compute |A and B| / |A or B|, 0..1; 1 for two empty sets (Jaccard 1912)."""
    together = left | right
    return len(left & right) / len(together) if together else 1.0


def is_negated(*, text: str) -> bool:
    """Say whether an odd number of negating words makes the statement negative.

    What only says why is left aside.
    """
    found = _WORD.findall(_spelled(_PATTERNS["reason"].split(text, maxsplit=1)[0] or text))
    return sum(word in NEGATORS for word in found) % 2 == 1


def hard_values(*, text: str) -> frozenset[str]:
    """Return numbers with their units, versions and quoted or code-quoted values, lower-case."""
    found = (match.group().strip(' .,:`"').lower() for match in _HARD_VALUE.finditer(text))
    return frozenset(re.sub(r"\s+", "", value) for value in found if value)


def names(*, text: str) -> frozenset[str]:
    """Return capitalized or compound names that do not merely begin a sentence, lower-case."""
    return frozenset(match.group().lower() for match in _NAME.finditer(text))


def marks_update(*, text: str) -> bool:
    """Say whether the words announce a change of what was true before."""
    return _PATTERNS["update"].search(text) is not None


def marks_retraction(*, text: str) -> bool:
    """Say whether the words take back what was true before."""
    return _PATTERNS["retraction"].search(text) is not None


def scopes(*, text: str) -> frozenset[str]:
    """Return where, when and of which one a statement says that it holds."""
    lowered = text.lower()
    named = {SCOPES[word] for word in _WORD.findall(lowered) if word in SCOPES}
    said = (match for name in ("times", "numbered") for match in _PATTERNS[name].finditer(lowered))
    return frozenset(named | {" ".join(match.group().split()) for match in said})


def difference_of_restatement(*, old: str, new: Assertion) -> Difference:
    """Compare two statements that are nearly the same text: polarity, values, then what it names.

    Names count where each has one that the other lacks: the same said of another thing.
    """
    known = assertion(text=old)
    pairs = ((known.values, new.values), (known.things, new.things))
    return _first_difference(known.is_negated != new.is_negated, *pairs)


def difference(*, old: str, new: str) -> Difference:
    """Compare two statements; a difference needs nearly the same sentence about the same subject.

    Names in the first half are taken for the subject, names in the second for what is said of it.
    Headings that both begin with are left aside; rows of a table with other labels are about other
    things.
    """
    ends = (match.end() for match in _HEADINGS.finditer(old))
    start = max((end for end in ends if old[:end] == new[:end]), default=0)
    old, new = old[start:], new[start:]
    are_rows = bool(_LABEL.match(old) and _LABEL.match(new))
    if are_rows or jaccard(left=_frame(old), right=_frame(new)) < FRAME_OVERLAP:
        return Difference.NONE
    (old_subject, old_object), (new_subject, new_object) = _halves(old), _halves(new)
    if _exclusive(old_subject, new_subject) is not Difference.NONE or _is_scoped(old, new):
        return Difference.NONE
    said, says = is_negated(text=old), is_negated(text=new)
    values = (hard_values(text=old), hard_values(text=new))
    return _first_difference(said != says, values, (old_object, new_object))


def _first_difference(is_opposite: bool, *pairs: tuple[frozenset[str], ...]) -> Difference:
    """Return polarity, or that one of these pairs has other values on either side."""
    if is_opposite:
        return Difference.POLARITY
    found = (_exclusive(old, new) for old, new in pairs)
    return next((one for one in found if one is not Difference.NONE), Difference.NONE)


def _is_scoped(old: str, new: str) -> bool:
    """Say whether the two hold elsewhere or speak of other things, so that both can be true."""
    if scopes(text=old) != scopes(text=new):
        return True
    left, right = _telling_stems(old), _telling_stems(new)
    return bool(left - right) and bool(right - left)


def _telling_stems(text: str) -> frozenset[str]:
    """Return the stems of what a statement is about: no values, names, small words."""
    plain = frozenset(_WORD.findall(_spelled(_PATH.sub(" ", _HARD_VALUE.sub(" ", text)))))
    known = frozenset(word for word in plain if word in CANONICAL)
    bare = plain - known - names(text=text) - NEGATORS - POSITIVES - FILLERS
    return frozenset(_stem(word) for word in bare - SMALL - CHANGES)


def _stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _spelled(text: str) -> str:
    """Return a text in small letters, with one negating word where French has two around a verb."""
    plain = _NO_LONGER.sub(r" never \1 ", text).replace("\u2019", "'").lower()
    return _ELISION.sub(r"\1 ", plain)


def _exclusive(old: frozenset[str], new: frozenset[str]) -> Difference:
    return Difference.VALUE if old - new and new - old else Difference.NONE


def _halves(text: str) -> tuple[frozenset[str], frozenset[str]]:
    found = [(match.start(), match.group().lower()) for match in _NAME.finditer(text)]
    found += [
        (match.start(), CANONICAL[match.group().lower()])
        for match in _WORD.finditer(text)
        if match.group().lower() in CANONICAL
    ]
    found += [(match.start(), match.group().lower()) for match in _PATH.finditer(text)]
    subject = frozenset(name for start, name in found if 2 * start < len(text))
    return subject, frozenset(name for _, name in found) - subject


def _frame(text: str) -> frozenset[str]:
    bare = _spelled(_HARD_VALUE.sub(" ", text))
    found = words(text=bare) - names(text=text) - CANONICAL.keys()
    return found - NEGATORS - POSITIVES - FILLERS - CHANGES - SMALL


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

    def first_of(self, *, content: str) -> int:
        """Return the place of the first that says the same, be it this one's own; keep it."""
        position, self._count = self._count, self._count + 1
        digest = texts.content_hash(content=content)
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
            if (values := self._entries[place].says.values) <= entry.says.values
            or entry.says.values <= values
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
    return _Entry(position=position, words=words(text=content), says=assertion(text=content))


def _says_the_same(old: _Entry, new: _Entry) -> bool:
    overlap = jaccard(left=old.words, right=new.words)
    is_near = overlap >= JACCARD_THRESHOLD
    return is_near and asserts_the_same(old=old.says, new=new.says)
