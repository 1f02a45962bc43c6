"""What a file refers to: imports, calls, and what its classes inherit and implement."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter

from tree_sitter import Node

from graph.code import languages
from graph.code.languages import Language
from graph.code.symbols import File, Match, Scope, text_of
from graph.code.values import Reference, ReferenceKind

MOST_PATHS = 1_000  # of one declaration
_WORD = re.compile(r"(?:r#)?[\w$]+|::|[{},*]")


Path = tuple[tuple[str, ...], str]  # its segments, and what its last one is called here


def unfold(*, text: str) -> tuple[Path, ...]:
    """Return the paths of a declaration's tree in their order; its last segment may be `*`."""
    found: list[Path] = []
    stack: list[tuple[str, ...]] = []
    segments: tuple[str, ...] = ()
    alias = ""
    words = (word for word in _WORD.findall(text) if word != "::")
    for word in words:
        if word == "as":
            alias = next(words, "")
        elif word == "{":
            stack.append(segments)
        elif word in {"}", ","}:
            shared = stack[-1] if stack else ()
            found.extend(_path(segments, alias) if len(segments) > len(shared) else ())
            segments, alias = shared, ""
            if word == "}":  # a comma follows, or another brace: nothing is left to be named
                stack = stack[:-1]
                segments = ()
        else:
            segments = (*segments, word)
        if len(found) >= MOST_PATHS or len(segments) > MOST_PATHS:
            return tuple(found)
    return (*found, *_path(segments, alias))


def _path(segments: tuple[str, ...], alias: str) -> Iterator[Path]:
    if segments[-1:] == ("self",) and len(segments) > 1:
        segments = segments[:-1]
    if segments:
        yield segments, alias or segments[-1]


LONGEST_TARGET = 200  # characters; longer ones are written by their last name
MOST_REFERENCES = 20_000  # of a file

_SIMPLE = {  # captures of what is referred to by name
    "calls": ReferenceKind.CALLS,
    "inherits": ReferenceKind.INHERITS,
    "implements": ReferenceKind.IMPLEMENTS,
}
_NAME = re.compile(r"[\w$#]+(?:(?:\.|::)[\w$#]+)*")
_GO_VERSION = re.compile(r"v\d+")

Placed = tuple[int, Reference]


def placed(*, matches: Iterable[Match], file: File) -> list[Placed]:
    """Return what is referred to in a file once each, in order, with the byte where it stands.

    An import that names what it takes says it all, and is not told a second time without.
    """
    once = sorted(dict.fromkeys(_placed(matches, file)), key=itemgetter(0))
    telling = {place for place, reference in once if reference.local or reference.name}
    return [
        (place, reference)
        for place, reference in once
        if reference.kind is not ReferenceKind.IMPORTS
        or reference.local
        or reference.name
        or place not in telling
    ]


def references(
    *, placed: Iterable[Placed], scopes: Sequence[Scope], file: File
) -> tuple[Reference, ...]:
    """Return what is referred to in a file, each by the symbol that it stands in.

    A file of tests refers to the file that its own name says it is about.
    """
    name = ""
    if languages.is_test_file(path=file.path, language=file.language):
        name = languages.tested_name(path=file.path)[:LONGEST_TARGET]
    tested = [Reference(kind=ReferenceKind.TESTS, source="", target=name, line=1)] if name else []
    return (*tested, *_sourced(placed, scopes))[:MOST_REFERENCES]


def _placed(matches: Iterable[Match], file: File) -> Iterator[Placed]:
    for match in matches:
        if "from" in match:
            node = match["from"][0]
            yield node.start_byte, _imported(match, node, file)
        elif "uses" in match:
            node = match["uses"][0]
            for (*module, name), alias in unfold(text=text_of(node)):
                local = "" if name == "*" else alias
                yield node.start_byte, _import(node, "::".join(module), name, local)
        elif "declares" in match:
            node = match["declares"][0]
            yield node.start_byte, _import(node, "self", text_of(node), text_of(node))
        else:
            yield from _named(match)


def _named(match: Match) -> Iterator[Placed]:
    for capture, kind in _SIMPLE.items():
        if capture in match:
            node = match[capture][0]
            last = text_of(match["last"][0]) if "last" in match else ""
            target = _written(node, last)
            if target:
                line = node.start_point[0] + 1
                yield node.start_byte, Reference(kind=kind, source="", target=target, line=line)


def _written(node: Node, last: str) -> str:
    """Return what is referred to as it is written, or by its last name where that is no name."""
    if node.end_byte - node.start_byte <= LONGEST_TARGET:
        text = text_of(node).replace(" ", "").replace("?.", ".").replace("!.", ".")
        text = text.replace("super().", "super.")
        if _NAME.fullmatch(text):
            return text
    return f"?.{last}" if last and len(last) <= LONGEST_TARGET else ""


def _imported(match: Match, node: Node, file: File) -> Reference:
    target = text_of(node).strip("\"'`").replace(" ", "")
    name = text_of(match["taken"][0]) if "taken" in match else ""
    local = text_of(match["local"][0]) if "local" in match else name
    if "default" in match:
        name, local = "default", text_of(match["default"][0])
    elif "everything" in match:
        name = "*"
    elif not local:
        local = _customary(target, file.language)
    return _import(node, target, name, local)


def _customary(target: str, language: Language) -> str:
    """Return what a module is called where its import does not say it."""
    if language is Language.GO:
        parts = target.split("/")
        versioned = len(parts) > 1 and _GO_VERSION.fullmatch(parts[-1]) is not None
        return parts[-2] if versioned else parts[-1]
    return target if language in {Language.PYTHON, Language.RUST} else ""


def _import(node: Node, target: str, name: str, local: str) -> Reference:
    return Reference(
        kind=ReferenceKind.IMPORTS,
        source="",
        target=target[:LONGEST_TARGET],
        line=node.start_point[0] + 1,
        name=name[:LONGEST_TARGET],
        local=local[:LONGEST_TARGET],
    )


def _sourced(placed: Iterable[Placed], scopes: Sequence[Scope]) -> Iterator[Reference]:
    """Yield the references with the innermost symbol around each; both come in order."""
    known = {scope.qualified for scope in scopes if scope.kind is not None}
    around: list[Scope] = []
    at = 0
    for place, reference in placed:
        while at < len(scopes) and scopes[at].start <= place:
            around.append(scopes[at])
            at += 1
        while around and around[-1].end <= place:
            around.pop()
        source = next((one.qualified for one in reversed(around) if one.qualified in known), "")
        yield replace(reference, source=source) if source else reference
