"""Names that are close: of one kind, and most likely of one thing.

After the canonical name and its aliases (`names`) come names that are nearly the same. To say that
two things are one which are two costs more than to say nothing: what a reader is told of one would
be the other's. So each reason here is narrow, and only the narrowest is certain: the same letters,
with words apart in other places, as `authgate` and `AuthGate`. The others are suggestions for a
person. Misspellings are slips that people make, a letter doubled or not, two swapped, a vowel lost
or mistaken, inside of a long word: `upload` and `unload` or `contact` and `contract` are none.
Numbers are never passed over. A name with a word less, or a person's first name, is only taken for
the longer one where both are named beside the same other things.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Final

from memory.entities.names import TYPE_CODES
from memory.entities.rules import CANONICAL, EntityType

SHORTEST: Final = 6  # letters of a name whose words only stand apart elsewhere; default
SHORTEST_WORD: Final = 7  # letters of a word that may be misspelled; default, not measured
SHARED: Final = 2  # things named beside both of a longer and a shorter name; default, not measured
MOST_NAMES: Final = 2_000  # that are compared, the most often named first
MOST_ALIKE: Final = 50  # names that begin alike and are compared with each other
BEGINNING: Final = 3  # letters of a name of no person; a slip in them is not found
Name = tuple[int, str]  # type code and key
OF_TYPES: Final = (
    EntityType.PERSON,
    EntityType.PROJECT,
    EntityType.ORGANIZATION,
    EntityType.LOCATION,
    EntityType.SYSTEM,
)
VOWELS: Final = frozenset("aeiouy")
SAYS_KIND: Final = frozenset({  # words that add nothing to a name but what kind of thing it is
    "app", "application", "component", "framework", "library", "module", "package", "platform",
    "product", "program", "project", "service", "system", "tool",
})  # fmt: skip
SAYS_FORM: Final = frozenset({  # forms of companies
    "ag", "co", "company", "corp", "corporation", "gmbh", "inc", "llc", "ltd", "limited", "sa",
    "sarl", "sas",
})  # fmt: skip
_NUMBER: Final = re.compile(r"\d+")
_WORD: Final = re.compile(r"\w+")
_PATH: Final = re.compile(r"[/\\]|\.\w+\Z")


class Reason(StrEnum):
    """Why two names are taken for one thing."""

    JOINED = "joined"
    MISSPELLED = "misspelled"
    INITIAL = "initial"
    LONGER = "longer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A thing by its name: what it is, its key, and the keys of what is named beside it."""

    type: EntityType
    key: str
    beside: frozenset[str] = frozenset()

    @property
    def name(self) -> Name:
        """Its type code and key."""
        return TYPE_CODES[self.type], self.key


def compare(*, first: Known, second: Known) -> Reason | None:
    """Say why two names are of one thing; None when nothing says so. JOINED is certain."""
    if first.type is not second.type or first.key == second.key or first.type not in OF_TYPES:
        return None
    if _is_apart(first.key, second.key):
        return None
    letters = _letters(first.key)
    if letters == _letters(second.key):
        return Reason.JOINED if len(letters) >= SHORTEST else None
    if _is_misspelled(first, second):
        return Reason.MISSPELLED
    shorter, longer = sorted((first, second), key=lambda one: len(_words(one.key)))
    if _has_initial(shorter, longer):
        return Reason.INITIAL
    return Reason.LONGER if _is_longer(shorter, longer) else None


def sure_pairs(*, names: Iterable[Known]) -> tuple[tuple[Name, Name], ...]:
    """Return the pairs of names that certainly are one thing; those that come first are preferred.

    Only names that begin alike are compared, so this is nearly linear in their number.
    """
    alike: dict[tuple[EntityType, str], list[Known]] = defaultdict(list)
    for known in tuple(names)[:MOST_NAMES]:
        group = alike[known.type, beginning(type=known.type, key=known.key)]
        if len(group) < MOST_ALIKE:
            group.append(known)
    every = (
        (first.name, second.name)
        for group in alike.values()
        for first, second in combinations(group, 2)
        if compare(first=first, second=second) is Reason.JOINED
    )
    return tuple(sorted(every, key=lambda pair: pair[0]))


def beginning(*, type: EntityType, key: str) -> str:
    """Return the letters that close names begin with alike, whatever stands between them."""
    return _letters(key)[: 1 if type is EntityType.PERSON else BEGINNING]  # an initial is one


def _is_apart(first: str, second: str) -> bool:
    """Say whether something rules out that two names are one: numbers, paths, two known tools."""
    if _NUMBER.findall(first) != _NUMBER.findall(second):
        return True
    if _PATH.search(first) or _PATH.search(second):
        return True
    return first in CANONICAL and second in CANONICAL and CANONICAL[first] != CANONICAL[second]


def _is_misspelled(first: Known, second: Known) -> bool:
    """Say whether one word of two names is spelled with one slip, and the others are the same.

    Vowels tell proper names apart, `Petersen` from `Peterson`; those of systems are words.
    """
    ours, theirs = _words(first.key), _words(second.key)
    if len(ours) != len(theirs):
        return False
    differing = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    has_words = first.type is EntityType.SYSTEM
    return len(differing) == 1 and _is_slip(*differing[0], has_words=has_words)


def _is_slip(first: str, second: str, *, has_words: bool) -> bool:
    if min(len(first), len(second)) < SHORTEST_WORD or first[0] != second[0]:
        return False
    shorter, longer = sorted((first, second), key=len)
    both = enumerate(zip(shorter, longer, strict=False))
    start = next((place for place, (one, other) in both if one != other), len(shorter))
    if len(shorter) == len(longer):
        return _is_swap_or_other_vowel(shorter, longer, start, has_words=has_words)
    if shorter[start:] != longer[start + 1 :]:
        return False
    extra = longer[start]
    is_doubled = extra == longer[start - 1]
    return is_doubled or (has_words and extra in VOWELS and 0 < start < len(shorter) - 1)


def _is_swap_or_other_vowel(first: str, second: str, start: int, *, has_words: bool) -> bool:
    swapped = second[start : start + 2][::-1]
    if first[start : start + 2] == swapped and first[start + 2 :] == second[start + 2 :]:
        return True
    is_vowel = has_words and {first[start], second[start]} <= VOWELS
    return is_vowel and first[start + 1 :] == second[start + 1 :]


def _has_initial(shorter: Known, longer: Known) -> bool:
    """Say whether one is a person's surname behind an initial: `a lovelace`, `alovelace`."""
    full = _words(longer.key)
    if longer.type is not EntityType.PERSON or len(full) != 2:
        return False
    if len(full[0]) < 2 or len(full[1]) < 3:
        return False
    return _words(shorter.key) == (full[0][0], full[1]) or shorter.key == full[0][0] + full[1]


def _is_longer(shorter: Known, longer: Known) -> bool:
    """Say whether a name has one word more that adds nothing, beside the same other things."""
    words, more = _words(shorter.key), _words(longer.key)
    if more[:-1] != words or len(_letters(shorter.key)) < BEGINNING:
        return False
    if longer.type is EntityType.ORGANIZATION and more[-1] in SAYS_FORM:
        return True
    is_kind = longer.type is EntityType.PERSON or more[-1] in SAYS_KIND
    return is_kind and len(shorter.beside & longer.beside) >= SHARED


def _letters(key: str) -> str:
    return "".join(_WORD.findall(key)).replace("_", "")


def _words(key: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(key))
