"""Read one file of code: its symbols, what they refer to, and its chunks.

Nothing is believed of a file. What is no text, too large, or written by a program for programs is
not parsed, and `problems` says so; a tree with errors is read as far as it goes. Parsing can still
take long and much memory, so what comes from outside is parsed in a process of its own
(`graph.backend.parsing`).
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from tree_sitter import QueryCursor

from graph.code import chunk, grammars, references, symbols
from graph.code.chunk import Span
from graph.code.languages import language_of
from graph.code.symbols import File, Match, Scope
from graph.code.values import Parsed
from graph.vocabulary import NodeKind

LARGEST_PARSED = 2_000_000  # bytes; larger files are data, and are only cut into chunks; ours
LONGEST_LINES = 500  # bytes of a line on average; more is written by a program; ours
MOST_LINES = 1_000_000  # of a file


class Problem(StrEnum):
    """Why a file was not understood, or only in parts."""

    NOT_TEXT = "It is no text."  # it holds a zero byte: neither symbols nor chunks
    TOO_MANY_LINES = "It has more lines than are read."  # neither symbols nor chunks
    NOT_UTF8 = "It is not UTF-8; what is no character is replaced."
    TOO_LARGE = "It is too large to be parsed."  # chunks alone
    MINIFIED = "Its lines are too long to be written by a person."  # chunks alone
    SYNTAX = "Parts of it could not be read."


def parse(*, path: str, source: bytes) -> Parsed:
    """Return what a file holds; never raises, whatever its bytes are."""
    language = language_of(path=path)
    if b"\0" in source:
        return Parsed(language=None, lines=0, problems=(Problem.NOT_TEXT,))
    lines = source.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if len(lines) > MOST_LINES:
        return Parsed(language=None, lines=len(lines), problems=(Problem.TOO_MANY_LINES,))
    problems = tuple(_problems(source, lines))
    if language is None or {Problem.TOO_LARGE, Problem.MINIFIED} & {*problems}:
        pieces = chunk.cut(lines=lines)
        return Parsed(language=language, lines=len(lines), chunks=pieces, problems=problems)
    return _parsed(File(path=path, language=language, lines=len(lines)), source, lines, problems)


def _parsed(
    file: File, source: bytes, lines: Sequence[bytes], problems: tuple[Problem, ...]
) -> Parsed:
    tree = grammars.parser(language=file.language).parse(source)
    cursor = QueryCursor(grammars.patterns(language=file.language))
    matches = tuple(match for _, match in cursor.matches(tree.root_node))
    told = references.placed(matches=matches, file=file)
    imported = {reference.local for _, reference in told if reference.local}
    found = symbols.scopes(matches=matches, file=file)
    scopes = [  # without variables that are only the name of what is imported
        scope
        for scope in found
        if scope.kind is not NodeKind.VARIABLE or scope.qualified not in imported
    ]
    return Parsed(
        language=file.language,
        lines=file.lines,
        symbols=symbols.symbols(found=scopes),
        references=references.references(placed=told, scopes=scopes, file=file),
        chunks=chunk.cut(lines=lines, spans=_spans(scopes, matches, file)),
        problems=(*problems, Problem.SYNTAX) if tree.root_node.has_error else problems,
    )


def _spans(scopes: Sequence[Scope], matches: Iterable[Match], file: File) -> Iterator[Span]:
    """Yield which lines belong together; of variables only those that hold functions."""
    holders = {scope.parent for scope in scopes}
    for scope in scopes:
        if scope.kind is not NodeKind.VARIABLE or scope.qualified in holders:
            yield _span(scope)
    for match in matches:
        if "body" in match:
            first, last = symbols.lines_of(node=match["body"][0], lines=file.lines)
            yield Span(kind=NodeKind.FILE, name="", first_line=first, last_line=last)


def _problems(source: bytes, lines: Sequence[bytes]) -> Iterator[Problem]:
    try:
        source.decode()
    except UnicodeDecodeError:
        yield Problem.NOT_UTF8
    if len(source) > LARGEST_PARSED:
        yield Problem.TOO_LARGE
    elif len(source) > LONGEST_LINES * max(len(lines), 10):
        yield Problem.MINIFIED


def _span(scope: Scope) -> Span:
    return Span(
        kind=scope.kind or NodeKind.CLASS,
        name=scope.qualified,
        first_line=scope.first_line,
        last_line=scope.last_line,
    )
