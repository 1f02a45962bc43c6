"""The accurate strategy: what a statistical reader found in a text, as names.

A reader marks people, organizations, places and dates; all small ones take names of software for
such. So the patterns of every write come first and win, wherever both found something, and what is
left is believed only if it looks like a name that somebody wrote: words with capitals, no sign of
code, no abbreviation, nothing that is known to be software. A date must say its year.

What a reader is, is not decided here: it is a callable from texts to spans.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from memory.entities import names
from memory.entities import rules as patterns
from memory.entities.rules import CANONICAL, WORDS, EntityKind, EntitySpan
from memory.providers.contracts import ReadSpan
from memory.text import text as texts

# Names of software, and nouns of texts about it, that a statistical reader takes for names.
#
# Many are names of people, companies, places or everyday words too. `rules.CANONICAL` holds what
# is certain in any text, and so leaves them out; these two lists only say what a name that was read
# as somebody's is not.

SOFTWARE: Final = texts.read_words(file=Path(__file__).with_name("tables") / "software.txt")
COMMON: Final = texts.read_words(file=Path(__file__).with_name("tables") / "common.txt")

FEW: Final = 2  # names: memories with fewer are read
ENOUGH: Final = 32_767  # stands in place of a reader's number where the patterns found enough
SURE: Final = 0.55  # below every pattern's; ours
LONGEST: Final = 60  # characters of a name; ours
MOST_WORDS: Final = 5  # of a name; ours

KINDS: Final[Mapping[str, EntityKind]] = {  # of the labels of OntoNotes
    "PERSON": EntityKind.PERSON,
    "ORG": EntityKind.ORGANIZATION,
    "GPE": EntityKind.LOCATION,
    "LOC": EntityKind.LOCATION,
    "FAC": EntityKind.LOCATION,
    "DATE": EntityKind.PERIOD,
}
_FENCED: Final = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_PARTICLE: Final = r"(?:of|the|and|de|da|del|di|du|la|van|von|der|den|al|bin|ibn|for|&)"
_WORD: Final = r"[^\W\d_a-z][^\W\d_]*(?:['’\-][^\W\d_]+)*\.?"
_NAME: Final = re.compile(rf"(?:al-)?{_WORD}(?: (?:{_PARTICLE} )*(?:al-)?{_WORD})*\Z")
_ABBREVIATION: Final = re.compile(r"[A-Z]{1,5}s?\Z")
_HUMPED: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")  # as in ETag
_PERIOD: Final = re.compile(
    r"(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
    r"(?: \d{1,2},?)? (?:19|20)\d\d\Z|Q[1-4] (?:19|20)\d\d\Z"
)
_COMPANY: Final = texts.read_words(file=Path(__file__).with_name("tables") / "company.txt")
_BEFORE: Final = re.compile(r"(?:the|The) ")
_AFTER: Final = re.compile(r"['’]s?\Z")


def prose_of(*, content: str) -> str:
    """Return what a reader is given of a memory's text: what is visible, without blocks of code."""
    visible = texts.visible_text(text=content)
    return _FENCED.sub(lambda block: " " * len(block.group()), visible)


def names_of(*, prose: str, read: Iterable[ReadSpan]) -> tuple[names.Name, ...]:
    """Return the names that a reader found in a text beside those that the patterns find."""
    fast = patterns.find_entities(text=prose)
    marked = (_span(prose, one) for one in read)
    believed = tuple(one for one in marked if one is not None and _is_name(one))
    every = patterns.resolve_overlaps(spans=(*fast, *believed))
    known = {(one.type, one.key) for one in names.names_of(spans=fast)}
    found = names.names_of(spans=(one for one in every if one in believed))
    return tuple(one for one in found if (one.type, one.key) not in known)


def enriched_by(*, named: tuple[names.Name, ...]) -> int:
    """Return what stands with a new text: the patterns found enough, or nobody has read it."""
    return ENOUGH if len(named) >= FEW else 0


def _span(prose: str, read: ReadSpan) -> EntitySpan | None:
    """Return a mark as a span of ours, without article and genitive; None for what is no name."""
    kind = KINDS.get(read.label)
    if kind is None or read.is_everyday:
        return None
    marked = prose[read.start : read.end]
    before = _BEFORE.match(marked)
    start = read.start + (before.end() if before else 0)
    text = _AFTER.sub("", prose[start : read.end].rstrip())
    if kind is EntityKind.PERSON and text.rstrip(".").rpartition(" ")[2].casefold() in _COMPANY:
        kind = EntityKind.ORGANIZATION
    return EntitySpan(kind=kind, text=text, start=start, end=start + len(text), confidence=SURE)


def _is_name(span: EntitySpan) -> bool:
    if span.kind is EntityKind.PERIOD:
        return _PERIOD.match(span.text) is not None
    if len(span.text) > LONGEST or _NAME.match(span.text) is None:
        return False
    written = span.text.split()
    if _ABBREVIATION.match(span.text) or any(map(_HUMPED.search, written)):
        return False
    if span.kind is EntityKind.PERSON and any(map(_ABBREVIATION.match, written)):
        return False
    words = [word.casefold() for word in written]
    return len(words) <= MOST_WORDS and not _is_software(span.kind, words)


def _is_software(kind: EntityKind, words: list[str]) -> bool:
    """Say whether words name a tool; a person may have a first name as a tool has."""
    if " ".join(words) in CANONICAL or not WORDS.isdisjoint(words):
        return True
    asked = words[1:] if kind is EntityKind.PERSON and len(words) > 1 else words
    if len(words) == 1 and (words[0] in COMMON or words[0].removesuffix("s") in COMMON):
        return True
    return not SOFTWARE.isdisjoint(asked)
