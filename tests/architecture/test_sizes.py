"""The bar of our style: short functions, shallow nesting, small files, typed and documented.

Measured over the syntax trees of the product; migrations are written by Django and do not count.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("accounts", "teams", "graph", "memory", "frontend", "config")
LONGEST_FUNCTION = 60  # lines
LONGEST_TEST = 30  # lines
MOST_COMPLEX = 10  # McCabe 1976
DEEPEST = 3  # blocks inside blocks
LONGEST_FILE = 600  # lines

Function = ast.FunctionDef | ast.AsyncFunctionDef
OWN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
DEEPER = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)
VAGUE = {"utils", "helpers", "misc", "common"}
BROAD = {"Exception", "BaseException"}
PROCESS_BOUNDARIES = {  # where a process must live on, or clean up before it passes the error on
    "accounts/tasks.py",
    "config/embedded/processes.py",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file of the product."""

    path: str
    lines: int
    tree: ast.Module


def sources(*tops: str) -> tuple[Source, ...]:
    """Return the parsed files below these folders."""
    paths = sorted(path for top in tops for path in (ROOT / top).rglob("*.py"))
    return tuple(_source(path) for path in paths if "migrations" not in path.parts)


def test_functions_fit_a_screen() -> None:
    lengths = {where: _length(function) for where, function in _functions(*PRODUCT)}

    assert [where for where, lines in lengths.items() if lines > LONGEST_FUNCTION] == []


def test_tests_are_short() -> None:
    tests = ((where, item) for where, item in _functions("tests") if item.name[:5] == "test_")

    assert [where for where, item in tests if _length(item) > LONGEST_TEST] == []


def test_functions_are_simple() -> None:
    complex_ones = [
        where for where, item in _functions(*PRODUCT) if _complexity(item) > MOST_COMPLEX
    ]

    assert complex_ones == []


def test_blocks_are_not_nested_deeply() -> None:
    deep = [where for where, item in _functions(*PRODUCT) if _depth(item) > DEEPEST]

    assert deep == []


def test_files_hold_one_idea() -> None:
    files = sources(*PRODUCT)

    assert [file.path for file in files if file.lines > LONGEST_FILE] == []


def test_every_module_says_what_it_is() -> None:
    silent = [
        file.path
        for file in sources(*PRODUCT, "tests")
        if file.lines and ast.get_docstring(file.tree) is None
    ]

    assert silent == []


def test_every_function_is_typed() -> None:
    untyped = [where for where, item in _functions(*PRODUCT) if not _is_typed(item)]

    assert untyped == []


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
        for item in ast.walk(file.tree)
        if isinstance(item, ast.ExceptHandler) and _is_broad(item)
    }

    assert broad <= PROCESS_BOUNDARIES


def test_nothing_is_called_utils_and_nothing_is_left_to_do() -> None:
    vague = [
        file.path for file in sources(*PRODUCT) if Path(file.path).stem in {"utils", "helpers"}
    ]
    unfinished = [
        file.path for file in sources(*PRODUCT) if "# TODO" in (ROOT / file.path).read_text("utf-8")
    ]

    assert vague == []
    assert unfinished == []


@cache
def _source(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    return Source(path=str(path.relative_to(ROOT)), lines=len(text.splitlines()), tree=tree)


def _functions(*tops: str) -> Iterator[tuple[str, Function]]:
    for file in sources(*tops):
        for item in ast.walk(file.tree):
            if isinstance(item, Function):
                yield f"{file.path}:{item.lineno} {item.name}", item


def _length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def _complexity(function: Function) -> int:
    return 1 + sum(isinstance(item, BRANCHES) for item in _own_nodes(function))


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, OWN):
            yield child
            yield from _own_nodes(child)


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
