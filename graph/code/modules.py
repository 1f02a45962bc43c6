"""Where imports lead: from a module as it is written to files of the project.

Each language has its own customs, and none is asked to run. What leads out of the project leads
nowhere.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import chain, islice
from posixpath import basename, dirname, join, normpath

from graph.code.languages import Language, language_of

# Defaults, not measured.
MOST_FILES = 50  # that one import leads to, as of a package of Go
MOST_ROOTS = 50  # folders of sources in which a module is looked for
MOST_AROUND = 16  # folders around a file in which a module is looked for
_ECMA = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_ROOTS = frozenset({"src", "lib", "python"})  # folders that are no part of a module's name
_CRATE_ROOTS = ("lib.rs", "main.rs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The paths of a project, and what can be known of them at a glance."""

    paths: Set[str]
    folders: Mapping[str, tuple[str, ...]]  # its files of Go without tests
    python_roots: Mapping[str, tuple[str, ...]]  # folders of sources by what lies in them
    crates: Mapping[str, str]  # the folder of a crate's root by its name
    go_modules: Set[str]  # what import paths of this project start with
    answers: dict[tuple[Language | None, str, str], tuple[str, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )  # the same is asked often, by all files of a folder


def survey(*, paths: Iterable[str], go_imports: Iterable[str]) -> Files:
    """Look at a project's paths, and at what its files of Go import."""
    known = frozenset(paths)
    folders: dict[str, list[str]] = defaultdict(list)
    for path in sorted(known):
        if language_of(path=path) is Language.GO and not path.endswith("_test.go"):
            folders[dirname(path)].append(path)
    packages = {folder: tuple(files) for folder, files in folders.items()}
    crates = {
        basename(dirname(dirname(path))).replace("-", "_"): dirname(path)
        for path in known
        if basename(path) == "lib.rs"
    }
    own = ((target, _go_folder(target, packages)) for target in frozenset(go_imports))
    modules = {target.removesuffix(folder).rstrip("/") for target, folder in own if folder}
    return Files(
        paths=known,
        folders=packages,
        python_roots=_python_roots(known),
        crates=crates,
        go_modules=modules - {""},
    )


def _python_roots(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the folders of sources of Python, by what lies in them."""
    roots: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        parts = path.removesuffix(".py").split("/") if path.endswith(".py") else []
        for at, part in enumerate(parts[:-1]):
            if part in _ROOTS:
                roots[parts[at + 1]].add("/".join(parts[: at + 1]))
    return {name: tuple(sorted(found)[:MOST_ROOTS]) for name, found in roots.items()}


def find(*, files: Files, importer: str, target: str) -> tuple[str, ...]:
    """Return the files that a module as it is written stands for; empty when none of these."""
    language = language_of(path=importer)
    asked = (language, dirname(importer), target)
    if asked not in files.answers:
        ways = {Language.GO: _go, Language.PYTHON: _python, Language.JAVASCRIPT: _ecma}
        way = ways.get(language.family) if language else None
        made = way(files, importer, target) if way else ()
        most = MOST_FILES if language is Language.GO else 1
        files.answers[asked] = tuple(islice((path for path in made if path in files.paths), most))
    return files.answers[asked]


def crate_root(*, files: Files, path: str) -> str:
    """Return the folder that `crate::` starts from in a file of Rust."""
    folder = dirname(path)
    while True:
        if any(join(folder, root) in files.paths for root in _CRATE_ROOTS):
            return folder
        if not folder:
            return dirname(path)
        folder = dirname(folder)


def module_folder(*, path: str) -> str:
    """Return the folder in which the modules of a file of Rust lie."""
    folder, name = dirname(path), basename(path)
    return folder if name in {*_CRATE_ROOTS, "mod.rs"} else join(folder, name.removesuffix(".rs"))


def rust_file(*, files: Files, folder: str) -> str | None:
    """Return the file of the Rust module whose own modules lie in a folder."""
    in_it = (join(folder, name) for name in ("mod.rs", *_CRATE_ROOTS))
    made = (f"{folder}.rs", *in_it)
    return next((path for path in made if path in files.paths), None)


def _python(files: Files, importer: str, target: str) -> Iterator[str]:
    """Yield the paths that a module of Python may have, the likeliest first."""
    module = target.lstrip(".")
    level = len(target) - len(module)
    steps = module.split(".") if module else []
    if level:
        folder = dirname(importer)
        for _ in range(level - 1):
            folder = dirname(folder)
        folders: Iterable[str] = (folder,)
    elif not steps:
        return
    else:
        folders = chain(("",), _ancestors(importer), files.python_roots.get(steps[0], ()))
    for folder in folders:
        path = join(folder, *steps)
        if steps:
            yield f"{path}.py"
        yield join(path, "__init__.py")
        if steps:
            yield f"{path}.pyi"


def _ancestors(path: str) -> Iterator[str]:
    """Yield the folders around a file, the nearest first."""
    for _ in range(MOST_AROUND):
        path = dirname(path)
        if not path:
            return
        yield path


def _ecma(_files: Files, importer: str, target: str) -> Iterator[str]:
    """Yield the paths that a module of JavaScript may have, the likeliest first."""
    if target.startswith("."):
        yield from _ecma_files(normpath(join(dirname(importer), target)))
        return
    for alias in ("@/", "~/"):
        if target.startswith(alias):
            target = target.removeprefix(alias)
            break
    else:
        if "/" not in target or target.startswith("@"):
            return  # a package
    for folder in chain(("",), _ancestors(importer)):
        yield from _ecma_files(join(folder, target))
        yield from _ecma_files(join(folder, "src", target))


def _ecma_files(path: str) -> Iterator[str]:
    yield path
    yield from (path + extension for extension in _ECMA)
    stem, dot, extension = path.rpartition(".")
    if dot and extension in {"js", "jsx", "mjs", "cjs"}:  # of what TypeScript makes of it
        yield from (stem + other for other in _ECMA)
    yield from (f"{path}/index{extension}" for extension in _ECMA)


def _go(files: Files, _importer: str, target: str) -> Iterable[str]:
    """Return the files of a package of Go, without its tests."""
    folder = "" if target in files.go_modules else _go_folder(target, files.folders)
    return () if folder is None else files.folders.get(folder, ())


def _go_folder(target: str, folders: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return the longest end of an import path that is a folder with files of Go."""
    parts = target.split("/")
    from_here = 0 if "." in parts[0] or len(parts) > 1 else 1  # `fmt` is none of a project
    ends = ("/".join(parts[start:]) for start in range(from_here, len(parts)))
    return next((end for end in ends if end in folders), None)
