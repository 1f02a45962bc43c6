"""How a query is worded: how many of its words tell something, and whether it is French (11.1).

What is close to a long question is closer than what is as close to two words; and an embedder that
learned English puts everything further away from a French one. Relevance looks at both.
"""

import re
from dataclasses import dataclass
from typing import Final

SHORTEST: Final = 2  # characters of a word that tells something
MOST: Final = 8  # telling words that count; a pasted page is not closer for its length

_WORD: Final = re.compile(r"[^\W_]+")
_ENGLISH: Final = frozenset(
    _WORD.findall(
        "a all also an and any are as at be been being but by can could did do does for from get"
        " got had has have how i if in into is it may must no not of on only or our should still"
        " than that the their them then there they this to too us was we were what when where"
        " which who why will with without would you your"
    )
)
_FRENCH: Final = frozenset(
    _WORD.findall(
        "à au aux avec avons ce ces cette combien comment dans de des du elle en et étaient"
        " était être faut il je la le les leur ne nous ont où par pas peut pour pourquoi quand"
        " que quel quelle quelles quels qui sa sans se ses son sont sur un une vous y"
    )
)
_SMALL: Final = _ENGLISH | _FRENCH
_ELISIONS: Final = frozenset({"c", "d", "j", "l", "n", "qu"})
_ACCENT: Final = re.compile("[àâçèéêîôùû]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How many words of a query tell something, 8 at most, and whether it is French."""

    words: int
    is_french: bool


def wording_of(*, text: str) -> Wording:
    """Look at the words of a query; where none tells anything all count, and signs are no words."""
    low = text.lower()
    words = _WORD.findall(low)
    telling = [word for word in words if len(word) >= SHORTEST and word not in _SMALL]
    return Wording(words=min(MOST, len(telling or words)), is_french=_is_french(low, words))


def _is_french(low: str, words: list[str]) -> bool:
    """Say whether it has more of what French has than of the small words of English."""
    french = sum(word in _FRENCH or word in _ELISIONS for word in words)
    return french + len(_ACCENT.findall(low)) > sum(word in _ENGLISH for word in words)
