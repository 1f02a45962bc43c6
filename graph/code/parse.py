"""Read one file of code: its symbols and what they refer to.

Nothing is believed of a file. What is no text, too large, or written by a program for programs is
not parsed, and `problems` says so; a tree with errors is read as far as it goes. Parsing can still
take long and much memory, so what comes from outside is parsed in a process of its own
(`graph.index.parser_process`).
"""

from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

import tree_sitter
import tree_sitter_go
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import QueryCursor

from graph.code import references, symbols
from graph.code.languages import Language, language_of
from graph.code.symbols import File
from graph.code.values import Parsed
from graph.vocabulary import NodeKind

# The grammars of the parsed languages, and what is looked for in their trees.
#
# What a language's constructs mean stands as tree-sitter patterns in `patterns/*.scm`, one file a
# language and two that are shared; nothing else knows a grammar. Their captures are the same for
# all:
#
# - `@class @interface @function @method @variable @module @test`: a definition, named by `@name`;
# `@owner` is around definitions of the named type and none itself; `@receiver` is a method's
# type; - `@calls @inherits @implements`: what is referred to; `@last` is the name that a long one
# ends in; - `@from`: the module of an import, with `@taken`, `@local`, `@default` or
# `@everything`; Rust has `@uses` (a tree of paths) and `@declares` (a module in a file of its
# own); - `@marks`: the definition that follows is a test.

_GRAMMARS = {
    Language.PYTHON: (tree_sitter_python.language, ("python",)),
    Language.JAVASCRIPT: (tree_sitter_javascript.language, ("ecma", "jsx", "javascript")),
    Language.TYPESCRIPT: (tree_sitter_typescript.language_typescript, ("ecma", "typescript")),
    Language.TSX: (tree_sitter_typescript.language_tsx, ("ecma", "jsx", "typescript")),
    Language.GO: (tree_sitter_go.language, ("go",)),
    Language.RUST: (tree_sitter_rust.language, ("rust",)),
}
_PATTERNS = Path(__file__).with_name("patterns")


def parser(*, language: Language) -> tree_sitter.Parser:
    """Return a new parser of a language; one must not be shared by threads."""
    return tree_sitter.Parser(_grammar(language))


@cache
def patterns(*, language: Language) -> tree_sitter.Query:
    """Return what is looked for in the trees of a language."""
    _, names = _GRAMMARS[language]
    texts = ((_PATTERNS / f"{name}.scm").read_text(encoding="utf-8") for name in names)
    return tree_sitter.Query(_grammar(language), "\n".join(texts))


@cache
def _grammar(language: Language) -> tree_sitter.Language:
    make, _ = _GRAMMARS[language]
    return tree_sitter.Language(make())


# Defaults, not measured.
LARGEST_PARSED: Final = 2_000_000  # bytes; larger files are data
LONGEST_LINES: Final = 500  # bytes of a line on average; more is written by a program
MOST_LINES: Final = 1_000_000  # of a file


class Problem(StrEnum):
    """Why a file was not understood, or only in parts."""

    NOT_TEXT = "This is not a text file."  # it holds a zero byte
    TOO_MANY_LINES = "It has more lines than are read."
    TOO_LARGE = "It is too large to be parsed."
    MINIFIED = "Its lines are too long to be written by a person."
    NOT_UTF8 = "It is not UTF-8; what is no character is replaced."  # it is parsed all the same
    SYNTAX = "Parts of it could not be read."  # and this one, too


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
    tree = parser(language=file.language).parse(source)
    cursor = QueryCursor(patterns(language=file.language))
    matches = tuple(match for _, match in cursor.matches(tree.root_node))
    placed = references.placed(matches=matches, file=file)
    imported = {reference.local for _, reference in placed if reference.local}
    scopes = [  # without variables that are only the name of what is imported
        scope
        for scope in symbols.scopes(matches=matches, file=file)
        if scope.kind is not NodeKind.VARIABLE or scope.qualified not in imported
    ]
    if tree.root_node.has_error:
        problems = [*problems, Problem.SYNTAX]
    return Parsed(
        language=file.language,
        lines=file.lines,
        symbols=symbols.symbols(found=scopes),
        references=references.references(placed=placed, scopes=scopes, file=file),
        problems=tuple(problems),
    )
