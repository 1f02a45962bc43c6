"""Which spellings name the same thing: the key under which an entity is known.

`AuthService`, `auth-service`, `auth_service` and “auth services” have one key: small letters, words
apart where a separator or a hump is, a plural of the last word cut where it surely is one; what a
known tool is also called counts as its name. E-mails, URLs, dates, paths and versions have readings
of their own. Two things of different types may have the same key.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from memory.entities import rules as patterns
from memory.entities.rules import CANONICAL, ENTITY_TYPES, EntityKind, EntitySpan, EntityType
from memory.text import text as texts

VERSION: Final = 3  # of this reader; grows with any change of what it reads, see `read_names`
LONGEST: Final = 120  # characters of a key and of a name; what is longer names nothing
MOST: Final = 64  # names of one memory, the first ones
MOST_ASKED: Final = 64  # names looked for in one question
MOST_WORDS: Final = 4  # of a name that stands in a question without any sign
LONGEST_QUESTION: Final = 48  # words of a question that are looked at, the first ones

TYPE_CODES: Final = {type: code for code, type in enumerate(EntityType, start=1)}
TYPES: Final = {code: type for type, code in TYPE_CODES.items()}

_BREAKS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_NO_PLURAL: Final = ("ss", "us", "is", "as", "os")
_SAYS_NOTHING: Final = frozenset({
    "true", "false", "none", "null", "undefined", "self", "cls", "this", "int", "str", "bool",
    "float", "list", "dict", "tuple", "set", "object", "string", "number", "any", "id", "args",
    "kwargs", "return",
})  # fmt: skip
_SMALL: Final = texts.read_words(file=Path(__file__).with_name("tables") / "small.txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A thing named in a text: what it is, its key, and how it is written there."""

    type: EntityType
    key: str
    written: str


def names_in(*, content: str) -> tuple[Name, ...]:
    """Return the things that a memory's text names."""
    return names_of(spans=patterns.find_entities(text=texts.visible_text(text=content)))


def names_of(*, spans: Iterable[EntitySpan]) -> tuple[Name, ...]:
    """Return the things that spans of a text name, each once, as first written."""
    found: dict[tuple[EntityType, str], Name] = {}
    for span in spans:
        key = key_of(kind=span.kind, text=span.text)
        type = ENTITY_TYPES[span.kind]
        if key and (type, key) not in found:
            written = span.text.strip().lstrip("@#") or key
            found[type, key] = Name(type=type, key=key, written=written[:LONGEST])
            if len(found) == MOST:
                break
    return tuple(found.values())


def key_of(*, kind: EntityKind, text: str) -> str:
    """Return the key of a name of that kind; empty where it names nothing."""
    if kind in _KEYS:
        key = _KEYS[kind](unicodedata.normalize("NFKC", text).casefold())
    else:
        key = word_key(text=text)
    says_nothing = key in _SAYS_NOTHING or key in _SMALL
    return key if 1 < len(key) <= LONGEST and not says_nothing else ""


def word_key(*, text: str) -> str:
    """Return the key of a name made of words: what stands before its first bracket."""
    return _joined(_words(text.partition("(")[0]))


def keys_of(*, name: str) -> tuple[str, ...]:
    """Return the keys that a name may have, whatever kind of thing it is of."""
    spans = patterns.find_entities(text=name)
    of_kinds = (key_of(kind=span.kind, text=span.text) for span in spans)
    every = (word_key(text=name.strip().lstrip("@#`")), name.strip().casefold(), *of_kinds)
    return tuple(key for key in dict.fromkeys(every) if key)


def keys_asked(*, text: str, spans: Iterable[EntitySpan]) -> dict[str, str]:
    """Return the keys of what a question may name, each with its words there, whole and apart.

    What has the sign of a name comes first, then runs of one to four words without small ones.
    """
    keys = {
        key_of(kind=span.kind, text=span.text): " ".join((span.text, *_words(span.text)))
        for span in spans
    }
    words = _words(text)[:LONGEST_QUESTION]
    runs = ((start, count) for count in range(MOST_WORDS, 0, -1) for start in range(len(words)))
    for start, count in runs:
        run = words[start : start + count]
        if len(run) == count and _may_name(run):
            keys.setdefault(_joined(run), " ".join(run))
    keys.pop("", None)
    return dict(islice((row for row in keys.items() if len(row[0]) <= LONGEST), MOST_ASKED))


def _may_name(run: tuple[str, ...]) -> bool:
    alone = run[0]
    if len(run) == 1 and alone not in CANONICAL and (len(alone) < 3 or alone in _SAYS_NOTHING):
        return False
    return _SMALL.isdisjoint(run)


def _words(text: str) -> tuple[str, ...]:
    composed = unicodedata.normalize("NFKC", text)
    return tuple(word.casefold() for word in _BREAKS.split(composed) if word)


def _joined(words: tuple[str, ...]) -> str:
    whole = " ".join(words)
    if whole in CANONICAL or not words:
        return CANONICAL.get(whole, whole)
    last = words[-1]
    is_plural = len(last) > 3 and last.isalpha() and last[-1] == "s"
    return whole[:-1] if is_plural and not last.endswith(_NO_PLURAL) else whole


def _date_key(text: str) -> str:
    if text[4:5] == "-":
        return text[:10]
    day, month, year = "", "", ""
    for part in re.findall(r"\w+", text):
        if part[:3] in _MONTHS:
            month = f"{_MONTHS.index(part[:3]) + 1:02}"
        elif len(part) == 4:
            year = part
        else:
            day = part.zfill(2)
    return f"{year}-{month}-{day}"


_KEYS: Final[Mapping[EntityKind, Callable[[str], str]]] = {
    EntityKind.EMAIL: str.strip,
    EntityKind.URL: lambda text: text.partition("://")[2].removeprefix("www.").rstrip("/"),
    EntityKind.DATE: _date_key,
    EntityKind.PATH: lambda text: re.sub(r"\A(?:[~.]{0,2}/)+", "", text),
    EntityKind.VERSION: lambda text: text.removeprefix("v"),
}
