"""Read one file of code: its symbols and what they refer to.

Nothing is believed of a file. What is no text, too large, or written by a program for programs is
not parsed, and `problems` says so; a tree with errors is read as far as it goes. Parsing can still
take long and much memory, so what comes from outside is parsed in a process of its own
(`graph.index.parser_process`).

What a language's constructs mean stands as tree-sitter patterns in `patterns/*.scm`, one file a
language and two that are shared; nothing else knows a grammar. Their captures are the same for all:

- `@class @interface @function @method @variable @module @test`: a definition, named by `@name`;
  `@owner` is around definitions of the named type and none itself; `@receiver` is a method's type;
- `@calls @inherits @implements`: what is referred to; `@last` is the name that a long one ends in;
- `@from`: the module of an import, with `@taken`, `@local`, `@default` or `@everything`; Rust has
  `@uses` (a tree of paths) and `@declares` (a module in a file of its own);
- `@marks`: the definition that follows is a test.

A definition stands in the smallest one around it. One that was found twice (with its decorators or
its `export`, and without them) is one, as far as it reaches.
"""

import re
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Final

import tree_sitter
import tree_sitter_go
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Node, QueryCursor

from graph.code import languages
from graph.code.languages import Language, language_of
from graph.code.values import (
    LONGEST_LABEL,
    LONGEST_PATH,
    LOOSE,
    NodeKind,
    Parsed,
    Reference,
    ReferenceKind,
    Symbol,
)

# Defaults, not measured.
LARGEST_PARSED: Final = 2_000_000  # bytes; larger files are data
LONGEST_LINES: Final = 500  # bytes of a line on average; more is written by a program
MOST_LINES: Final = 1_000_000  # of a file
MOST_SYMBOLS: Final = 5_000  # of a file
MOST_REFERENCES: Final = 20_000  # of a file
MOST_PATHS: Final = 1_000  # of one declaration
DEEPEST: Final = 30  # definitions inside one another; what stands deeper is left out

_GRAMMARS: Final = {
    Language.PYTHON: (tree_sitter_python.language, ("python",)),
    Language.JAVASCRIPT: (tree_sitter_javascript.language, ("ecma", "jsx", "javascript")),
    Language.TYPESCRIPT: (tree_sitter_typescript.language_typescript, ("ecma", "typescript")),
    Language.TSX: (tree_sitter_typescript.language_tsx, ("ecma", "jsx", "typescript")),
    Language.GO: (tree_sitter_go.language, ("go",)),
    Language.RUST: (tree_sitter_rust.language, ("rust",)),
}
_PATTERNS: Final = Path(__file__).with_name("patterns")
_KINDS: Final = {  # in the order in which they win over one another
    "test": NodeKind.TEST,
    "interface": NodeKind.INTERFACE,
    "class": NodeKind.CLASS,
    "method": NodeKind.METHOD,
    "function": NodeKind.FUNCTION,
    "module": NodeKind.MODULE,
    "owner": None,
    "variable": NodeKind.VARIABLE,
}
_RANKS: Final = {kind: rank for rank, kind in enumerate(_KINDS.values())}
_OWNERS: Final = (NodeKind.CLASS, NodeKind.INTERFACE, None)  # whose functions are methods
_FUNCTIONS: Final = frozenset({NodeKind.FUNCTION, NodeKind.METHOD})
_NAMELESS: Final = "default"  # what a language calls what a module exports without a name
_NAMED: Final = (ReferenceKind.CALLS, ReferenceKind.INHERITS, ReferenceKind.IMPLEMENTS)
_WORD: Final = re.compile(r"(?:r#)?[\w$]+|[{},*]")  # what stands between `::`
_NAME: Final = re.compile(r"[\w$#]+(?:(?:\.|::)[\w$#]+)*")
_GO_VERSION: Final = re.compile(r"v\d+")

Match = Mapping[str, Sequence[Node]]
Placed = tuple[int, Reference]  # the byte where it stands
ImportPath = tuple[tuple[str, ...], str]  # its segments, and what its last one is called here


class Problem(StrEnum):
    """Why a file was not understood, or only in parts."""

    NOT_TEXT = "This is not a text file."  # it holds a zero byte
    TOO_MANY_LINES = "It has more lines than are read."
    TOO_LARGE = "It is too large to be parsed."
    MINIFIED = "Its lines are too long to be written by a person."
    NOT_UTF8 = "It is not UTF-8; what is no character is replaced."  # it is parsed all the same
    SYNTAX = "Parts of it could not be read."  # and this one, too
    TOO_MANY = "It defines or names more than an index keeps; the rest is left out."


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The bytes of a definition and what it is; an owner of others (`impl`) has no kind."""

    start: int
    end: int
    kind: NodeKind | None
    name: str
    first_line: int
    last_line: int
    qualified: str = ""
    parent: str = ""


_WHOLE: Final = Scope(  # a file, which is around all that it defines
    start=0, end=sys.maxsize, kind=NodeKind.FILE, name="", first_line=1, last_line=MOST_LINES
)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """What has to be known of the file besides its tree."""

    path: str
    language: Language
    lines: int

    @property
    def has_tests(self) -> bool:
        """Whether it is a file of tests."""
        return languages.is_test_file(path=self.path, language=self.language)

    @property
    def tested(self) -> str:
        """The file that this file of tests is about, by its name; empty for none."""
        return languages.tested_name(path=self.path)[:LONGEST_LABEL] if self.has_tests else ""


def parse(*, path: str, source: bytes) -> Parsed:
    """Return what a file holds; never raises, whatever its bytes are."""
    if b"\0" in source:
        return Parsed(language=None, lines=0, problems=(Problem.NOT_TEXT,))
    lines = source.count(b"\n") + (source[-1:] not in {b"", b"\n"})
    if lines > MOST_LINES:
        return Parsed(language=None, lines=lines, problems=(Problem.TOO_MANY_LINES,))
    problems: list[Problem] = []
    try:
        source.decode()
    except UnicodeDecodeError:
        problems.append(Problem.NOT_UTF8)
    if len(source) > LARGEST_PARSED:
        problems.append(Problem.TOO_LARGE)
    elif len(source) > LONGEST_LINES * max(lines, 10):
        problems.append(Problem.MINIFIED)
    language = language_of(path=path)
    if language is None or problems[-1:] in ([Problem.TOO_LARGE], [Problem.MINIFIED]):
        return Parsed(language=language, lines=lines, problems=tuple(problems))
    return _parse_tree(File(path=path, language=language, lines=lines), source, problems)


def _parse_tree(file: File, source: bytes, problems: list[Problem]) -> Parsed:
    grammar, query = _read_grammar(file.language)
    tree = tree_sitter.Parser(grammar).parse(source)
    matches = tuple(match for _, match in QueryCursor(query).matches(tree.root_node))
    placed = _find_references(matches, file)
    imported = {reference.local for _, reference in placed if reference.local}
    scopes = [  # without variables that are only the name of what is imported
        scope
        for scope in _find_scopes(matches, file)
        if scope.kind is not NodeKind.VARIABLE or scope.qualified not in imported
    ]
    if tree.root_node.has_error:
        problems = [*problems, Problem.SYNTAX]
    if len(placed) > MOST_REFERENCES or len(scopes) > MOST_SYMBOLS:
        problems = [*problems, Problem.TOO_MANY]
    scopes = scopes[:MOST_SYMBOLS]
    return Parsed(
        language=file.language,
        lines=file.lines,
        symbols=tuple(_symbols_of(scopes)),
        references=tuple(_sourced(placed[:MOST_REFERENCES], scopes)),
        problems=tuple(problems),
    )


def _symbols_of(scopes: Iterable[Scope]) -> Iterator[Symbol]:
    for one in scopes:
        if one.kind is not None:
            yield Symbol(
                kind=one.kind,
                name=one.name,
                qualified=one.qualified,
                first_line=one.first_line,
                last_line=one.last_line,
                parent=one.parent,
            )


@cache
def _read_grammar(language: Language) -> tuple[tree_sitter.Language, tree_sitter.Query]:
    """Return the grammar of a language, and what is looked for in its trees."""
    make, names = _GRAMMARS[language]
    grammar = tree_sitter.Language(make())
    texts = ((_PATTERNS / f"{name}.scm").read_text(encoding="utf-8") for name in names)
    return grammar, tree_sitter.Query(grammar, "\n".join(texts))


def _text_of(node: Node) -> str:
    """Return the text of a node on one line."""
    return " ".join((node.text or b"").decode(errors="replace").split())


def _captured(match: Match, name: str) -> str:
    """Return the text of what a pattern captured under a name, empty for nothing."""
    return _text_of(match[name][0]) if name in match else ""


# What a file defines.


def _find_scopes(matches: Iterable[Match], file: File) -> tuple[Scope, ...]:
    """Return the definitions of a file as they stand inside one another, outer ones first."""
    matches = tuple(matches)
    once: dict[int, Scope] = {}
    for place, scope in _definitions(matches, file):
        both = (once.get(place, scope), scope)
        wider = min(both, key=lambda one: one.start)
        once[place] = replace(  # the better kind of the two, over all that they reach
            min(both, key=lambda one: _RANKS[one.kind]),
            start=wider.start,
            first_line=wider.first_line,
            end=max(one.end for one in both),
            last_line=max(one.last_line for one in both),
        )
    found = sorted(once.values(), key=lambda scope: (scope.start, -scope.end))
    starts = [scope.start for scope in found]
    marks = (match["marks"][0].end_byte for match in matches if "marks" in match)
    for at in {bisect_left(starts, mark) for mark in marks} - {len(found)}:
        if found[at].kind is NodeKind.FUNCTION:
            found[at] = replace(found[at], kind=NodeKind.TEST)
    return tuple(_nest(found, file))


def _definitions(matches: Iterable[Match], file: File) -> Iterator[tuple[int, Scope]]:
    """Yield each definition with the place of its name, by which it is the same as another."""
    for match in matches:
        capture = next((name for name in _KINDS if name in match), None)
        if capture is None or (capture == "test" and not file.has_tests):
            continue
        node = match[capture][0]
        first = min(node.start_point[0] + 1, file.lines)
        last = node.end_point[0] + (node.end_point[1] > 0)  # at its beginning a line has nothing
        yield (
            match.get("name", match[capture])[0].start_byte,
            Scope(
                start=node.start_byte,
                end=node.end_byte,
                kind=_KINDS[capture],
                name=_captured(match, "name").strip("\"'`")[:LONGEST_LABEL] or _NAMELESS,
                first_line=first,
                last_line=max(first, min(last, file.lines)),
                parent=_captured(match, "receiver")[:LONGEST_LABEL],
            ),
        )


def _nest(found: Iterable[Scope], file: File) -> Iterator[Scope]:
    """Yield definitions with their qualified names; too long or too deep ones are left out."""
    around = [_WHOLE]
    taken: Counter[str] = Counter()
    for scope in found:
        while around[-1].end <= scope.start:
            around.pop()
        outer = around[-1]
        parent = scope.parent or outer.qualified
        qualified = f"{parent}.{scope.name}" if parent else scope.name
        if len(qualified) > LONGEST_PATH or len(around) > DEEPEST:
            continue
        taken[qualified] += scope.kind is not None  # an owner of others takes no name
        if scope.kind is not None and taken[qualified] > 1:
            if scope.kind is NodeKind.VARIABLE:
                continue  # given another value, and the same thing
            qualified = f"{qualified}#{taken[qualified]}"
        kind = _kind_of(scope, outer, file)
        around.append(replace(scope, qualified=qualified, parent=parent, kind=kind))
        yield around[-1]


def _kind_of(scope: Scope, outer: Scope, file: File) -> NodeKind | None:
    """Return what a definition is where it stands: functions are methods there, or tests."""
    kind = scope.kind
    if kind is NodeKind.FUNCTION and outer.kind in _OWNERS:
        kind = NodeKind.METHOD
    is_named = languages.is_test_name(name=scope.name, language=file.language)
    return NodeKind.TEST if is_named and kind in _FUNCTIONS and file.has_tests else kind


# What a file refers to: imports, calls, and what its classes inherit and implement.


def unfold(*, text: str) -> tuple[ImportPath, ...]:
    """Return the paths of a declaration's tree in their order; its last segment may be `*`."""
    found: list[ImportPath] = []
    stack: list[tuple[str, ...]] = []
    segments: tuple[str, ...] = ()
    alias = ""
    words = iter(_WORD.findall(text))
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


def _path(segments: tuple[str, ...], alias: str) -> Iterator[ImportPath]:
    if segments[-1:] == ("self",) and len(segments) > 1:
        segments = segments[:-1]
    if segments:
        yield segments, alias or segments[-1]


def _find_references(matches: Iterable[Match], file: File) -> list[Placed]:
    """Return what is referred to in a file once each, in order; what it tests comes first.

    An import that names what it takes says it all, and is not told a second time without. What
    holds the mark of a node that is gone is left out.
    """
    about = ((-1, Reference(ReferenceKind.TESTS, "", file.tested, 1)),) if file.tested else ()
    once = sorted(dict.fromkeys((*about, *_placed(matches, file))), key=itemgetter(0))
    once = [one for one in once if LOOSE not in "".join(one[1].texts)]
    telling = {place for place, one in once if one.names_something}
    return [
        (place, one)
        for place, one in once
        if one.kind is not ReferenceKind.IMPORTS or one.names_something or place not in telling
    ]


def _placed(matches: Iterable[Match], file: File) -> Iterator[Placed]:
    for match in matches:
        if "from" in match:
            yield _imported(match, file.language)
        elif "uses" in match:
            node = match["uses"][0]
            for (*module, name), alias in unfold(text=_text_of(node)):
                yield _import(node, "::".join(module), name, "" if name == "*" else alias)
        elif "declares" in match:
            node = match["declares"][0]
            yield _import(node, "self", _text_of(node), _text_of(node))
        for kind in filter(match.__contains__, _NAMED):
            node = match[kind][0]
            target = _written(node, _captured(match, "last"))
            if target:
                yield node.start_byte, Reference(kind, "", target, node.start_point[0] + 1)


def _written(node: Node, last: str) -> str:
    """Return what is referred to as it is written, or by its last name where that is no name."""
    if node.end_byte - node.start_byte <= LONGEST_LABEL:
        text = _text_of(node).replace(" ", "").replace("?.", ".").replace("!.", ".")
        text = text.replace("super().", "super.")
        if _NAME.fullmatch(text):
            return text
    return f"?.{last}" if last and len(last) <= LONGEST_LABEL else ""


def _imported(match: Match, language: Language) -> Placed:
    """Return an import; where it does not say what a module is called here, custom does."""
    node = match["from"][0]
    target = _text_of(node).strip("\"'`").replace(" ", "")
    name = _captured(match, "taken")
    local = _captured(match, "local") or name
    if "default" in match:
        name, local = "default", _captured(match, "default")
    elif "everything" in match:
        name = "*"
    elif not local and language is Language.GO:
        parts = target.split("/")
        versioned = len(parts) > 1 and _GO_VERSION.fullmatch(parts[-1]) is not None
        local = parts[-2] if versioned else parts[-1]
    elif not local and language in {Language.PYTHON, Language.RUST}:
        local = target
    return _import(node, target, name, local)


def _import(node: Node, target: str, name: str, local: str) -> Placed:
    target, name, local = (text[:LONGEST_LABEL] for text in (target, name, local))
    line = node.start_point[0] + 1
    return node.start_byte, Reference(ReferenceKind.IMPORTS, "", target, line, name, local)


def _sourced(placed: Iterable[Placed], scopes: Sequence[Scope]) -> Iterator[Reference]:
    """Yield the references with the innermost symbol around each; both come in order."""
    known = {"", *(scope.qualified for scope in scopes if scope.kind is not None)}
    around = [_WHOLE]
    at = 0
    for place, reference in placed:
        while at < len(scopes) and scopes[at].start <= place:
            around.append(scopes[at])
            at += 1
        while around[-1].end <= place:
            around.pop()
        source = next(one.qualified for one in reversed(around) if one.qualified in known)
        yield replace(reference, source=source)
