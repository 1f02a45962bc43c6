"""Whether two texts say the same in the same words, so that one of them adds nothing.

An embedder hardly sees that “before” became “after”, or that “at two” became “at four”, and a list
of words that matter is never whole. So nothing is weighed here: two texts say the same if their
words agree, all of them and in their order, once ways of writing are left aside: case of ordinary
words, articles, punctuation, emphasis, short forms, numbers in words, spellings of units. English
and French. Whatever differs otherwise is another statement, be it a paraphrase.
"""

import re
from pathlib import Path
from typing import Final

from memory.text import text as texts

LONGEST_UNIT: Final = 3  # letters of a unit whose case tells something
FEWEST: Final = 4  # words of a quotation; fewer are quoted by chance; default, not measured
_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "restatements.toml")
_ARTICLES, LIMITS = (frozenset(_TABLES["words"][name].split()) for name in ("articles", "limits"))
_NUMBERS, _UNITS = (
    {word: one for one, words in _TABLES[name].items() for word in words.split()}
    for name in ("numbers", "units")
)
_SHORT: Final[dict[str, str]] = _TABLES["contractions"]
_ELISION: Final = re.compile(r"\b([cdjlmnst]|qu)'(?=\w)", re.IGNORECASE)
_NEGATION: Final = re.compile(r"n't\b", re.IGNORECASE)
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SIGNS: Final = str.maketrans({"\u2265": ">=", "\u2264": "<=", "\u2260": "!="})
_MARKS: Final = re.compile(r"[`\"\u201c\u201d\u00ab\u00bb]|(?<!\w)\*+(?=\w)|(?<=\w)\*+(?!\w)")
_DASH: Final = re.compile(
    r"[\u2013\u2014]|(?<!\S)[-*\u2022]+(?!\S)|<(?=https?://)|(?<=\w)>(?=\s|$)"
)
_MEASURED: Final = re.compile(r"([+-]?\d[\d.,:]*)([^\W\d_]+|%)")
_EDGES: Final = "'()[]{},;:.!\u2018\u2019\u2026"


def telling_words(*, text: str) -> tuple[str, ...]:
    """Return the words of a text in their order, each in the one way in which it is compared.

    Names of code, paths, flags and units that are not in the table keep their case.
    """
    plain = texts.straighten_apostrophes(text=texts.normalize(text=text))
    plain = _THOUSANDS.sub("", _DASH.sub(" ", _MARKS.sub("", plain.translate(_SIGNS))))
    found: list[str] = []
    for chunk in _ELISION.sub(r"\1 ", plain).split():
        word = chunk.strip(_EDGES)
        lowered = word.lower()
        for part in _SHORT.get(lowered, _NEGATION.sub(" not", word)).split():
            found.extend(_compared(part, found))
    return tuple(found)


def restates(*, old: str, new: str) -> bool:
    """Say whether two texts say the same in the same words."""
    words = telling_words(text=new)
    return bool(words) and telling_words(text=old) == words


def quotes(*, old: str, new: str) -> bool:
    """Say whether a text is another one, or that with words left out that set no limit to it."""
    given, said = telling_words(text=old), telling_words(text=new)
    if given == said:
        return bool(said)
    if len(said) < FEWEST:
        return False
    rest = iter(said)
    wanted, left_out = next(rest), set[str]()
    for place, word in enumerate(given):
        if word != wanted:
            left_out.add(word)
            continue
        wanted = next(rest, "")
        if not wanted:
            left_out.update(given[place + 1 :])
            return left_out.isdisjoint(LIMITS)
    return False


def _compared(word: str, before: list[str]) -> tuple[str, ...]:
    """Return what a word counts as; a unit is one only behind a number."""
    measured = _MEASURED.fullmatch(word)
    if measured is not None and measured[2].lower() in _UNITS:
        return measured[1], _UNITS[measured[2].lower()]
    lowered = word.lower() if word.isalpha() else word
    if lowered in _ARTICLES or not lowered:
        return ()
    if before and before[-1][:1].isdigit() and (lowered in _UNITS or len(word) <= LONGEST_UNIT):
        return (_UNITS.get(lowered, word),)  # 10 Mb are not 10 MB
    return (_NUMBERS.get(lowered, lowered),)
