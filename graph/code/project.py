"""The symbols of a project by where and how they are named, and what names in its files mean.

A name means what its file defines, else what it imports, through as many files as hand it on.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from posixpath import basename, dirname, join

from graph.code import modules
from graph.code.languages import Language
from graph.code.modules import Files
from graph.code.values import Parsed, Place, Reference, ReferenceKind, Symbol
from graph.vocabulary import NodeKind

FARTHEST = 8  # files that a name is handed on through; ours
EVERYTHING = 4  # of these for one that hands on everything, because there may be many
MOST_EVERYTHING = 20  # imports of everything that are followed of a file; ours
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


def survey(*, files: Mapping[str, Parsed]) -> Project:
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
    imports = {path: tuple(_imports(parsed)) for path, parsed in files.items()}
    go = (
        reference.target
        for path, parsed in files.items()
        if parsed.language is Language.GO
        for reference in imports[path]
    )
    return Project(
        files=files,
        layout=modules.survey(paths=files, go_imports=go),
        defined={p: {s.qualified: s for s in parsed.symbols} for p, parsed in files.items()},
        named={key: tuple(places) for key, places in named.items()},
        elsewhere={key: tuple(places) for key, places in elsewhere.items()},
        imported={
            p: {r.local: r for r in reversed(told) if r.local} for p, told in imports.items()
        },
        handed_on={
            p: tuple(r for r in told if r.name == "*")[:MOST_EVERYTHING]
            for p, told in imports.items()
        },
        beside=beside,
        stems={key: tuple(paths) for key, paths in stems.items()},
    )


def meaning(*, project: Project, path: str, reference: Reference) -> tuple[Place, ...]:
    """Return what an import leads to: a symbol, or files; empty when it leads out."""
    return tuple(_meaning(project, path, reference, FARTHEST))


def member(*, project: Project, path: str, name: str) -> Place | None:
    """Return what a name means at the top of a file; none when it is not known there."""
    return _member(project, path, name, FARTHEST)


def files_of(*, project: Project, path: str, reference: Reference) -> tuple[str, ...]:
    """Return the files that the module of an import stands for."""
    if project.files[path].language is Language.RUST:
        file, rest = _rust(project, path, reference)
        return (file,) if file and not rest[1:] and (file != path or not rest) else ()
    return modules.find(files=project.layout, importer=path, target=reference.target)


def _imports(parsed: Parsed) -> Iterator[Reference]:
    return (one for one in parsed.references if one.kind is ReferenceKind.IMPORTS)


def _meaning(project: Project, path: str, reference: Reference, farthest: int) -> Iterator[Place]:
    if project.files[path].language is Language.RUST:
        yield from _rust_meaning(project, path, reference, farthest)
        return
    found = modules.find(files=project.layout, importer=path, target=reference.target)
    if reference.name in {"", "*"}:
        yield from (Place(path=file) for file in found)
        return
    for file in found:
        place = _taken(project, file, reference, farthest)
        if place is not None:
            yield place
            return
    if project.files[path].language is Language.PYTHON:
        between = "" if reference.target.endswith(".") else "."
        inner = f"{reference.target}{between}{reference.name}"
        nested = modules.find(files=project.layout, importer=path, target=inner)
        yield from (Place(path=file) for file in nested)


def _taken(project: Project, file: str, reference: Reference, farthest: int) -> Place | None:
    place = _member(project, file, reference.name, farthest - 1)
    if place is None and reference.name == "default":
        return _default(project, file, reference.local)
    return place


def _default(project: Project, file: str, local: str) -> Place:
    """Return what a file exports without a name: what is called so here, or as the file is."""
    symbols = project.defined[file]
    stem = basename(file).partition(".")[0]
    name = next((name for name in (local, stem) if name in symbols), "")
    return Place(path=file, qualified=name)


def _member(project: Project, path: str, name: str, farthest: int) -> Place | None:
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
    return _handed_on(project, path, name, farthest)


def _handed_on(project: Project, path: str, name: str, farthest: int) -> Place | None:
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
