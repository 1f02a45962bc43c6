"""The texts of a memory: what can be stored, what is hashed, embedded, indexed, shown on a chip.

One content has several readings: normalized for the hash, contextual for the embedder, widened with
the parts of identifiers for BM25, visible for people and matching. All are derived, none is stored
in its place.

Source text, which the tag `code` marks, has its programming language among its words for BM25: a
question names it, the text itself hardly ever does. Where all source is of one language, its name
in a question then tells nothing, which is true; without it, that name was among the rarest words
and led to whatever happens to mention it.
"""

import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from memory.taxonomy import CITATION_LENGTH, CODE_TAG, MemoryType
from memory.text import days

EARLIEST: Final = 1900  # year
LATEST: Final = 2200  # year; both defaults, not measured
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e01ef]"
)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_WHITESPACE = re.compile(r"\s+")
_COMPOUND = re.compile(r"(?<![\w./@-])[\w./@-]*\w(?![\w/-])")
_SEPARATORS = re.compile(r"[./@-]+|_+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_SIMPLE = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+|\d+)\Z")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_APOSTROPHES = dict.fromkeys(map(ord, "\u2018\u2019\u02bc"), "'")
WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


class TextFaultKind(StrEnum):
    """A character that no database text can hold."""

    NUL = "nul"
    LONE_SURROGATE = "lone_surrogate"


def check_text(*, text: str) -> TextFaultKind | None:
    """Return the first character that Postgres or UTF-8 refuses; None when the text is fine."""
    found = _UNSTORABLE.search(text)
    if found is None:
        return None
    return TextFaultKind.NUL if found.group() == "\x00" else TextFaultKind.LONE_SURROGATE


def is_storable_time(*, time: datetime) -> bool:
    """Say whether a time with a zone lies between the years that are kept.

    A time of the year 9999 or of the year 1 may be written with an offset that leads out of the
    calendar; Postgres stores it, and whoever reads the row then reads nothing.
    """
    try:
        return EARLIEST <= time.astimezone(UTC).year <= LATEST
    except (OverflowError, ValueError):
        return False


def visible_text(*, text: str) -> str:
    """Drop bidirectional controls and invisible characters, which make a text read as another."""
    return _INVISIBLE.sub("", text)


def straighten_apostrophes(*, text: str) -> str:
    """Return a text with straight apostrophes, each in its place, for patterns that know no other.

    What an agent or an editor sets typographically says the same.
    """
    return text if text.isascii() else text.translate(_APOSTROPHES)


def normalize(*, text: str) -> str:
    """Return the reading that is hashed: visible, NFC, each run of whitespace one space."""
    composed = unicodedata.normalize("NFC", visible_text(text=text))
    return _WHITESPACE.sub(" ", composed).strip()


def content_hash(*, content: str) -> str:
    """Hash the normalized content: SHA-256, 64 hexadecimal digits.

    Raises UnicodeEncodeError for a lone surrogate; `check_text` comes first.
    """
    return hashlib.sha256(normalize(text=content).encode()).hexdigest()


def contextual_text(*, files: tuple[str, ...], module: str, type: MemoryType, content: str) -> str:
    """Compose the text to embed: `Files: … | Module: … | Type: …`, a blank line, the content.

    What is unknown is left out of the first line.
    """
    known = (("Files", ", ".join(files)), ("Module", module), ("Type", type.value))
    first_line = " | ".join(f"{name}: {value}" for name, value in known if value)
    return f"{first_line}\n\n{content}"


def identifier_parts(*, text: str) -> tuple[str, ...]:
    """Split camelCase, snake_case, kebab-case, dotted names and paths into lower-case parts.

    Gives each compound's pieces at every separator and then at every hump, in order, each once;
    words that are not compound give nothing, since they are in the text already.
    """
    parts: dict[str, None] = {}
    for match in _COMPOUND.finditer(text):
        compound = match.group().strip("./@-")
        if _SIMPLE.match(compound):  # most words: their only piece is themselves
            continue
        for piece in _pieces(compound):
            if piece != compound:
                parts[piece.lower()] = None
    return tuple(parts)


def keyword_text(
    *, content: str, files: tuple[str, ...], tags: tuple[str, ...], day: date | None = None
) -> str:
    """Compose the text for BM25: content, files, tags and day, then the parts of identifiers.

    Source text, which the tag `code` marks, has its language among its words.
    """
    language = language_of(content=content, files=files) if CODE_TAG in tags else ""
    when = "" if day is None else days.words_of(day=day)
    lines = (content, " ".join(files), " ".join(tags), language, when)
    whole = "\n".join(line for line in lines if line)
    parts = " ".join(identifier_parts(text=whole))
    return f"{whole}\n{parts}" if parts else whole


def citation_text(*, content: str) -> str:
    """Cut the first sentence to at most 40 characters, at a word, for a citation chip."""
    sentence = _SENTENCE_END.split(normalize(text=content), maxsplit=1)[0]
    if len(sentence) <= CITATION_LENGTH:
        return sentence
    room = sentence[: CITATION_LENGTH - 1]
    at_word = room.rsplit(" ", 1)[0] if sentence[CITATION_LENGTH - 1] != " " else room
    return at_word.rstrip(" ,;:") + "…"


def read_words(*, file: Path) -> frozenset[str]:
    """Return the words of a list that lies beside its module; its first line is a comment."""
    _, words = file.read_text(encoding="utf-8").split("\n", 1)
    return frozenset(words.split())


def read_tables(*, file: Path) -> dict[str, Any]:
    """Return the tables of a TOML file that lies beside its module."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


SPACES_MOST: Final = 8  # between two words of an expression; default, not measured


def compile_patterns(*, table: Mapping[str, str], flags: int = 0) -> dict[str, re.Pattern[str]]:
    """Return a table's expressions by name; the lines of each are one expression.

    White space in them is bounded: an expression that looks for it anywhere would cost the square
    of a long run of it.
    """
    bounded = {name: _bound_space(text.replace("\n", "")) for name, text in table.items()}
    return {name: re.compile(text, flags) for name, text in bounded.items()}


def _bound_space(expression: str) -> str:
    for sign, least in (("+", 1), ("*", 0)):
        expression = expression.replace(rf"\s{sign}", rf"\s{{{least},{SPACES_MOST}}}")
    return expression


_LITTLE: Final = read_words(file=Path(__file__).with_name("tables") / "little.txt")


def content_words(*, text: str) -> frozenset[str]:
    """Return the words that say something, in lower case: no articles, pronouns and the like."""
    return frozenset(word.lower() for word in WORD.findall(text)) - _LITTLE


def _pieces(compound: str) -> tuple[str, ...]:
    segments = [*filter(None, re.split(r"[/@]+", compound))]
    names = [name for segment in segments for name in _SEPARATORS.split(segment) if name]
    dotted = [name for segment in segments for name in segment.split(".") if name]
    humps = [hump for name in names for hump in _CAMEL.findall(name)]
    return (*segments, *dotted, *names, *humps)


_LANGUAGES: Final = read_tables(file=Path(__file__).with_name("tables") / "languages.toml")
_NAMES: Final = {
    ending: name for name, endings in _LANGUAGES["endings"].items() for ending in endings.split()
}
_ENDING: Final = re.compile(r"\.(\w{1,6})(?:[:#]\S*)?\Z")
_SIGNS: Final = {  # at the start of a line
    name: re.compile(r"^[ \t]*(?:" + sign.replace("\n", "") + ")", re.MULTILINE)
    for name, sign in _LANGUAGES["signs"].items()
}


def language_of(*, content: str, files: tuple[str, ...]) -> str:
    """Return the language by the first file whose ending tells it, else by signs; "" for none."""
    endings = (found[1].lower() for file in files if (found := _ENDING.search(file)))
    told = next((_NAMES[ending] for ending in endings if ending in _NAMES), "")
    return told or next((name for name, sign in _SIGNS.items() if sign.search(content)), "")
