"""What two statements assert differently: polarity and values, by words alone.

The heuristic behind conflict checks without a model, and the guard of near-duplicate checks: an
embedder hardly sees that "retry 3 times" became "retry 5 times", or that "use" became "never use".
It prefers to miss a difference of wording over inventing one: values count only where both texts
have one that the other lacks, and names only inside nearly the same sentence. Two statements of
which each says where or when it holds, or speaks of something that the other does not, differ in
their subject and contradict nothing. English and French; the words stand in `statement_words`.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from memory.entities.tools import CANONICAL
from memory.records import statement_words as told
from memory.text import text as texts

FRAME_OVERLAP = 0.6  # Jaccard of what remains without values and negations; default

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
    return Assertion(
        is_negated=is_negated(text=text),
        values=hard_values(text=text),
        things=_things(text),
        stems=_telling_stems(text),
    )


def asserts_the_same(*, old: Assertion, new: Assertion) -> bool:
    """Say whether two of nearly the same words differ in nothing, and in no telling word each."""
    pairs = ((old.values, new.values), (old.things, new.things), (old.stems, new.stems))
    is_one = all(_exclusive(left, right) is Difference.NONE for left, right in pairs)
    return is_one and old.is_negated == new.is_negated


def have_other_values(*, old: Assertion, new: Assertion) -> bool:
    """Say whether each of two has a number, version or quoted value that the other lacks."""
    return not (old.values <= new.values or new.values <= old.values)


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
    found = _WORD.findall(_spelled(told.REASON.split(text, maxsplit=1)[0] or text))
    return sum(word in told.NEGATORS for word in found) % 2 == 1


def hard_values(*, text: str) -> frozenset[str]:
    """Return numbers with their units, versions and quoted or code-quoted values, lower-case."""
    found = (match.group().strip(' .,:`"').lower() for match in _HARD_VALUE.finditer(text))
    return frozenset(re.sub(r"\s+", "", value) for value in found if value)


def names(*, text: str) -> frozenset[str]:
    """Return capitalized or compound names that do not merely begin a sentence, lower-case."""
    return frozenset(match.group().lower() for match in _NAME.finditer(text))


def marks_update(*, text: str) -> bool:
    """Say whether the words announce a change of what was true before."""
    return told.UPDATE.search(text) is not None


def marks_retraction(*, text: str) -> bool:
    """Say whether the words take back what was true before."""
    return told.RETRACTION.search(text) is not None


def scopes(*, text: str) -> frozenset[str]:
    """Return where, when and of which one a statement says that it holds."""
    lowered = text.lower()
    named = {told.SCOPES[word] for word in _WORD.findall(lowered) if word in told.SCOPES}
    said = (*told.TIMES.finditer(lowered), *told.NUMBERED.finditer(lowered))
    return frozenset(named | {" ".join(match.group().split()) for match in said})


def difference_of_restatement(*, old: str, new: Assertion) -> Difference:
    """Compare two statements that are nearly the same text: polarity, values, then what it names.

    Names count where each has one that the other lacks: the same said of another thing.
    """
    known = assertion(text=old)
    if known.is_negated != new.is_negated:
        return Difference.POLARITY
    values = _exclusive(known.values, new.values)
    return _exclusive(known.things, new.things) if values is Difference.NONE else values


def difference(*, old: str, new: str) -> Difference:
    """Compare two statements; a difference needs nearly the same sentence about the same subject.

    Names in the first half are taken for the subject, names in the second for what is said of it.
    Headings that both begin with are left aside; rows of a table with other labels are about other
    things.
    """
    old, new = _without_shared_headings(old, new)
    if _LABEL.match(old) and _LABEL.match(new):
        return Difference.NONE
    if jaccard(left=_frame(old), right=_frame(new)) < FRAME_OVERLAP:
        return Difference.NONE
    (old_subject, old_object), (new_subject, new_object) = _halves(old), _halves(new)
    if _exclusive(old_subject, new_subject) is not Difference.NONE or _is_scoped(old, new):
        return Difference.NONE
    if is_negated(text=old) != is_negated(text=new):
        return Difference.POLARITY
    values = _exclusive(hard_values(text=old), hard_values(text=new))
    return _exclusive(old_object, new_object) if values is Difference.NONE else values


def _without_shared_headings(old: str, new: str) -> tuple[str, str]:
    ends = (match.end() for match in _HEADINGS.finditer(old))
    start = max((end for end in ends if old[:end] == new[:end]), default=0)
    return old[start:], new[start:]


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
    bare = plain - known - names(text=text) - told.NEGATORS - told.POSITIVES - told.FILLERS
    return frozenset(_stem(word) for word in bare - told.SMALL - told.CHANGES)


def _stem(word: str) -> str:
    for ending in told.ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _spelled(text: str) -> str:
    """Return a text in small letters, with one negating word where French has two around a verb."""
    plain = _NO_LONGER.sub(r" never \1 ", text).replace("\u2019", "'").lower()
    return _ELISION.sub(r"\1 ", plain)


def _things(text: str) -> frozenset[str]:
    paths = frozenset(match.group().lower() for match in _PATH.finditer(text))
    return names(text=text) | paths


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
    return found - told.NEGATORS - told.POSITIVES - told.FILLERS - told.CHANGES - told.SMALL
