"""A statement taken apart once, so that it can be laid beside many others (`changes`).

Each word has the part that it plays: it counts, denies, is of a closed class of opposites, joins,
or says what the statement is about. Numbers and units have one spelling, words are stems, names are
marked. English and French. Of a longer text the beginning is read, so the cost is bounded.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from memory.entities.rules import CANONICAL
from memory.records import assertions, restatements, statement_clauses
from memory.text import text as texts

LONGEST: Final = 2_000  # characters of a text that are compared; default
FARTHEST_VERB: Final = 8  # words, within which the verb of a sentence is looked for; default
MOST_TOKENS: Final = 120  # of a text that are compared; default

_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "changes.toml")
NEGATORS, LINKED, BETWEEN, SMALL = (
    frozenset(_TABLES["words"][name].split()) for name in ("negators", "linked", "between", "small")
)
_VERBS, PRONOUNS, _ARTICLES = (
    frozenset(_TABLES["words"][name].split()) for name in ("verbs", "pronouns", "articles")
)
POLES: Final = {  # of each word of a closed class: the class, and which of its lines
    word: (name, place)
    for name, lines in _TABLES["opposites"].items()
    for place, line in enumerate(lines)
    for word in line.split()
}
PATTERNS: Final = texts.compile_patterns(table=_TABLES["patterns"])
_ELISION: Final = re.compile(r"\b(n|l|d|s|j|c|m|t|qu|lorsqu|jusqu)'(?=\w)", re.IGNORECASE)
_FRENCH: Final = re.compile(r"\b(?:le|la|les|des|du|une)\b", re.IGNORECASE)
_HAS: Final = re.compile(r"\ba\b")
_LABEL: Final = re.compile(r"(?:[^:;.!?\n]{1,60}(?: \u203a |: ))+")  # headings, what a row is of
_BREAK: Final = re.compile(r"[();]|[:,.!?](?=\s)|\s[\u2014\u2013-]\s")
NUMBER: Final = re.compile(r"[~<>=$\u20acv]*\d[\d.,:]*[+x%]?")
_MARK: Final = re.compile(r"[\d_./:#@]")
_SIGNS: Final = frozenset({"|", "<=", ">="})
_EMPTY: Final = frozenset({"", "-", "/", "\u2192"})
_COUNTED: Final = re.compile(r"(\d[\d.]*|[a-z]+)-([a-z]+)")


class Part(StrEnum):
    """What a word does in a statement."""

    NUMBER = "number"
    UNIT = "unit"
    NEGATOR = "negator"
    POLE = "pole"
    SMALL = "small"
    WORD = "word"


class Token(NamedTuple):
    """A word as it is compared, in small letters, its part, its clause, and whether it names."""

    key: str
    word: str
    part: Part
    clause: int
    is_name: bool

    @property
    def may_be_verb(self) -> bool:
        """Whether it may be a verb of a third person; or it is a plural."""
        return self.part is Part.WORD and self.word.isalpha() and self.word.endswith("s")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedStatement:
    """A text taken apart once, for comparing it with many others.

    `words` are the stems that say what it is about; `names` those of them that name something,
    `subject` those before its verb; `scopes` where and when it holds; `announcements` the
    expressions that announce a change; `label` the headings that it begins with.
    """

    text: str
    tokens: tuple[Token, ...]
    words: frozenset[str]
    names: frozenset[str]
    subject: frozenset[str]
    scopes: frozenset[str]
    announcements: frozenset[str]
    label: str


def read(*, text: str) -> ParsedStatement:
    """Take a text apart; of a longer one its beginning."""
    text = texts.straighten_apostrophes(text=text[:LONGEST])
    tokens = tuple(_tokens(text))[:MOST_TOKENS]
    return ParsedStatement(
        text=text,
        tokens=tokens,
        words=words_of(tokens=tokens),
        names=words_of(tokens=(one for one in tokens if one.is_name)),
        subject=words_of(tokens=tokens[: _verb_place(tokens)]),
        scopes=assertions.scopes(text=text),
        announcements=frozenset(_announcements(text)),
        label=label[0] if (label := _LABEL.match(text)) else "",
    )


def _verb_place(tokens: tuple[Token, ...]) -> int:
    """Return where the verb probably stands, 0 where a sentence begins with it or with a pronoun.

    A verb of being is known; another one ends in “s” behind a noun. Without either, what begins
    with an article has its subject in its first third.
    """
    if not tokens or tokens[0].word in PRONOUNS:
        return 0
    begin = tuple(enumerate(pairwise(tokens[:FARTHEST_VERB]), 1))
    known = (n for n, (_, one) in begin if one.word in _VERBS)
    finite = (n for n, (noun, one) in begin if noun.part is Part.WORD and one.may_be_verb)
    otherwise = len(tokens) // 3 if tokens[0].word in _ARTICLES else 0
    return next(known, next(finite, otherwise))


def _tokens(text: str) -> Iterable[Token]:
    if _FRENCH.search(text):
        text = _HAS.sub("avait", text)  # no article there
    plain = _BREAK.sub(
        " | ", _ELISION.sub(r"\1' ", text.replace("*", " ").replace("<http", "http"))
    )
    clause, before = 0, Part.SMALL
    for word, is_name in _plain_words(plain):
        if word == "|":
            clause += 1
            continue
        part = _part_of(word, before)
        key = statement_clauses.stem(word=word) if part is Part.WORD and word.isalpha() else word
        key = key.strip("~v,.:+") if part is Part.NUMBER else key
        yield Token(key, word, part, clause, is_name)
        before = part


def _plain_words(text: str) -> Iterable[tuple[str, bool]]:
    """Return words in small letters without the marks around them, and `|` between clauses.

    With each, whether it names something: it has a capital, a mark or a digit inside, or is a tool.
    """
    for told in restatements.telling_words(text=text):
        bare = told if told in _SIGNS else told.strip("[]{}<>\"'\u201c\u201d«»,.;:!?`")
        word = bare.removesuffix("'s").lower()
        is_name = _is_name(bare)
        counted = _COUNTED.fullmatch(word)
        number = restatements.number_of(word=counted[1]) if counted else ""
        if counted is not None and number[:1].isdigit():
            yield number, False
            yield restatements.unit_of(word=counted[2]), False
        elif word.startswith("non-"):
            yield "not", False
            yield word[4:], is_name
        elif word not in _EMPTY:
            yield word, is_name


def _is_name(word: str) -> bool:
    lowered = word.lower()
    return lowered != word or lowered in CANONICAL or _MARK.search(word) is not None


def _part_of(word: str, before: Part) -> Part:
    if before is Part.NUMBER and restatements.is_unit(word=word):
        return Part.UNIT
    if NUMBER.fullmatch(word):
        return Part.NUMBER
    if word in NEGATORS or word in LINKED:
        return Part.NEGATOR
    if word in POLES:
        return Part.POLE
    return Part.SMALL if word in SMALL or word in _VERBS else Part.WORD


def words_of(*, tokens: Iterable[Token]) -> frozenset[str]:
    """Return the stems that say what something is about."""
    return frozenset(one.key for one in tokens if one.part is Part.WORD)


def _announcements(text: str) -> Iterable[str]:
    for match in PATTERNS["announces"].finditer(text):
        clause = re.split(r"[,;.]", text[max(0, match.start() - 80) : match.start()])[-1]
        is_attribute = PATTERNS["attribute"].search(text, max(0, match.start() - 20), match.end())
        is_done = PATTERNS["done_to"].match(text, match.end())
        if is_attribute and (is_attribute["after"] or not is_done):
            continue
        if PATTERNS["condition"].search(clause) is None:
            yield match.group().lower()
