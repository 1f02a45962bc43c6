"""The bar of our style: whole ideas in one place, in plain words.

Measured over the syntax trees of the product; migrations are written by Django and do not count.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("accounts", "teams", "graph", "memory", "frontend", "config")
LONGEST_FUNCTION = 60  # lines
LONGEST_TEST = 30  # lines
MOST_COMPLEX = 10  # McCabe 1976, counted as radon does
DEEPEST = 3  # blocks inside blocks
LONGEST_FILE = 600  # lines
WIDEST_PAGE = 120  # columns of templates, styles and scripts
PAGE_FILES = {".html", ".txt", ".css", ".js"}
SHORT_HELPER = 8  # lines: a private function below it that is called once belongs in its caller
MOST_HELPERS = 0.10  # of all functions
MOST_HELPERS_OF_A_MODULE = 0.25  # where a module has enough functions for a share to mean something
FUNCTIONS_OF_A_SHARE = 8
MOST_IMPORTS = 15  # modules of ours that one module imports
EDGES = {"api", "mcp", "schemas", "views", "commands"}  # their modules are named by the subject
REPEATED_NAMES = {  # of files, inside an app
    "__init__", "__main__", "models", "queries", "actions", "api", "rules", "tasks", "admin",
    "apps", "errors", "urls", "functions",
}  # fmt: skip
NAMES_WITHOUT_A_NOUN = {  # participles, adverbs and prepositions say nothing alone
    "told", "said", "given", "kept", "shown", "known", "found", "heard", "around", "beside",
    "together", "own", "one", "whole", "standing", "holding", "hearing", "telling", "ahead",
}  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef
OWN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
DEEPER = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)
NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
VAGUE = {"utils", "helpers", "misc", "common"}
BROAD = {"Exception", "BaseException"}
PROCESS_BOUNDARIES = {  # where a process must live on, or clean up before it passes the error on
    "accounts/tasks.py",
    "config/embedded/loader.py",
    "config/embedded/processes.py",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file of the product."""

    path: str
    lines: int
    tree: ast.Module
    nodes: tuple[ast.AST, ...]  # the whole tree, walked once for all tests


def sources(*tops: str) -> tuple[Source, ...]:
    """Return the parsed files below these folders."""
    paths = sorted(path for top in tops for path in (ROOT / top).rglob("*.py"))
    return tuple(_source(path) for path in paths if "migrations" not in path.parts)


FUNCTIONS: dict[str, Callable[[Function], bool]] = {  # what no function of the product is
    "longer than a screen": lambda item: _length(item) > LONGEST_FUNCTION,
    "complex": lambda item: _complexity(item) > MOST_COMPLEX,
    "nested deeply": lambda item: _depth(item) > DEEPEST,
    "named without a verb or noun": lambda item: item.name.strip("_") in NAMES_WITHOUT_A_NOUN,
    "untyped": lambda item: not _is_typed(item),
}
FILES: dict[str, Callable[[Source], bool]] = {  # what no file of the product is
    "more than one idea": lambda file: file.lines > LONGEST_FILE,
    "an importer of many others": lambda file: len(_imported(file)) > MOST_IMPORTS,
    "vaguely named": lambda file: Path(file.path).stem in VAGUE,
    "unfinished": lambda file: "# TODO" in (ROOT / file.path).read_text("utf-8"),
}


@pytest.mark.parametrize("fault", FUNCTIONS)
def test_no_function_is(fault: str) -> None:
    assert [where for where, item in _functions(*PRODUCT) if FUNCTIONS[fault](item)] == []


@pytest.mark.parametrize("fault", FILES)
def test_no_file_is(fault: str) -> None:
    assert [file.path for file in sources(*PRODUCT) if FILES[fault](file)] == []


def test_tests_are_short() -> None:
    tests = ((where, item) for where, item in _functions("tests") if item.name[:5] == "test_")

    assert [where for where, item in tests if _length(item) > LONGEST_TEST] == []


def test_templates_styles_and_scripts_are_narrow() -> None:
    wide = [
        f"{path.relative_to(ROOT)}:{number}"
        for app in PRODUCT
        for folder in ("templates", "static")
        for path in sorted((ROOT / app / folder).rglob("*"))
        if path.suffix in PAGE_FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > WIDEST_PAGE
    ]

    assert wide == []


def test_ideas_are_not_shattered_into_helpers() -> None:
    helpers = {file.path: _short_helpers(file) for file in sources(*PRODUCT)}
    functions = {file.path: _count_functions(file) for file in sources(*PRODUCT)}

    assert sum(helpers.values()) <= MOST_HELPERS * sum(functions.values())
    shattered = {
        path
        for path, short in helpers.items()
        if functions[path] >= FUNCTIONS_OF_A_SHARE
        and short > MOST_HELPERS_OF_A_MODULE * functions[path]
    }
    assert sorted(shattered) == []


def test_file_names_are_unique_inside_an_app() -> None:
    paths: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for file in sources(*PRODUCT):
        app, stem = file.path.partition("/")[0], Path(file.path).stem
        if stem not in REPEATED_NAMES and Path(file.path).parent.name not in EDGES:
            paths[app, stem].append(file.path)

    assert _repeated(paths) == []


def test_dataclass_names_are_unique_inside_an_app() -> None:
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for file in sources(*PRODUCT):
        for item in file.nodes:
            if isinstance(item, ast.ClassDef) and "dataclass" in map(_called, item.decorator_list):
                places[file.path.partition("/")[0], item.name].append(file.path)

    assert _repeated(places) == []


def test_every_module_says_what_it_is() -> None:
    silent = [
        file.path
        for file in sources(*PRODUCT, "tests")
        if file.lines and ast.get_docstring(file.tree) is None
    ]

    assert silent == []


def test_public_functions_say_what_they_do() -> None:
    silent = [
        f"{file.path}:{item.lineno} {item.name}"
        for file in sources(*PRODUCT)
        for item in file.tree.body
        if isinstance(item, Function) and item.name[0] != "_" and not ast.get_docstring(item)
    ]

    assert silent == []


def test_only_process_boundaries_catch_everything() -> None:
    broad = {
        file.path
        for file in sources(*PRODUCT)
        for item in file.nodes
        if isinstance(item, ast.ExceptHandler) and _is_broad(item)
    }

    assert broad <= PROCESS_BOUNDARIES


@cache
def _source(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    return Source(
        path=str(path.relative_to(ROOT)),
        lines=len(text.splitlines()),
        tree=tree,
        nodes=tuple(ast.walk(tree)),
    )


def _functions(*tops: str) -> Iterator[tuple[str, Function]]:
    for file in sources(*tops):
        for item in file.nodes:
            if isinstance(item, Function):
                yield f"{file.path}:{item.lineno} {item.name}", item


def _count_functions(file: Source) -> int:
    return sum(isinstance(item, Function) for item in file.nodes)


def _short_helpers(file: Source) -> int:
    """Count the private functions of a file that are short and named once besides their own."""
    used = Counter(
        item.id if isinstance(item, ast.Name) else item.attr
        for item in file.nodes
        if isinstance(item, ast.Name | ast.Attribute)
    )
    return sum(
        isinstance(item, Function)
        and item.name.startswith("_")
        and not item.name.startswith("__")
        and used[item.name] == 1
        and _length(item) < SHORT_HELPER
        for item in file.nodes
    )


def _imported(file: Source) -> set[str]:
    """Return the modules of ours that a file imports from."""
    return {
        item.module
        for item in file.nodes
        if isinstance(item, ast.ImportFrom)
        and item.module
        and item.module.partition(".")[0] in PRODUCT
    }


def _repeated(places: dict[tuple[str, str], list[str]]) -> list[str]:
    return sorted(f"{app} {name}" for (app, name), found in places.items() if len(found) > 1)


def _called(decorator: ast.expr) -> str:
    inner = decorator.func if isinstance(decorator, ast.Call) else decorator
    return inner.id if isinstance(inner, ast.Name) else ""


def _length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def _complexity(function: Function) -> int:
    """Count as radon does: a nested function counts for itself, a lambda for its function."""
    return 1 + sum(map(_branches, _own_nodes(function.body)))


def _branches(node: ast.AST) -> int:
    """Return how many ways through a function a node adds."""
    match node:
        case ast.If() | ast.IfExp() | ast.Assert():
            added = 1
        case ast.For() | ast.AsyncFor() | ast.While():
            added = 1 + bool(node.orelse)
        case ast.comprehension():
            added = 1 + len(node.ifs)
        case ast.BoolOp():
            added = len(node.values) - 1
        case ast.Try():
            added = len(node.handlers) + bool(node.orelse)
        case ast.Match():
            added = sum(not _is_wildcard(case.pattern) for case in node.cases)
        case _:
            added = 0
    return added


def _is_wildcard(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        if not isinstance(node, NESTED):
            yield node
            yield from _own_nodes(ast.iter_child_nodes(node))


def _depth(node: ast.AST) -> int:
    below = (child for child in ast.iter_child_nodes(node) if not isinstance(child, OWN))
    return max((_step(node, child) + _depth(child) for child in below), default=0)


def _step(node: ast.AST, child: ast.AST) -> int:
    is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
    return int(isinstance(child, DEEPER) and not is_elif)


def _is_typed(function: Function) -> bool:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    untyped = [item.arg for item in named if item.annotation is None]
    return function.returns is not None and set(untyped) <= {"self", "cls"}


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(item, ast.Name) and item.id in BROAD for item in caught)
