"""Understand a query: its kind decides how much each path counts.

No model call. The kind is `structural` when the words ask for connections or a graph tool was used
just now, `identifier` when code names make up a good part of the words, else `semantic`.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from graph.algorithms import routing
from memory.entities import names
from memory.entities import rules as entities_rules
from memory.entities.rules import EntityKind, EntitySpan
from memory.search import routes
from memory.text import text as texts

IDENTIFIER_SHARE = 0.25  # of the words, at least; ours
GRAPH_TOOLS = frozenset({"graph_search", "analyze_impact", "get_dependencies", "get_causal_chain"})

_IDENTIFIER_KINDS = frozenset({EntityKind.CODE, EntityKind.PATH, EntityKind.VERSION})
_GRAPH_WORDS = re.compile(
    r"\b(?:depends? on|dependen(?:cy|cies|ts?)|imports?|imported by|calls?|called by|callers?"
    r"|callees?|inherits?|implements|subclass(?:es)?|references to|usages? of|who uses|used by"
    r"|impact of|affect(?:s|ed)? by|breaks? if|blast radius|connected to|related files|path from"
    r")\b",
    re.IGNORECASE,
)
_OPAQUE = re.compile(  # made by programs and looked up as they stand: UUIDs, hashes, tickets
    r"(?<![\w-])(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[a-fA-F]*\d)(?=\d*[a-fA-F])[0-9a-fA-F]{7,64}"
    r"|[A-Z][A-Z0-9]{1,9}-\d+(?:-\d+)*)(?![\w-])"
)
_WORD = re.compile(r"[^\W_][\w'-]*")


class QueryKind(StrEnum):
    """What a query looks for; the rows of the table of weights."""

    IDENTIFIER = "identifier"
    SEMANTIC = "semantic"
    STRUCTURAL = "structural"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query understood: `normalized` is embedded, `keyword_text` goes to BM25.

    `named` are the keys of things it may name, `spelled` the words of each in it;
    `identifier_keys` the keys of its identifiers, empty for what no memory names; `kinds` those of
    links that it is about.
    """

    normalized: str
    kind: QueryKind
    keyword_text: str
    terms: tuple[str, ...]
    identifiers: tuple[str, ...]
    identifier_keys: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    spelled: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


def understand(*, text: str, recent_tools: tuple[str, ...] = ()) -> Query:
    """Understand a query and the agent's latest tool calls; an empty query is semantic."""
    normalized = texts.normalized(text=text)
    spans = entities_rules.find_entities(text=normalized)
    identifiers = _identifiers(normalized, spans)
    asked = names.keys_asked(text=normalized, spans=spans)
    return Query(
        normalized=normalized,
        kind=_kind(normalized, tuple(identifiers), recent_tools),
        keyword_text=texts.keyword_text(content=normalized, files=(), tags=()),
        terms=tuple(dict.fromkeys(_WORD.findall(normalized.lower()))),
        identifiers=tuple(identifiers),
        identifier_keys=tuple(identifiers.values()),
        named=tuple(asked),
        spelled=tuple(asked.values()),
        kinds=routes.kinds_of(layers=routing.route(text=normalized)),
    )


def _identifiers(normalized: str, spans: tuple[EntitySpan, ...]) -> dict[str, str]:
    """Return the identifiers of a query, each with the key under which memories may name it."""
    code = (span for span in spans if span.kind in _IDENTIFIER_KINDS)
    named = {span.text: names.key_of(kind=span.kind, text=span.text) for span in code}
    opaque = (text for text in _OPAQUE.findall(normalized) if text not in named)
    return named | dict.fromkeys(opaque, "")


def _kind(
    normalized: str, identifiers: tuple[str, ...], recent_tools: tuple[str, ...]
) -> QueryKind:
    if _GRAPH_WORDS.search(normalized) or not GRAPH_TOOLS.isdisjoint(recent_tools):
        return QueryKind.STRUCTURAL
    if identifiers and len(identifiers) >= IDENTIFIER_SHARE * len(normalized.split()):
        return QueryKind.IDENTIFIER
    return QueryKind.SEMANTIC
