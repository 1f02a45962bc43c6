"""What a file defines: the definitions found in its tree, named by what they stand in.

A definition stands in the smallest one around it. One that was found twice (with its decorators or
its `export`, and without them) is one, as far as it reaches.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from graph.code import languages
from graph.code.languages import Language
from graph.code.values import Symbol
from graph.vocabulary import NodeKind

LONGEST_NAME = 200  # characters; what a name is cut to
LONGEST_QUALIFIED = 400  # characters; what has a longer one is left out
DEEPEST = 30  # definitions inside one another; what stands deeper is left out
MOST_SYMBOLS = 10_000  # of a file

Match = Mapping[str, Sequence[Node]]

_KINDS = {  # in the order in which they win over one another
    "test": NodeKind.TEST,
    "interface": NodeKind.INTERFACE,
    "class": NodeKind.CLASS,
    "method": NodeKind.METHOD,
    "function": NodeKind.FUNCTION,
    "module": NodeKind.MODULE,
    "owner": None,
    "variable": NodeKind.VARIABLE,
}
_RANKS = {name: rank for rank, name in enumerate(_KINDS)}
_OWNERS = (NodeKind.CLASS, NodeKind.INTERFACE, None)  # whose functions are methods
_NAMELESS = "default"  # what the language calls the thing that a module exports without a name


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


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """What has to be known of the file besides its tree."""

    path: str
    language: Language
    lines: int


def scopes(*, matches: Iterable[Match], file: File) -> tuple[Scope, ...]:
    """Return the definitions of a file as they stand inside one another, outer ones first."""
    matches = tuple(matches)
    is_test_file = languages.is_test_file(path=file.path, language=file.language)
    once: dict[int, Scope] = {}
    for place, scope in _definitions(matches, file, is_test_file):
        once[place] = _joined(once[place], scope) if place in once else scope
    found = sorted(once.values(), key=lambda scope: (scope.start, -scope.end))
    marks = [match["marks"][0].end_byte for match in matches if "marks" in match]
    nested = _nest(_marked(found, marks) if marks else found)
    return tuple(_settled(nested, file.language, is_test_file))[:MOST_SYMBOLS]


def symbols(*, found: Iterable[Scope]) -> tuple[Symbol, ...]:
    """Return the symbols among the definitions, each with a name that is unique in the file."""
    return tuple(
        Symbol(
            kind=scope.kind,
            name=scope.name,
            qualified=scope.qualified,
            first_line=scope.first_line,
            last_line=scope.last_line,
            parent=scope.parent,
        )
        for scope in found
        if scope.kind is not None
    )


def text_of(node: Node) -> str:
    """Return the text of a node on one line."""
    return " ".join((node.text or b"").decode(errors="replace").split())


def _lines_of(node: Node, lines: int) -> tuple[int, int]:
    """Return the first and the last line of a node, inside the lines of its file."""
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    if node.end_point[1] == 0:
        last -= 1
    first = min(first, lines)
    return first, max(first, min(last, lines))


def _definitions(
    matches: Iterable[Match], file: File, is_test_file: bool
) -> Iterator[tuple[int, Scope]]:
    """Yield each definition with the place of its name, by which it is the same as another."""
    for match in matches:
        capture = next((name for name in _KINDS if name in match), None)
        if capture is None or (capture == "test" and not is_test_file):
            continue
        node, names = match[capture][0], match.get("name", ())
        first, last = _lines_of(node, file.lines)
        name = text_of(names[0]).strip("\"'`")[:LONGEST_NAME] if names else _NAMELESS
        owner = text_of(match["receiver"][0])[:LONGEST_NAME] if "receiver" in match else ""
        yield (
            names[0].start_byte if names else node.start_byte,
            Scope(
                start=node.start_byte,
                end=node.end_byte,
                kind=_KINDS[capture],
                name=name or _NAMELESS,
                first_line=first,
                last_line=last,
                parent=owner,
            ),
        )


def _joined(one: Scope, other: Scope) -> Scope:
    """Return the better kind of two, over all that they reach."""
    better, wider = min(one, other, key=_rank), min(one, other, key=lambda scope: scope.start)
    return replace(
        better,
        start=wider.start,
        first_line=wider.first_line,
        end=max(one.end, other.end),
        last_line=max(one.last_line, other.last_line),
    )


def _rank(scope: Scope) -> int:
    return next(_RANKS[name] for name, kind in _KINDS.items() if kind is scope.kind)


def _marked(found: list[Scope], marks: list[int]) -> list[Scope]:
    """Make tests of the definitions that follow a mark; nothing else stands between."""
    ends = sorted(marks)
    tests: set[int] = set()
    at = 0
    for index, scope in enumerate(found):
        while at < len(ends) and ends[at] <= scope.start:
            tests.add(index)
            at += 1
    return [
        replace(scope, kind=NodeKind.TEST)
        if index in tests and scope.kind is NodeKind.FUNCTION
        else scope
        for index, scope in enumerate(found)
    ]


def _nest(found: Iterable[Scope]) -> Iterator[Scope]:
    around: list[Scope] = []
    taken: Counter[str] = Counter()
    for scope in found:
        while around and around[-1].end <= scope.start:
            around.pop()
        outer = around[-1] if around else None
        named = _named(scope, outer, taken)
        if named is not None and len(around) < DEEPEST:
            around.append(named)
            yield named


def _named(scope: Scope, outer: Scope | None, taken: Counter[str]) -> Scope | None:
    """Return a definition with its qualified name; none when it is too long, or known already."""
    parent = scope.parent or (outer.qualified if outer else "")
    qualified = f"{parent}.{scope.name}" if parent else scope.name
    if len(qualified) > LONGEST_QUALIFIED:
        return None
    if scope.kind is not None:
        taken[qualified] += 1
        if taken[qualified] > 1 and scope.kind is NodeKind.VARIABLE:
            return None  # given another value, and the same thing
        if taken[qualified] > 1:
            qualified = f"{qualified}#{taken[qualified]}"
    kind = scope.kind
    if kind is NodeKind.FUNCTION and outer and outer.kind in _OWNERS:
        kind = NodeKind.METHOD
    return replace(scope, qualified=qualified, parent=parent, kind=kind)


def _settled(found: Iterable[Scope], language: Language, is_test_file: bool) -> Iterator[Scope]:
    """Yield the definitions, tests told by their names."""
    for scope in found:
        is_function = scope.kind in {NodeKind.FUNCTION, NodeKind.METHOD}
        is_named = languages.is_test_name(name=scope.name, language=language)
        if is_test_file and is_function and is_named:
            yield replace(scope, kind=NodeKind.TEST)
        else:
            yield scope
