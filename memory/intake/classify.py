"""What an accepted candidate is: type, governance, structure, files, modules, entities.

A given type is believed. Otherwise markers in the text vote: each matching expression adds its
weight, the heaviest type wins, and a text without markers is a fact. Nothing here calls a model.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from memory import taxonomy
from memory.entities import rules as entities_rules
from memory.entities.rules import WRITTEN_DATES, EntityKind, EntitySpan
from memory.intake.markers import MARKERS
from memory.taxonomy import Governance, MemoryType, Structure
from memory.text import text as texts

LEDGER_LINES = 2  # key-value lines
SEQUENCE_WORDS = 2  # different ones make a timeline; default, not measured
HIERARCHY_WORDS = 2  # different ones make a taxonomy, as indented bullets do; default
_GENERIC_FOLDERS = frozenset(
    {"src", "lib", "app", "apps", "source", "packages", "test", "tests", "__tests__", "spec"}
)


class TypeBasis(StrEnum):
    """Why a memory has its type."""

    GIVEN = "given"
    MARKERS = "markers"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """Everything classification derives from a content, ready to be stored."""

    type: MemoryType
    type_basis: TypeBasis
    governance: Governance
    structure: Structure
    files: tuple[str, ...]
    modules: tuple[str, ...]
    entities: tuple[EntitySpan, ...]
    citation: str


_KEY_VALUE = re.compile(
    r"^[ \t]*(?:[-*] )?[\w][\w .-]{0,40}(?::[ \t]|[ \t]*=[ \t]*)\S", re.MULTILINE
)
_DATE = re.compile(rf"(?<!\d)\d{{4}}-\d{{2}}-\d{{2}}(?!\d)|{'|'.join(WRITTEN_DATES)}")
_SEQUENCE = re.compile(
    r"\b(?:first|then|next|after that|afterwards|finally|later|before that|d['\u2019]abord|puis"
    r"|ensuite|enfin)\b",
    re.I,
)
_SEQUENCE_SIGNS = (
    "first", "then", "next", "after", "finally", "later", "before that", "abord", "puis",
    "ensuite", "enfin",
)  # fmt: skip
_BULLETS = re.compile(r"^[ \t]*[-*+] .+\n(?:.*\n)?[ \t]{2,}[-*+] ", re.MULTILINE)
_HIERARCHY = re.compile(
    r"\b(?:parent|child|children|inherits?|subclass|superclass|subtype)\b", re.I
)
_HIERARCHY_SIGNS = ("parent", "child", "inherit", "class", "subtype")


def classify(
    *,
    content: str,
    type: MemoryType | None,
    tags: tuple[str, ...],
    files: tuple[str, ...],
    modules: tuple[str, ...],
    pinned: bool,
) -> Classification:
    """Classify a candidate; given files and modules come first, those named in the text follow."""
    visible = texts.visible_text(text=content)
    found = entities_rules.find_entities(text=visible)
    chosen, basis = (type, TypeBasis.GIVEN) if type is not None else type_of(content=visible)
    named = tuple(span.text for span in found if span.kind is EntityKind.PATH)
    all_files = tuple(dict.fromkeys((*files, *named)))
    from_files = tuple(module for path in all_files if (module := module_of(path=path)))
    return Classification(
        type=chosen,
        type_basis=basis,
        governance=taxonomy.governance_of(type=chosen, tags=tags, pinned=pinned),
        structure=structure_of(content=visible),
        files=all_files,
        modules=tuple(dict.fromkeys((*modules, *from_files))),
        entities=found,
        citation=texts.citation_text(content=content),
    )


def type_of(*, content: str) -> tuple[MemoryType, TypeBasis]:
    """Guess the type from markers; a tie goes to the first marker, none means a fact."""
    votes: dict[MemoryType, int] = {}
    for type, weight, pattern in MARKERS:
        if pattern.search(content):
            votes[type] = votes.get(type, 0) + weight
    if not votes:
        return MemoryType.FACT, TypeBasis.DEFAULT
    return max(votes, key=lambda type: votes[type]), TypeBasis.MARKERS


def structure_of(*, content: str) -> Structure:
    """Detect how a text is built: ledger, timeline, taxonomy, else narrative."""
    if len(_KEY_VALUE.findall(content)) >= LEDGER_LINES:
        return Structure.LEDGER
    in_sequence = _distinct(_SEQUENCE, _SEQUENCE_SIGNS, content) >= SEQUENCE_WORDS
    if in_sequence or _DATE.search(content):
        return Structure.TIMELINE
    in_hierarchy = _distinct(_HIERARCHY, _HIERARCHY_SIGNS, content) >= HIERARCHY_WORDS
    if in_hierarchy or _BULLETS.search(content):
        return Structure.TAXONOMY
    return Structure.NARRATIVE


def module_of(*, path: str) -> str:
    """Name the module of a file: its nearest folder that is not a generic one; empty if none is."""
    folders = PurePosixPath(path).parent.parts
    telling = [name for name in folders if name.strip("./~") and name not in _GENERIC_FOLDERS]
    return telling[-1] if telling else ""


def _distinct(pattern: re.Pattern[str], signs: tuple[str, ...], content: str) -> int:
    """Count different words; one of the signs stands in each text that has any."""
    lowered = content.lower()
    if not any(sign in lowered for sign in signs):
        return 0
    return len({word.lower() for word in pattern.findall(content)})
