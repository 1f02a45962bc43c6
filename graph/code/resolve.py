"""Make edges of what the files of a project refer to: calls by imports and names.

A name means what its file defines, else what it imports, through as many files as hand it on.
`self.save` is looked for in the class around it and in what that inherits, `save` in the functions
around it, in the file and in what it imports, `models.Node` in what `models` means. Of an object
whose type nobody wrote down, only the method's name is known: it means the one method of the
project that is called so, with little confidence, and nothing when there are several.

What leads nowhere in the project is kept as it was written, with little confidence, except for what
the language itself brings along. The same said several times is one edge, and weighs as often.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from posixpath import basename, dirname, join

from graph.code import languages, modules
from graph.code.languages import Language
from graph.code.values import (
    LONGEST_LABEL,
    Edge,
    NodeKind,
    Parsed,
    Place,
    Reference,
    ReferenceKind,
    Symbol,
)

SURE = 1.0  # of what a file defines, and of files that it imports
NAMED_AFTER = 0.7  # a file of tests that is called after another; a default, as those below
UNRESOLVED = 0.1  # what is not in the project, or could not be found there
MOST_NAMESAKES = 50  # files among which the tested one is looked for

FARTHEST = 8  # files that a name is handed on through
EVERYTHING = 4  # of these for one that hands on everything, because there may be many
MOST_EVERYTHING = 20  # imports of everything that are followed of a file
MOST_ABOVE = 50  # classes that are looked through for what one inherits
WRITTEN = 0.95  # confidence of what is meant by imports and names
INHERITED = 0.85  # a method of a class that is inherited
PART = 0.6  # something of a class or a value that is not defined in it
SAME_TYPE = 0.5  # a method that the type around it has, on an object of unknown type
ONLY_ONE = 0.4  # the only method of this name
SCATTERED = frozenset({Language.GO, Language.RUST})  # a type's methods may lie in other files
_METHODS = frozenset({NodeKind.METHOD, NodeKind.FUNCTION})
_INITIAL = ("__init__.py", "__init__.pyi")
_SEPARATOR = re.compile(r"\.|::")
_SELF = frozenset({"self", "cls", "this", "Self", "super"})
_OWNERS = frozenset({NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.VARIABLE})
_HERITAGE = frozenset({ReferenceKind.INHERITS, ReferenceKind.IMPLEMENTS})

Reached = tuple[Place, float]  # where a name leads, and with which confidence


class Project:
    """A project's symbols and imports, each findable at once."""

    def __init__(self, files: Mapping[str, Parsed]) -> None:
        """Look at all files of a project."""
        self.files = files
        self.defined = {p: {s.qualified: s for s in parsed.symbols} for p, parsed in files.items()}
        self.imported: dict[str, dict[str, Reference]] = {}  # by file and name there
        self.handed_on: dict[str, list[Reference]] = {}  # imports of everything, by file
        # Places of methods by family and name, and of symbols by family and qualified name.
        self.named: dict[tuple[Language, str], list[Place]] = defaultdict(list)
        self.elsewhere: dict[tuple[Language, str], list[Place]] = defaultdict(list)
        self.beside: dict[tuple[str, str], Place] = {}  # symbols by folder and qualified name
        # Paths of files by family and name without extension.
        self.stems: dict[tuple[Language, str], list[str]] = defaultdict(list)
        go_imports: set[str] = set()
        for path, parsed in sorted(files.items()):
            imports = self._add_imports(path, parsed)
            if parsed.language is not None:
                self._add_symbols(path, parsed.symbols, parsed.language)
            if parsed.language is Language.GO:
                go_imports.update(imports)
        self.layout = modules.survey(paths=files, go_imports=go_imports)
        self.bases: dict[Place, list[Place]] = {}  # what classes inherit
        self.bases = self._find_bases()

    def _add_imports(self, path: str, parsed: Parsed) -> list[str]:
        """Add what a file imports; return the modules as they are written."""
        imports = [one for one in parsed.references if one.kind is ReferenceKind.IMPORTS]
        self.imported[path] = {one.local: one for one in reversed(imports) if one.local}
        self.handed_on[path] = [one for one in imports if one.name == "*"][:MOST_EVERYTHING]
        return [one.target for one in imports]

    def _find_bases(self) -> dict[Place, list[Place]]:
        """Return what classes inherit, as far as that is found without knowing it."""
        bases: dict[Place, list[Place]] = defaultdict(list)
        for path, parsed in self.files.items():
            for one in parsed.references:
                reached = one.kind in _HERITAGE and one.source and _reach(self, path, one)
                if reached:
                    bases[Place(path=path, qualified=one.source)].append(reached[0])
        return bases

    def _add_symbols(self, path: str, symbols: Iterable[Symbol], language: Language) -> None:
        self.stems[language.family, basename(path).partition(".")[0]].append(path)
        for symbol in symbols:
            place = Place(path=path, qualified=symbol.qualified)
            self.elsewhere[language.family, symbol.qualified].append(place)
            if language in SCATTERED:
                self.beside.setdefault((dirname(path), symbol.qualified), place)
            if symbol.parent and symbol.kind in _METHODS:
                self.named[language.family, symbol.name].append(place)


def resolve(*, files: Mapping[str, Parsed]) -> tuple[Edge, ...]:
    """Return the edges between all files of a project and what they define, in a fixed order."""
    project = Project(files)
    edges: dict[tuple[str, Place, Place | None, str], Edge] = {}
    for path in sorted(files):
        for edge in _edges(project, path):
            key = (edge.type, edge.source, edge.target, edge.text)
            known = edges.get(key)
            if known is not None:
                sure = max(known.confidence, edge.confidence)
                edges[key] = replace(known, weight=known.weight + edge.weight, confidence=sure)
            else:
                edges[key] = edge
    return tuple(edges.values())


def _edges(project: Project, path: str) -> Iterator[Edge]:
    """Yield what a file defines, and what it imports, tests, calls and inherits."""
    defined = project.defined[path]
    for symbol in defined.values():
        parent = symbol.parent if symbol.parent in defined else ""
        yield Edge(
            type="defines",
            source=Place(path=path, qualified=parent),
            target=Place(path=path, qualified=symbol.qualified),
        )
    for reference in project.files[path].references:
        if reference.kind is ReferenceKind.IMPORTS:
            yield from _imports(project, path, reference)
        elif reference.kind is ReferenceKind.TESTS:
            yield from _named_after(project, path, reference)
        else:
            yield from _reached(project, path, reference)


def _imports(project: Project, path: str, reference: Reference) -> Iterator[Edge]:
    """Yield edges to the files of a module, and to what is taken out of it."""
    source = _source(project, path, reference)
    files = _files_of(project, path, reference)
    taken = _meaning(project, path, reference)
    places = dict.fromkeys((*(Place(path=file) for file in files), *taken))
    for place in places:
        if place.path != path:
            yield Edge(type="imports", source=source, target=place, confidence=SURE)
    if not places:
        text = reference.target  # as the language would write the path
        if reference.name not in {"", "*", "default"}:
            separator = "::" if project.files[path].language is Language.RUST else "."
            text = f"{text}{separator}{reference.name}"[:LONGEST_LABEL]
        yield Edge(type="imports", source=source, target=None, text=text, confidence=UNRESOLVED)


def _reached(project: Project, path: str, reference: Reference) -> Iterator[Edge]:
    """Yield the edge to what is called or inherited, and that it is tested, from a test."""
    source, kind = _source(project, path, reference), reference.kind
    found = _reach(project, path, reference)
    if found is not None:
        target, confidence = found
        edge = Edge(type=kind, source=source, target=target, confidence=confidence)
        if kind is ReferenceKind.CALLS:
            yield edge
            if _is_tested(project, source, target):
                yield replace(edge, type=ReferenceKind.TESTS)
        elif target != source:
            is_interface = _kind(project, target) is NodeKind.INTERFACE
            if is_interface and _kind(project, source) is not NodeKind.INTERFACE:
                edge = replace(edge, type=ReferenceKind.IMPLEMENTS)
            yield edge
    elif not _is_builtin(project, path, reference):
        text = reference.target[:LONGEST_LABEL]  # an optional call has two characters more
        yield Edge(type=kind, source=source, target=None, text=text, confidence=UNRESOLVED)


def _is_tested(project: Project, source: Place, target: Place) -> bool:
    """Say whether a test calls code that is no test, in a file without tests."""
    is_test = _kind(project, source) is NodeKind.TEST
    is_other = is_test and _kind(project, target) is not NodeKind.TEST
    return is_other and not _holds_tests(project, target.path)


def _source(project: Project, path: str, reference: Reference) -> Place:
    known = reference.source in project.defined[path]
    return Place(path=path, qualified=reference.source if known else "")


def _kind(project: Project, place: Place) -> NodeKind | None:
    symbol = project.defined[place.path].get(place.qualified)
    return symbol.kind if symbol is not None else None


def _holds_tests(project: Project, path: str) -> bool:
    language = project.files[path].language
    return language is not None and languages.is_test_file(path=path, language=language)


def _is_builtin(project: Project, path: str, reference: Reference) -> bool:
    language = project.files[path].language
    if language is None or reference.kind is not ReferenceKind.CALLS:
        return False
    head, _, last = reference.target.rpartition(".")
    brought = languages.METHODS if head else languages.NAMES
    return last in brought[language.family]


def _named_after(project: Project, path: str, reference: Reference) -> Iterator[Edge]:
    """Yield the edge from a file of tests to the one file that it is called after."""
    language = project.files[path].language
    if language is None:
        return
    candidates = project.stems.get((language.family, reference.target), ())
    if len(candidates) > MOST_NAMESAKES:
        return
    own = frozenset(dirname(path).split("/"))
    ranked = sorted(  # by the folders that they share
        (-len(own & {*dirname(one).split("/")}), one)
        for one in candidates
        if not _holds_tests(project, one)
    )
    if ranked and (len(ranked) == 1 or ranked[0][0] != ranked[1][0]):
        source, target = Place(path=path), Place(path=ranked[0][1])
        yield Edge(type=ReferenceKind.TESTS, source=source, target=target, confidence=NAMED_AFTER)


def _files_of(project: Project, path: str, reference: Reference) -> tuple[str, ...]:
    """Return the files that the module of an import stands for."""
    if project.files[path].language is Language.RUST:
        file, rest = _rust(project, path, reference)
        return (file,) if file and not rest[1:] and (file != path or not rest) else ()
    return modules.find(files=project.layout, importer=path, target=reference.target)


def _meaning(
    project: Project, path: str, reference: Reference, farthest: int = FARTHEST
) -> Iterator[Place]:
    """Yield what an import leads to: a symbol, or files; nothing when it leads out."""
    if project.files[path].language is Language.RUST:
        yield from _rust_meaning(project, path, reference, farthest)
        return
    found = modules.find(files=project.layout, importer=path, target=reference.target)
    if reference.name in {"", "*"}:
        yield from (Place(path=file) for file in found)
        return
    taken = (_taken(project, file, reference, farthest - 1) for file in found)
    place = next(filter(None, taken), None)
    if place is not None:
        yield place
    elif project.files[path].language is Language.PYTHON:
        between = "" if reference.target.endswith(".") else "."
        inner = f"{reference.target}{between}{reference.name}"
        nested = modules.find(files=project.layout, importer=path, target=inner)
        yield from (Place(path=file) for file in nested)


def _taken(project: Project, file: str, reference: Reference, farthest: int) -> Place | None:
    """Return what an import takes out of a file; a default is called so here, or as the file is."""
    place = _member(project, file, reference.name, farthest)
    if place is None and reference.name == "default":
        names = (reference.local, basename(file).partition(".")[0])
        name = next((name for name in names if name in project.defined[file]), "")
        place = Place(path=file, qualified=name)
    return place


def _member(project: Project, path: str, name: str, farthest: int = FARTHEST) -> Place | None:
    """Return what a name means at the top of a file; none when it is not known there."""
    if name in project.defined[path]:
        return Place(path=path, qualified=name)
    if farthest <= 0:
        return None
    reference = project.imported[path].get(name)
    if reference is not None:
        found = next(_meaning(project, path, reference, farthest - 1), None)
        if found is not None:
            return found
    if basename(path) in _INITIAL:
        nested = modules.find(files=project.layout, importer=path, target=f".{name}")
        if nested:
            return Place(path=nested[0])
    handed_on = (
        _member(project, file, name, farthest - EVERYTHING)
        for reference in project.handed_on[path]
        for file in _files_of(project, path, reference)
        if file != path
    )
    return next(filter(None, handed_on), None)


def _rust_meaning(
    project: Project, path: str, reference: Reference, farthest: int
) -> Iterator[Place]:
    file, rest = _rust(project, path, reference)
    if file is None:
        return
    if not rest or rest == ["*"]:
        yield Place(path=file)
        return
    qualified = ".".join(rest)
    if qualified in project.defined[file]:
        yield Place(path=file, qualified=qualified)
    elif len(rest) == 1 and farthest > 0 and file != path:
        place = _member(project, file, qualified, farthest - 1)
        if place is not None:
            yield place


def _rust(project: Project, path: str, reference: Reference) -> tuple[str | None, list[str]]:
    """Return the file in which a path of Rust ends, and the names that are left of it there."""
    layout = project.layout
    segments = [*filter(None, (*reference.target.split("::"), reference.name))]
    folder, inside = modules.module_folder(path=path), _inline_modules(project, path, reference)
    if segments[:1] == ["crate"]:
        folder, segments, inside = modules.crate_root(files=layout, path=path), segments[1:], []
    elif segments and segments[0] in layout.crates:
        folder, segments, inside = layout.crates[segments[0]], segments[1:], []
    while segments[:1] in (["self"], ["super"]):
        if segments.pop(0) == "super":
            folder = folder if inside else dirname(folder)
            inside = inside[:-1]
    while segments and not inside:
        below = join(folder, segments[0])
        if modules.rust_file(files=layout, folder=below) is None:
            break
        folder, segments = below, segments[1:]
    return modules.rust_file(files=layout, folder=folder), [*inside, *segments]


def _inline_modules(project: Project, path: str, reference: Reference) -> list[str]:
    """Return the modules inside of its file that a path of Rust stands in."""
    symbol = project.defined[path].get(reference.source)
    while symbol is not None and symbol.kind is not NodeKind.MODULE:
        symbol = project.defined[path].get(symbol.parent)
    return symbol.qualified.split(".") if symbol is not None else []


def _reach(project: Project, path: str, reference: Reference) -> Reached | None:
    """Return what a reference's target means; none when that is not in the project."""
    parts = _SEPARATOR.split(reference.target)
    rest: Sequence[str] = parts[1:]
    if rest and parts[0] in _SELF:
        reached = _reach_own(project, path, reference.source, parts)
        return reached or _guess(project, path, reference, rest)
    start = _start(project, path, reference, parts)
    if start is not None:
        base, rest = start
        return _reach_inside(project, base, rest) if base is not None else None
    return _guess(project, path, reference, rest) if rest else None


def _start(
    project: Project, path: str, reference: Reference, parts: Sequence[str]
) -> tuple[Place | None, Sequence[str]] | None:
    """Return what the first parts mean, and the others; none when nothing says what they mean.

    A place of none is something that the file says is outside of the project.
    """
    local = _local_name(project, path, reference.source, parts[0])
    if local is not None:
        return local, parts[1:]
    for length in range(len(parts), 0, -1):
        imported = project.imported[path].get(".".join(parts[:length]))
        if imported is not None:
            return _imported(project, path, imported, parts[length:])
    if "::" in reference.target:
        *module, name = parts
        written = replace(
            reference, kind=ReferenceKind.IMPORTS, target="::".join(module), name=name, local=""
        )
        return next(_meaning(project, path, written), None), ()
    found = None
    if project.files[path].language is Language.GO:  # the other files of its package
        found = project.beside.get((dirname(path), parts[0]))
    found = found or _member(project, path, parts[0])
    return (found, parts[1:]) if found is not None else None


def _local_name(project: Project, path: str, source: str, name: str) -> Place | None:
    """Return what a bare name means in the functions around it, or at the top of the file."""
    defined = project.defined[path]
    symbol = defined.get(source)
    while symbol is not None:
        inner = f"{symbol.qualified}.{name}"
        if symbol.kind not in _OWNERS and inner in defined:
            return Place(path=path, qualified=inner)
        symbol = defined.get(symbol.parent)
    return Place(path=path, qualified=name) if name in defined else None


def _imported(
    project: Project, path: str, imported: Reference, rest: Sequence[str]
) -> tuple[Place | None, Sequence[str]]:
    places = tuple(_meaning(project, path, imported))
    if len(places) > 1 and rest:  # a package of several files
        places = tuple(
            Place(path=place.path, qualified=rest[0])
            for place in places
            if rest[0] in project.defined[place.path]
        )
        rest = rest[1:]
    return (places[0] if places else None), rest


def _reach_inside(project: Project, base: Place, rest: Sequence[str]) -> Reached | None:
    """Return what is meant inside of a file or a symbol; the symbol itself when that is unknown."""
    place, confidence = base, WRITTEN if base.qualified else PART
    for part in rest:
        inner = None
        if place.qualified:
            inner = _method(project, place, part)
        elif (found := _member(project, place.path, part)) is not None:
            inner = found, WRITTEN
        if inner is None:
            return (place, PART) if place.qualified else None
        place, confidence = inner
    return place, confidence


def _reach_own(project: Project, path: str, source: str, parts: Sequence[str]) -> Reached | None:
    """Return the method of the class around a name, or of what that inherits."""
    owner = _owner(project, path, source)
    if not owner or len(parts) > 2:
        return None
    place = Place(path=path, qualified=owner)
    if parts[0] != "super":
        return _method(project, place, parts[1])
    found = (_method(project, base, parts[1]) for base in project.bases.get(place, ()))
    return next((one for one in found if one is not None), None)


def _owner(project: Project, path: str, source: str) -> str:
    """Return the class around a symbol, which may be defined in another file; else nothing."""
    symbol = project.defined[path].get(source)
    while symbol is not None and symbol.kind not in _OWNERS:
        outer = project.defined[path].get(symbol.parent)
        if outer is None:
            return symbol.parent
        symbol = outer
    return symbol.qualified if symbol is not None else ""


def _method(project: Project, place: Place, name: str) -> Reached | None:
    """Return what a class holds under a name, else what the classes hold that it inherits.

    Of the inherited ones the nearest comes first, and each is looked at once.
    """
    waiting, confidence = [place], WRITTEN
    for one in waiting:
        found = _of_type(project, one, name)
        if found is not None:
            return found, confidence
        confidence = INHERITED
        new = [base for base in project.bases.get(one, ()) if base not in waiting]
        waiting.extend(dict.fromkeys(new[: MOST_ABOVE - len(waiting)]))
    return None


def _of_type(project: Project, place: Place, name: str) -> Place | None:
    qualified = f"{place.qualified}.{name}"
    if qualified in project.defined[place.path]:
        return Place(path=place.path, qualified=qualified)
    language = project.files[place.path].language
    if language not in SCATTERED:
        return None
    places = project.elsewhere.get((language, qualified), ())
    alone = places[0] if len(places) == 1 else None
    return project.beside.get((dirname(place.path), qualified), alone)


def _guess(
    project: Project, path: str, reference: Reference, rest: Sequence[str]
) -> Reached | None:
    """Return the method that is called so, where there is only one it can be."""
    language = project.files[path].language
    if language is None or not rest or rest[-1] in languages.METHODS[language.family]:
        return None
    owner = _owner(project, path, reference.source)
    if owner and language in SCATTERED and len(rest) == 1:
        found = _of_type(project, Place(path=path, qualified=owner), rest[0])
        if found is not None:
            return found, SAME_TYPE
    places = project.named.get((language.family, rest[-1]), ())
    return (places[0], ONLY_ONE) if len(places) == 1 else None
