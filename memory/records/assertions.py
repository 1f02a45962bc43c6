"""What a statement asserts, by words alone: its values, its names, its sense, where it holds.

An embedder hardly sees that "retry 3 times" became "retry 5 times", or that "use" became "never
use". Whether one statement changes another one is told by `changes`. English and French; the
expressions are bounded, so a scan stays linear in the text.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from memory.text import text as texts

_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "assertions.toml")
NEGATORS, POSITIVES, FILLERS, SMALL = (
    frozenset(str(_TABLES["words"][name]).split())
    for name in ("negators", "positives", "fillers", "small")
)
SCOPES: Final = {  # words that say where a statement holds, and the place
    word: place for place, words in _TABLES["scopes"].items() for word in str(words).split()
}
_PATTERNS: Final = texts.compile_patterns(table=_TABLES["patterns"])
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_HARD_VALUE = re.compile(
    r"(?<![\w.])v?\d[\d.,:]*(?:\s?(?:%|(?:ms|s|min|h|d|kb|mb|gb|tb|px|days?|hours?|minutes?"
    r"|seconds?|jours?|heures?|secondes?|mo|go|ko)\b)|(?!\w))|`[^`\n]+`|\"[^\"\n]+\"",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b(?:[A-Z][\w-]*|\w+_\w+|[a-z]+[A-Z]\w*)\b")
_PATH = re.compile(  # bounded, since a row of slashes may hold no name
    r"(?<![\w.-])(?:[\w.-]++)?/[\w./{}-]{0,300}\w|(?<![\w-])[\w-]++\.[a-z]{1,4}\b"
)
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

    `things` are the names and paths.
    """

    is_negated: bool
    values: frozenset[str]
    things: frozenset[str]


def assertion(*, text: str) -> Assertion:
    """Read what a text asserts."""
    paths = frozenset(match.group().lower() for match in _PATH.finditer(text))
    things = names(text=text) | paths
    return Assertion(
        is_negated=is_negated(text=text),
        values=hard_values(text=text),
        things=things,
    )


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


def _first_difference(is_opposite: bool, *pairs: tuple[frozenset[str], ...]) -> Difference:
    """Return polarity, or that one of these pairs has other values on either side."""
    if is_opposite:
        return Difference.POLARITY
    found = (_exclusive(old, new) for old, new in pairs)
    return next((one for one in found if one is not Difference.NONE), Difference.NONE)


def _spelled(text: str) -> str:
    """Return a text in small letters, with one negating word where French has two around a verb."""
    plain = _NO_LONGER.sub(r" never \1 ", text).replace("\u2019", "'").lower()
    return _ELISION.sub(r"\1 ", plain)


def _exclusive(old: frozenset[str], new: frozenset[str]) -> Difference:
    return Difference.VALUE if old - new and new - old else Difference.NONE
