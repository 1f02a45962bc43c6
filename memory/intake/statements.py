"""What two statements assert differently: polarity and values, by words alone (spec 2.4).

The heuristic behind conflict checks without a model, and the guard of near-duplicate checks: an
embedder hardly sees that "retry 3 times" became "retry 5 times", or that "use" became "never use".
It prefers to miss a difference of wording over inventing one: values count only where both texts
have one that the other lacks, and names only inside nearly the same sentence.
"""

import re
from enum import StrEnum

from memory.intake import text as texts

FRAME_OVERLAP = 0.6  # Jaccard of what remains without values and negations, ours

_NEGATORS = frozenset({
    "not", "no", "never", "none", "neither", "nor", "cannot", "without", "avoid", "disable",
    "disabled", "disallow", "forbid", "off", "forbidden", "deny", "prohibited", "stop", "fails",
    "false", "don't", "doesn't", "didn't", "isn't", "aren't", "wasn't", "weren't", "can't",
    "couldn't", "won't", "wouldn't", "mustn't", "shouldn't", "hasn't", "haven't",
})  # fmt: skip
_POSITIVES = frozenset({
    "always", "must", "should", "use", "enable", "enabled", "allow", "allowed", "true", "on", "do",
    "does",
})  # fmt: skip
_FILLERS = frozenset({"now", "currently", "instead", "again", "still", "already", "longer"})
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_HARD_VALUE = re.compile(
    r"(?<![\w.])v?\d[\d.,:]*(?:\s?(?:%|(?:ms|s|min|h|d|kb|mb|gb|tb|px|days?|hours?|minutes?"
    r"|seconds?)\b)|(?!\w))|`[^`\n]+`|\"[^\"\n]+\"",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b(?:[A-Z][\w-]*|\w+_\w+|[a-z]+[A-Z]\w*)\b")
_UPDATE = re.compile(
    r"\b(?:now|instead of|no longer|changed (?:to|from)|migrated|switched|moved to|replaced|renamed"
    r"|as of|since \d|from \S+ to \S+|updated to|upgraded)\b",
    re.IGNORECASE,
)
_RETRACTION = re.compile(
    r"\b(?:no longer|not anymore|any ?more|was removed|were removed|has been removed|is gone"
    r"|stopped using|dropped support|deprecated|obsolete|was (?:deleted|retired|abandoned))\b",
    re.IGNORECASE,
)


class Difference(StrEnum):
    """How two statements about the same thing differ."""

    NONE = "none"
    POLARITY = "polarity"
    VALUE = "value"


def words(*, text: str) -> frozenset[str]:
    """Return the lower-case words and numbers of a text, for overlaps."""
    return frozenset(re.findall(r"[\w'-]+", texts.normalized(text=text).lower()))


def jaccard(*, left: frozenset[str], right: frozenset[str]) -> float:
    """Compute |A and B| / |A or B|, 0..1; 1 for two empty sets (Jaccard 1912)."""
    together = left | right
    return len(left & right) / len(together) if together else 1.0


def is_negated(*, text: str) -> bool:
    """Say whether an odd number of negating words makes the statement negative."""
    found = _WORD.findall(text.replace("\u2019", "'").lower())
    return sum(word in _NEGATORS for word in found) % 2 == 1


def hard_values(*, text: str) -> frozenset[str]:
    """Return numbers with their units, versions and quoted or code-quoted values, lower-case."""
    found = (match.group().strip(' .,:`"').lower() for match in _HARD_VALUE.finditer(text))
    return frozenset(re.sub(r"\s+", "", value) for value in found if value)


def names(*, text: str) -> frozenset[str]:
    """Return capitalized or compound names that do not merely begin a sentence, lower-case."""
    return frozenset(match.group().lower() for match in _NAME.finditer(text))


def marks_update(*, text: str) -> bool:
    """Say whether the words announce a change of what was true before."""
    return _UPDATE.search(text) is not None


def marks_retraction(*, text: str) -> bool:
    """Say whether the words take back what was true before."""
    return _RETRACTION.search(text) is not None


def difference_of_restatement(*, old: str, new: str) -> Difference:
    """Compare two statements that are nearly the same text: polarity first, then hard values."""
    if is_negated(text=old) != is_negated(text=new):
        return Difference.POLARITY
    return _exclusive(hard_values(text=old), hard_values(text=new))


def difference(*, old: str, new: str) -> Difference:
    """Compare two statements; a difference needs nearly the same sentence about the same subject.

    Names in the first half are taken for the subject, names in the second for what is said of it.
    """
    if jaccard(left=_frame(old), right=_frame(new)) < FRAME_OVERLAP:
        return Difference.NONE
    (old_subject, old_object), (new_subject, new_object) = _halves(old), _halves(new)
    if _exclusive(old_subject, new_subject) is not Difference.NONE:
        return Difference.NONE
    found = difference_of_restatement(old=old, new=new)
    return _exclusive(old_object, new_object) if found is Difference.NONE else found


def _exclusive(old: frozenset[str], new: frozenset[str]) -> Difference:
    return Difference.VALUE if old - new and new - old else Difference.NONE


def _halves(text: str) -> tuple[frozenset[str], frozenset[str]]:
    found = [(match.start(), match.group().lower()) for match in _NAME.finditer(text)]
    subject = frozenset(name for start, name in found if 2 * start < len(text))
    return subject, frozenset(name for _, name in found) - subject


def _frame(text: str) -> frozenset[str]:
    assertive = words(text=_HARD_VALUE.sub(" ", text)) - names(text=text)
    return assertive - _NEGATORS - _POSITIVES - _FILLERS
