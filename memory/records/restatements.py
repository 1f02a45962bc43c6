"""Whether two texts say the same in the same words, so that one of them adds nothing.

An embedder hardly sees that “before” became “after”, or that “at two” became “at four”, and a list
of words that matter is never whole. So nothing is weighed here: two texts say the same if their
words agree, all of them and in their order, and few ways of writing are left aside: the capital
that begins a sentence, marks that end a part of it, backquotes, which article stands there, short
forms, numbers in words, how units are spelled. Signs, brackets and the case of all other words may
tell something. Whatever differs in them is another statement: to keep one text too many costs
little, and one too few is lost.
"""

import re
from pathlib import Path
from typing import Final

from memory.text import text as texts

_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "restatements.toml")
_NUMBERS, _UNITS = (
    {word: one for one, words in _TABLES[name].items() for word in words.split()}
    for name in ("numbers", "units")
)
_SHORT: Final[dict[str, str]] = _TABLES["short"]
_NEGATION: Final = re.compile(r"n't\Z")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=000(?!\d))")  # “1,500” is a fraction in French
_MEASURED: Final = re.compile(r"(\d[\d.]*)([^\W\d_]+|%)")
_SIGNS: Final = str.maketrans({"\u2265": ">=", "\u2264": "<=", "\u2260": "!=", "`": None})
_ENDS: Final = ".,;:"
_LAST: Final = ".!?"  # what ends a sentence


def telling_words(*, text: str) -> tuple[str, ...]:
    """Return the words of a text in their order, each in the one way in which it is compared."""
    plain = texts.straighten_apostrophes(text=texts.normalize(text=text)).translate(_SIGNS)
    found: list[str] = []
    is_first = True
    for chunk in _THOUSANDS.sub("", plain).split():
        word = chunk.rstrip(_ENDS) or chunk
        if is_first and word[1:].islower():
            word = word[0].lower() + word[1:]
        for part in _SHORT.get(word, _NEGATION.sub(" not", word)).split():
            found.extend(_compared(part, found))
        is_first = chunk[-1] in _LAST
    if found:
        found[-1] = found[-1].rstrip("!") or found[-1]
    return tuple(found)


def restates(*, old: str, new: str) -> bool:
    """Say whether two texts say the same in the same words."""
    return telling_words(text=old) == telling_words(text=new)


def first_of_same(*, contents: tuple[str, ...]) -> tuple[int, ...]:
    """Return for each content the position of the first that says the same, be it its own."""
    first: dict[tuple[str, ...], int] = {}
    return tuple(
        first.setdefault(telling_words(text=content), place)
        for place, content in enumerate(contents)
    )


def is_unit(*, word: str) -> bool:
    """Say whether a word, as `telling_words` returns it, is a unit."""
    return word in _TABLES["units"]


def unit_of(*, word: str) -> str:
    """Return the one spelling of a unit, any other word as it is."""
    return str(_UNITS.get(word, word))


def number_of(*, word: str) -> str:
    """Return a number in digits, any other word as it is."""
    return str(_NUMBERS.get(word, word))


def _compared(word: str, before: list[str]) -> tuple[str, ...]:
    """Return what a word counts as; a unit is one only behind a number."""
    measured = _MEASURED.fullmatch(word)
    if measured is not None and measured[2] in _UNITS:
        return measured[1], _UNITS[measured[2]]
    if before and before[-1].replace(".", "").isdigit() and word in _UNITS:
        return (_UNITS[word],)
    return (number_of(word=word),)
