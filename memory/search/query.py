"""Understand a query without a model: what it looks for, its words, its language.

The kind of a query decides how much each path counts. It is `structural` when the words ask for
connections, `identifier` when code names make up a good part of the words, else `semantic`.

Relevance looks at the wording as well: what is close to a long question is closer than what is as
close to two words, and an embedder that learned English puts everything further away from a French
question.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from graph import algorithms
from graph.code.values import Layer
from memory.entities import names
from memory.entities import rules as entities_rules
from memory.entities.rules import EntityKind
from memory.taxonomy import LinkKind
from memory.text import days
from memory.text import text as texts

IDENTIFIER_SHARE: Final = 0.25  # of the words, at least; a default, not measured
SHORTEST: Final = 2  # characters of a word that tells something
MOST_IDENTIFIERS: Final = 16  # that are looked for, the first ones; a default
MOST_WORDS: Final = 8  # telling words that count; a pasted page is not closer for its length
LINKS_OF_LAYERS: Final[Mapping[Layer, tuple[LinkKind, ...]]] = {
    Layer.MAGMA_TEMPORAL: (LinkKind.SUPERSEDES, LinkKind.UPDATE),
    Layer.MAGMA_CAUSAL: (LinkKind.CAUSED_BY, LinkKind.RESOLVED_BY, LinkKind.DERIVE),
    Layer.MAGMA_SEMANTIC: (
        LinkKind.EXTEND,
        LinkKind.DEPENDS_ON,
        LinkKind.REQUIRED_WITH,
        LinkKind.SEE_ALSO,
        LinkKind.SIMILAR,
    ),
}
_IDENTIFIER_KINDS = frozenset({EntityKind.CODE, EntityKind.PATH, EntityKind.VERSION})
_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "questions.toml")
_GRAPH_WORDS: Final = texts.compile_patterns(table=_TABLES["patterns"])["connections"]
_OPAQUE = re.compile(  # made by programs and looked up as they are: UUIDs, hashes, tickets
    r"(?<![\w-])(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[a-fA-F]*\d)(?=\d*[a-fA-F])[0-9a-fA-F]{7,64}"
    r"|[A-Z][A-Z0-9]{1,9}-\d+(?:-\d+)*)(?![\w-])"
)
_WORD: Final = re.compile(r"[^\W_]+")
_ENGLISH, _FRENCH = (frozenset(_TABLES["small"][name].split()) for name in ("english", "french"))
_ELISIONS: Final = frozenset({"c", "d", "j", "l", "n", "qu"})
_ACCENT: Final = re.compile("[àâçèéêîôùû]")


class QueryKind(StrEnum):
    """What a query looks for; the rows of the table of weights."""

    IDENTIFIER = "identifier"
    SEMANTIC = "semantic"
    STRUCTURAL = "structural"


class Wording(NamedTuple):
    """How many words of a query tell something, 8 at most, and whether it is French."""

    words: int
    is_french: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query understood: `normalized` is embedded, `keyword_text` goes to BM25.

    `named` are the keys of things it may name, each with its words; `identifiers` have their keys,
    empty for what no memory names; `kinds` are those of links that it is about.
    """

    normalized: str
    kind: QueryKind
    keyword_text: str
    wording: Wording
    identifiers: Mapping[str, str]
    named: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()


def understand(*, text: str, today: date | None = None) -> Query:
    """Understand a query, its days as of today; an empty one is semantic."""
    normalized = texts.normalize(text=text)
    spans = entities_rules.find_entities(text=normalized)
    code = {
        span.text: names.key_of(kind=span.kind, text=span.text)
        for span in spans
        if span.kind in _IDENTIFIER_KINDS
    }
    opaque = dict.fromkeys(found for found in _OPAQUE.findall(normalized) if found not in code)
    identifiers = code | dict.fromkeys(opaque, "")
    named = names.keys_asked(text=normalized, spans=spans)
    layers = algorithms.route(text=normalized)  # in the order of the table
    kind = QueryKind.SEMANTIC
    if _GRAPH_WORDS.search(normalized):
        kind = QueryKind.STRUCTURAL
    elif identifiers and len(identifiers) >= IDENTIFIER_SHARE * len(normalized.split()):
        kind = QueryKind.IDENTIFIER
    return Query(
        normalized=normalized,
        kind=kind,
        keyword_text=_keywords(normalized, today),
        wording=wording_of(text=normalized),
        identifiers=identifiers,
        named=named,
        kinds=tuple(kind for layer in layers for kind in LINKS_OF_LAYERS.get(layer, ())),
    )


def _keywords(text: str, today: date | None) -> str:
    """Return what BM25 looks for: the words, and the one of each day that they name."""
    named = () if today is None else days.find_days(text=text, today=today)
    words = texts.keyword_text(content=text, files=(), tags=())
    return " ".join((words, *(days.word_of(day=day) for day in named)))


def wording_of(*, text: str) -> Wording:
    """Count the words of a query that tell something, or all of them where none does.

    It is French where it has more of what French has than of the small words of English.
    """
    low = text.lower()
    words = _WORD.findall(low)
    small = _ENGLISH | _FRENCH
    telling = [word for word in words if len(word) >= SHORTEST and word not in small]
    french = sum(word in _FRENCH or word in _ELISIONS for word in words)
    english = sum(word in _ENGLISH for word in words)
    return Wording(
        words=min(MOST_WORDS, len(telling or words)),
        is_french=french + len(_ACCENT.findall(low)) > english,
    )
