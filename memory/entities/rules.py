"""Entities by pattern, on every write: mentions, tags, mail, URLs, dates, paths, code, versions,
tools, services, quoted names.

This is the fast reading; the kinds from `PERSON` on are found by the accurate one alone
(`accurate`). Each kind is one expression that can start only at a word's beginning, so a scan is
linear in the text. Where spans overlap the highest confidence wins, then the longest.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from memory.text.text import read_tables

_FOLDER: Final = Path(__file__).with_name("tables")
ALIASES: Final = {  # by the one name of each tool: what else it is called
    tool: tuple(aliases) for tool, aliases in read_tables(file=_FOLDER / "tools.toml").items()
}
CANONICAL: Final[Mapping[str, str]] = {
    alias: name for name, others in ALIASES.items() for alias in (name, *others)
}
WORDS: Final = frozenset(alias for alias in CANONICAL if alias.isalnum())  # names of one word


class EntityKind(StrEnum):
    """What a span looks like."""

    EMAIL = "email"
    URL = "url"
    DATE = "date"
    PATH = "path"
    CODE = "code"
    VERSION = "version"
    MENTION = "mention"
    TOOL = "tool"
    QUOTED = "quoted"
    PERSON = "person"
    ORGANIZATION = "organization"
    LOCATION = "location"
    PERIOD = "period"


class EntityType(StrEnum):
    """What a named thing is."""

    PERSON = "person"
    PROJECT = "project"
    ORGANIZATION = "organization"
    LOCATION = "location"
    SYSTEM = "system"
    EMAIL = "email"
    URL = "url"
    OTHER = "other"


_TABLES: Final = read_tables(file=_FOLDER / "patterns.toml")
ENTITY_TYPES: Final = {
    EntityKind(kind): EntityType(type) for kind, type in _TABLES["types"].items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitySpan:
    """One entity in a text: kind, text as it stands, where, and how sure the pattern is (0..1)."""

    kind: EntityKind
    text: str
    start: int
    end: int
    confidence: float


def _filled(text: str) -> str:
    """Return an expression as one line, with the parts that it names."""
    for name, part in _TABLES["parts"].items():
        text = text.replace(f"<{name}>", part)
    return text.replace("\n", "")


_PATTERNS: tuple[tuple[EntityKind, float, str, str], ...] = tuple(
    (EntityKind(row["kind"]), row["sure"], _filled(row["text"]), _filled(row["hint"]))
    for row in _TABLES["patterns"]
)
WRITTEN_DATES: Final = tuple(  # with the name of a month
    _filled(row["text"]) for row in _TABLES["patterns"] if "<month>" in row["text"]
)
_COMPILED = tuple(
    (kind, sure, re.compile(pattern), hint) for kind, sure, pattern, hint in _PATTERNS
)
_HINTS = tuple((hint, re.compile(hint)) for hint in dict.fromkeys(row[-1] for row in _PATTERNS))
_TRAILING = ".,;:!?"
_WORD: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9]+")
_GOES_ON: Final = re.compile(r"[/.]\w")  # a path or the name of a file
_TOOL_SURE: Final = 0.62  # ours


def find_entities(*, text: str) -> tuple[EntitySpan, ...]:
    """Find the entities of a text in their order; spans never overlap."""
    present = {hint for hint, pattern in _HINTS if pattern.search(text)}
    spans = [
        _span(kind, match, confidence)
        for kind, confidence, pattern, hint in _COMPILED
        if hint in present
        for match in pattern.finditer(text)
    ]
    return resolve_overlaps(spans=(*spans, *_tools(text)))


def resolve_overlaps(*, spans: tuple[EntitySpan, ...]) -> tuple[EntitySpan, ...]:
    """Keep of overlapping spans the most confident, then the longest, then the first."""
    best_first = sorted(
        spans, key=lambda span: (-span.confidence, span.start - span.end, span.start)
    )
    kept: list[EntitySpan] = []
    taken: set[int] = set()
    for span in best_first:
        places = range(span.start, span.end)
        if taken.isdisjoint(places):
            kept.append(span)
            taken.update(places)
    return tuple(sorted(kept, key=lambda span: span.start))


def _tools(text: str) -> Iterator[EntitySpan]:
    """Find the tools that a word of the text names; a word is letters and digits."""
    if WORDS.isdisjoint(_WORD.findall(text.lower())):
        return
    for match in _WORD.finditer(text):
        before = text[match.start() - 1 : match.start()]
        is_part = before in {".", "/", "-"} or _GOES_ON.match(text, match.end())
        if match.group().lower() in WORDS and not is_part:
            yield _span(EntityKind.TOOL, match, _TOOL_SURE)


def _span(kind: EntityKind, match: re.Match[str], confidence: float) -> EntitySpan:
    text = match.group().rstrip(_TRAILING)
    return EntitySpan(
        kind=kind,
        text=text,
        start=match.start(),
        end=match.start() + len(text),
        confidence=confidence,
    )
