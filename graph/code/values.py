"""What is read from code, as frozen values: symbols and references of a file, and edges.

`parse` makes a `Parsed` of one file, and knows nothing of others. `resolve` makes edges of all the
files of a project. Lines count from 1 and both ends belong to the range. Paths are those of the
project, with slashes and without one in front.
"""

from dataclasses import dataclass
from enum import StrEnum

from graph.code.languages import Language
from graph.vocabulary import NodeKind


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
    """How one place of the code stands to another, or to what the project does not hold.

    `type` is an edge type of the structural layer. `target` is none for what was not found, and
    `text` says then what was written. `weight` is how often it is said, `confidence` (0 to 1) how
    sure it is that this target is meant.
    """

    type: str
    source: Place
    target: Place | None
    text: str = ""
    weight: float = 1.0
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A file of which nothing could be read, and why."""

    path: str
    reason: str
