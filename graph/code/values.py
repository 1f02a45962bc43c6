"""What is read from code, as frozen values: symbols and references of a file, and edges.

`parse` makes a `Parsed` of one file, and knows nothing of others. `resolve` makes edges of all the
files of a project. Lines count from 1 and both ends belong to the range. Paths are those of the
project, with slashes and without one in front.

Besides a file's symbols, which are nodes, its node keeps what it refers to as it was written, as
plain JSON: so its edges can be made anew without its text whenever another file changes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from typing import Any, Final

from graph.code.languages import Language

LONGEST_PATH: Final = 400  # characters, also of a qualified name
LONGEST_LABEL: Final = 200  # characters of a symbol's own name, and of what is referred to
LARGEST_FILE: Final = 1_048_576  # bytes that are read of a file
MOST_FILES: Final = 50_000  # of a project
MOST_LOOKS: Final = 500  # for secrets in the names of a file
LOOSE: Final = "\x01"  # begins a text that stands for a node that is gone, and no other


class Layer(StrEnum):
    """Where edges come from: three layers of code and knowledge, four of MAGMA."""

    STRUCTURAL = "structural"
    SEMANTIC = "semantic"
    KNOWLEDGE = "knowledge"
    MAGMA_SEMANTIC = "magma_semantic"
    MAGMA_TEMPORAL = "magma_temporal"
    MAGMA_CAUSAL = "magma_causal"
    MAGMA_ENTITY = "magma_entity"


class NodeKind(StrEnum):
    """What a node stands for."""

    REPOSITORY = "repository"
    MODULE = "module"
    FILE = "file"
    CLASS = "class"  # also structures, enumerations and named types
    INTERFACE = "interface"  # also traits
    FUNCTION = "function"
    METHOD = "method"
    VARIABLE = "variable"
    TEST = "test"


class NodeSource(StrEnum):
    """Who says that a node or an edge exists."""

    AST = "ast"


class ReferenceKind(StrEnum):
    """What a piece of code says of another; the words are edge types of the structural layer."""

    IMPORTS = "imports"
    CALLS = "calls"
    INHERITS = "inherits"
    IMPLEMENTS = "implements"
    TESTS = "tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """One thing that a file defines.

    `qualified` is the name with all that it stands in, joined by dots, and is unique in its file:
    the second definition of the same name ends in `#2`. `parent` is the qualified name of what it
    stands in, empty at the top of the file; a method's type may be defined in another file.
    """

    kind: NodeKind
    name: str
    qualified: str
    first_line: int
    last_line: int
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a symbol, or the file itself (`source` is empty), refers to.

    `target` is the text as written, without arguments: `models.Node`, `self.save`, `./store`; what
    a name hangs on that is no name is written `?`, as in `?.save`. An import that takes something
    out of a module says what it takes in `name` (`*` for everything), and `local` is what the
    imported thing is called here, where it gets a name.
    """

    kind: ReferenceKind
    source: str
    target: str
    line: int
    name: str = ""
    local: str = ""

    @property
    def texts(self) -> tuple[str, str, str]:
        """What of it was written in the file."""
        return self.target, self.name, self.local

    @property
    def names_something(self) -> bool:
        """Whether an import says what it takes, or what that is called here."""
        return bool(self.local or self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """One file as it was read; `problems` says in words what could not be understood.

    `language` is none for files that are not parsed.
    """

    language: Language | None
    lines: int
    symbols: tuple[Symbol, ...] = ()
    references: tuple[Reference, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A node of code: a file, or what it defines by its qualified name."""

    path: str
    qualified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """How a place of the code stands to another, or to what the project lacks."""

    type: str  # of the structural layer
    source: Place
    target: Place | None  # None: not found, then `text` has what was written
    text: str = ""
    weight: float = 1.0  # how often it is said
    confidence: float = 1.0  # 0 to 1: how sure this target is meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A file of which nothing could be read, and why."""

    path: str
    reason: str


def without_secrets(*, parsed: Parsed, is_secret: Callable[[str], bool]) -> Parsed:
    """Return a file without the symbols and references that hold what looks like a secret."""
    qualified = (one.qualified for one in parsed.symbols)
    named = filter(None, chain.from_iterable(one.texts for one in parsed.references))
    secret = _find_secrets(tuple(dict.fromkeys((*qualified, *named))), is_secret)
    if not secret:
        return parsed
    symbols = tuple(one for one in parsed.symbols if one.qualified not in secret)
    sources = {"", *(one.qualified for one in symbols)}
    references = tuple(
        one for one in parsed.references if one.source in sources and secret.isdisjoint(one.texts)
    )
    return replace(parsed, symbols=symbols, references=references)


def _find_secrets(texts: tuple[str, ...], is_secret: Callable[[str], bool]) -> frozenset[str]:
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


def as_json(*, parsed: Parsed) -> dict[str, Any]:
    """Write down what a file's node keeps."""
    parents = {one.qualified: one.parent for one in parsed.symbols if one.parent}
    references = [
        [one.kind.value, one.source, one.target, one.line, one.name, one.local]
        for one in parsed.references
    ]
    kept: dict[str, Any] = {"references": references, "parents": parents}
    return {**kept, "problems": list(parsed.problems)} if parsed.problems else kept


def read_json(
    *,
    language: str,
    lines: int,
    kept: Mapping[str, Any],
    symbols: Iterable[Symbol],
    is_changed: bool,
) -> Parsed:
    """Return a file as it was read, from what its node keeps.

    Of a file that has changed since, the references are left out.
    """
    parents = kept.get("parents", {})
    references = () if is_changed else kept.get("references", ())
    return Parsed(
        language=Language(language) if language else None,
        lines=lines,
        symbols=tuple(replace(one, parent=parents.get(one.qualified, "")) for one in symbols),
        references=tuple(Reference(ReferenceKind(kind), *texts) for kind, *texts in references),
    )
