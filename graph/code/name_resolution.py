"""What a dotted name means where it is written: the symbol it leads to, and how sure that is.

A name means what its file defines, else what it imports, through as many files as hand it on.
`self.save` is looked for in the class around it and in what that inherits, `save` in the functions
around it, in the file and in what it imports, `models.Node` in what `models` means. Of an object
whose type nobody wrote down, only the method's name is known: it means the one method of the
project that is called so, with little confidence, and nothing when there are several.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from posixpath import basename, dirname, join

from graph.code import languages, modules
from graph.code.languages import Language
from graph.code.modules import Files
from graph.code.values import Parsed, Place, Reference, ReferenceKind, Symbol
from graph.vocabulary import NodeKind

# Defaults, not measured.
FARTHEST = 8  # files that a name is handed on through
EVERYTHING = 4  # of these for one that hands on everything, because there may be many
MOST_EVERYTHING = 20  # imports of everything that are followed of a file
MOST_ABOVE = 50  # classes that are looked through for what one inherits
WRITTEN = 0.95  # confidence of what is meant by imports and names
INHERITED = 0.85  # a method of a class that is inherited
PART = 0.6  # something of a class or a value that is not defined in it
SAME_TYPE = 0.5  # a method that the type around it has, on an object of unknown type
ONLY_ONE = 0.4  # the only method of this name
FAMILIES: dict[Language, str] = {  # languages that call one another
    Language.PYTHON: "python",
    Language.JAVASCRIPT: "ecma",
    Language.TYPESCRIPT: "ecma",
    Language.TSX: "ecma",
    Language.GO: "go",
    Language.RUST: "rust",
}
SCATTERED = frozenset({Language.GO, Language.RUST})  # a type's methods may lie in other files
_METHODS = frozenset({NodeKind.METHOD, NodeKind.FUNCTION})
_INITIAL = ("__init__.py", "__init__.pyi")
_SEPARATOR = re.compile(r"\.|::")
_SELF = frozenset({"self", "cls", "this", "Self", "super"})
_OWNERS = frozenset({NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.VARIABLE})
_HERITAGE = frozenset({ReferenceKind.INHERITS, ReferenceKind.IMPLEMENTS})

Reached = tuple[Place, float]  # where a name leads, and with which confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project's symbols and imports, each findable at once."""

    files: Mapping[str, Parsed]
    layout: Files
    defined: Mapping[str, Mapping[str, Symbol]]  # by file and qualified name
    named: Mapping[tuple[str, str], tuple[Place, ...]]  # methods by family and name
    elsewhere: Mapping[tuple[str, str], tuple[Place, ...]]  # symbols by family and qualified name
    imported: Mapping[str, Mapping[str, Reference]]  # by file and name there
    handed_on: Mapping[str, tuple[Reference, ...]]  # imports of everything
    beside: Mapping[tuple[str, str], Place]  # symbols by folder and qualified name
    stems: Mapping[tuple[str, str], tuple[str, ...]]  # files by family and name without extension
    bases: Mapping[Place, Sequence[Place]] = field(default_factory=dict)  # what classes inherit


def survey_project(*, files: Mapping[str, Parsed]) -> Project:
    """Look at all files of a project."""
    named: dict[tuple[str, str], list[Place]] = defaultdict(list)
    elsewhere: dict[tuple[str, str], list[Place]] = defaultdict(list)
    beside: dict[tuple[str, str], Place] = {}
    stems: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, parsed in sorted(files.items()):
        if parsed.language is None:
            continue
        family = FAMILIES[parsed.language]
        stems[family, basename(path).partition(".")[0]].append(path)
        for symbol in parsed.symbols:
            place = Place(path=path, qualified=symbol.qualified)
            elsewhere[family, symbol.qualified].append(place)
            if parsed.language in SCATTERED:
                beside.setdefault((dirname(path), symbol.qualified), place)
            if symbol.parent and symbol.kind in _METHODS:
                named[family, symbol.name].append(place)
    imports = {
        path: tuple(one for one in parsed.references if one.kind is ReferenceKind.IMPORTS)
        for path, parsed in files.items()
    }
    go = (
        reference.target
        for path, parsed in files.items()
        if parsed.language is Language.GO
        for reference in imports[path]
    )
    project = Project(
        files=files,
        layout=modules.survey(paths=files, go_imports=go),
        defined={p: {s.qualified: s for s in parsed.symbols} for p, parsed in files.items()},
        named={key: tuple(places) for key, places in named.items()},
        elsewhere={key: tuple(places) for key, places in elsewhere.items()},
        imported={
            p: {r.local: r for r in reversed(found) if r.local} for p, found in imports.items()
        },
        handed_on={
            p: tuple(r for r in found if r.name == "*")[:MOST_EVERYTHING]
            for p, found in imports.items()
        },
        beside=beside,
        stems={key: tuple(paths) for key, paths in stems.items()},
    )
    bases: dict[Place, list[Place]] = defaultdict(list)
    for path, parsed in files.items():
        for reference in parsed.references:
            if reference.kind not in _HERITAGE or not reference.source:
                continue
            reached = reach(project=project, path=path, reference=reference)
            if reached is not None:
                bases[Place(path=path, qualified=reference.source)].append(reached[0])
    return replace(project, bases=bases)


def files_of(*, project: Project, path: str, reference: Reference) -> tuple[str, ...]:
    """Return the files that the module of an import stands for."""
    if project.files[path].language is Language.RUST:
        file, rest = _rust(project, path, reference)
        return (file,) if file and not rest[1:] and (file != path or not rest) else ()
    return modules.find(files=project.layout, importer=path, target=reference.target)


def meaning(
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
    for file in found:
        place = _member(project, file, reference.name, farthest - 1)
        if place is None and reference.name == "default":  # called so here, or as the file is
            names = (reference.local, basename(file).partition(".")[0])
            name = next((name for name in names if name in project.defined[file]), "")
            place = Place(path=file, qualified=name)
        if place is not None:
            yield place
            return
    if project.files[path].language is Language.PYTHON:
        between = "" if reference.target.endswith(".") else "."
        inner = f"{reference.target}{between}{reference.name}"
        nested = modules.find(files=project.layout, importer=path, target=inner)
        yield from (Place(path=file) for file in nested)


def _member(project: Project, path: str, name: str, farthest: int = FARTHEST) -> Place | None:
    """Return what a name means at the top of a file; none when it is not known there."""
    if name in project.defined[path]:
        return Place(path=path, qualified=name)
    if farthest <= 0:
        return None
    reference = project.imported[path].get(name)
    if reference is not None:
        found = next(meaning(project, path, reference, farthest - 1), None)
        if found is not None:
            return found
    if basename(path) in _INITIAL:
        nested = modules.find(files=project.layout, importer=path, target=f".{name}")
        if nested:
            return Place(path=nested[0])
    for reference in project.handed_on[path]:
        for file in files_of(project=project, path=path, reference=reference):
            place = _member(project, file, name, farthest - EVERYTHING) if file != path else None
            if place is not None:
                return place
    return None


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
    segments = [part for part in (*reference.target.split("::"), reference.name) if part]
    folder, inside = modules.module_folder(path=path), _inline_modules(project, path, reference)
    if segments[:1] == ["crate"]:
        folder, segments, inside = modules.crate_root(files=layout, path=path), segments[1:], []
    elif segments and segments[0] in layout.crates:
        folder, segments, inside = layout.crates[segments[0]], segments[1:], []
    while segments and segments[0] in {"self", "super"}:
        if segments[0] == "super":
            folder = folder if inside else dirname(folder)
            inside = inside[:-1]
        segments = segments[1:]
    while segments and not inside:
        if modules.rust_file(files=layout, folder=join(folder, segments[0])) is None:
            break
        folder, segments = join(folder, segments[0]), segments[1:]
    return modules.rust_file(files=layout, folder=folder), [*inside, *segments]


def _inline_modules(project: Project, path: str, reference: Reference) -> list[str]:
    """Return the modules inside of its file that a path of Rust stands in."""
    symbol = project.defined[path].get(reference.source)
    while symbol is not None and symbol.kind is not NodeKind.MODULE:
        symbol = project.defined[path].get(symbol.parent)
    return symbol.qualified.split(".") if symbol is not None else []


def reach(*, project: Project, path: str, reference: Reference) -> Reached | None:
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
        return next(meaning(project, path, written), None), ()
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
    places = tuple(meaning(project, path, imported))
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
    places = project.elsewhere.get((FAMILIES[language], qualified), ())
    alone = places[0] if len(places) == 1 else None
    return project.beside.get((dirname(place.path), qualified), alone)


def _guess(
    project: Project, path: str, reference: Reference, rest: Sequence[str]
) -> Reached | None:
    """Return the method that is called so, where there is only one it can be."""
    language = project.files[path].language
    if language is None or not rest or rest[-1] in languages.METHODS[language]:
        return None
    owner = _owner(project, path, reference.source)
    if owner and language in SCATTERED and len(rest) == 1:
        found = _of_type(project, Place(path=path, qualified=owner), rest[0])
        if found is not None:
            return found, SAME_TYPE
    places = project.named.get((FAMILIES[language], rest[-1]), ())
    return (places[0], ONLY_ONE) if len(places) == 1 else None
