"""What is kept of a file besides its symbols, as plain JSON, and a file read back from it.

Symbols are nodes, and their names, kinds and lines are not kept twice. What a file refers to is
kept as it was written, so that its edges can be made anew without its text whenever another file
changes. Both are bounded: a generated file may hold more than a graph can use.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from graph.code.languages import Language
from graph.code.manifest import LONGEST_PATH
from graph.code.values import Parsed, Reference, ReferenceKind, Symbol

MOST_SYMBOLS: Final = 5_000  # of a file
MOST_REFERENCES: Final = 20_000  # of a file
LONGEST_NAME: Final = 200  # characters of a symbol's own name, and of what is referred to
LOOSE: Final = "\x01"  # begins a text that stands for a node that is gone, and no other
MOST_LOOKS: Final = 500  # for secrets in the names of a file
TOO_MANY: Final = "It defines or names more than an index keeps; the rest is left out."


def bounded(*, parsed: Parsed) -> Parsed:
    """Return a file without what is too long or too much to be kept; `problems` say so."""
    symbols = [
        one
        for one in parsed.symbols
        if len(one.name) <= LONGEST_NAME and len(one.qualified) <= LONGEST_PATH
    ][:MOST_SYMBOLS]
    sources = {"", *(one.qualified for one in symbols)}
    references = [one for one in parsed.references if one.source in sources and _is_brief(one)]
    references = references[:MOST_REFERENCES]
    before = len(parsed.symbols) + len(parsed.references)
    if len(symbols) + len(references) == before:
        return parsed
    return replace(
        parsed,
        symbols=tuple(symbols),
        references=tuple(references),
        problems=(*parsed.problems, TOO_MANY),
    )


def without(*, parsed: Parsed, is_secret: Callable[[str], bool]) -> Parsed:
    """Return a file without the symbols and references that hold what looks like a secret."""
    qualified = (one.qualified for one in parsed.symbols)
    named = (text for one in parsed.references for text in _texts(one) if text)
    secret = _secret(tuple(dict.fromkeys((*qualified, *named))), is_secret)
    if not secret:
        return parsed
    symbols = tuple(one for one in parsed.symbols if one.qualified not in secret)
    sources = {"", *(one.qualified for one in symbols)}
    return replace(
        parsed,
        symbols=symbols,
        references=tuple(
            one
            for one in parsed.references
            if one.source in sources and secret.isdisjoint(_texts(one))
        ),
    )


def as_json(*, parsed: Parsed) -> dict[str, Any]:
    """Write down what a file's node keeps."""
    parents = {one.qualified: one.parent for one in parsed.symbols if one.parent}
    references = [
        [one.kind.value, one.source, one.target, one.line, one.name, one.local]
        for one in parsed.references
    ]
    kept: dict[str, Any] = {"references": references, "parents": parents}
    return {**kept, "problems": list(parsed.problems)} if parsed.problems else kept


def read(*, language: str, lines: int, kept: dict[str, Any], symbols: Iterable[Symbol]) -> Parsed:
    """Return a file as it was read, from what is kept."""
    parents = kept.get("parents") or {}
    return Parsed(
        language=Language(language) if language else None,
        lines=lines,
        symbols=tuple(replace(one, parent=parents.get(one.qualified, "")) for one in symbols),
        references=tuple(
            Reference(ReferenceKind(kind), source, target, line, name, local)
            for kind, source, target, line, name, local in kept.get("references") or ()
        ),
    )


def _is_brief(one: Reference) -> bool:
    return all(len(text) <= LONGEST_NAME and LOOSE not in text for text in _texts(one))


def _secret(texts: tuple[str, ...], is_secret: Callable[[str], bool]) -> frozenset[str]:
    """Return the texts that hold what looks like a secret, looked for by halves.

    Each look costs, and a file may name many: where they are used up, what is left is secret.
    """
    found: set[str] = set()
    left, looks = [texts], MOST_LOOKS
    while left:
        some = left.pop()
        looks -= 1
        if looks >= 0 and not is_secret("\n".join(some)):
            continue
        if looks < 0 or len(some) == 1:
            found.update(some)
        else:
            half = len(some) // 2
            left += [some[:half], some[half:]]
    return frozenset(found)


def _texts(one: Reference) -> tuple[str, ...]:
    return (one.target, one.name, one.local)
