"""Switch one guard off: in the code of this process, in the database, or in a named query.

`guards.toml` has the mutants. Each names a definition by its import path, a piece of its text, and
what stands there instead. Code is exchanged in place, so whoever has imported a function runs the
other one; a constant is set anew in its module. Guards in SQL are named by their file, or as a
shared table that loses its wall. Nothing is written to the tree.
"""

import ast
import importlib
import inspect
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import psycopg

from memory import sql_queries

FILE: Final = Path(__file__).with_name("guards.toml")
FUNCTIONS: Final = """
SELECT pg_get_functiondef(p.oid) FROM pg_proc AS p
JOIN pg_namespace AS n ON n.oid = p.pronamespace AND n.nspname = 'cairn'
"""
TABLES: Final = "tables"  # stands for a file: the mutant's text is a shared table without its wall
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A guard that is switched off, and the tests that must notice."""

    name: str
    target: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS: Final = tuple(
    Mutant(**{**row, "tests": tuple(row["tests"])})
    for row in tomllib.loads(FILE.read_text(encoding="utf-8"))["guards"]
)
SAMPLE: Final = MUTANTS[::10]  # the short form: the same ones each time, some of each part


class WrongMutant(ValueError):
    """The text of a mutant does not stand in its file exactly once."""


def is_of_database(mutant: Mutant) -> bool:
    """Say whether the guard is in the database."""
    return mutant.target == TABLES or (mutant.target.endswith(".sql") and not _is_named(mutant))


def check(mutant: Mutant) -> None:
    """Check that a guard of the code has its text once. Raises WrongMutant."""
    if _is_named(mutant):
        _named_statements(mutant)
    else:
        _changed(mutant)


def switch_code(mutant: Mutant) -> None:
    """Switch a guard off in this process. Raises WrongMutant."""
    if _is_named(mutant):
        statements = _named_statements(mutant)
        for name, text in statements.items():
            statements[name] = text.replace(mutant.old, mutant.new)
        return
    module, changed, line = _changed(mutant)
    path = _definition_at(ast.parse(changed), line)
    if path:
        code = compile(changed, str(module.__file__), "exec")
        _function(module, path).__code__ = _code_of(code, ".".join(path))
    else:
        _set_constant(module, changed, line)


@contextmanager
def switched_database(*, owner_url: str, mutant: Mutant) -> Iterator[None]:
    """Switch a guard off in a database until the block ends. Raises WrongMutant."""
    with psycopg.connect(owner_url, autocommit=True) as line:
        undo = _switch_text(line, mutant)
        try:
            yield
        finally:
            for statement, values in undo:
                line.execute(statement, values)


def _switch_text(line: psycopg.Connection[Any], mutant: Mutant) -> list[tuple[Any, Any]]:
    if mutant.target == TABLES:
        line.execute(f"ALTER TABLE {mutant.old} DISABLE ROW LEVEL SECURITY")
        return [(f"ALTER TABLE {mutant.old} ENABLE ROW LEVEL SECURITY", None)]
    whole = [row[0] for row in line.execute(FUNCTIONS) if mutant.old in row[0]]
    steps = "SELECT position, script FROM accounts_schemastep WHERE strpos(script, %s) > 0"
    kept = line.execute(steps, [mutant.old]).fetchall()
    texts = (*whole, *(script for _, script in kept))
    _check_once(mutant, sum(text.count(mutant.old) for text in texts))
    for text in whole:
        line.execute(text.replace(mutant.old, mutant.new))
    store = "UPDATE accounts_schemastep SET script = %s WHERE position = %s"
    for position, script in kept:
        line.execute(store, [script.replace(mutant.old, mutant.new), position])
    again = [(store, [script, position]) for position, script in kept]
    return [*((text, None) for text in whole), *again]


def _is_named(mutant: Mutant) -> bool:
    path = Path(mutant.target)
    is_sql_of_memory = path.parts[0] == "memory" and path.parent.name == "sql"
    return is_sql_of_memory and path.suffix == ".sql" and path.name != "functions.sql"


def _named_statements(mutant: Mutant) -> dict[str, str]:
    """Return the named queries of a file. Raises WrongMutant."""
    statements = sql_queries.statements(str(Path(mutant.target).relative_to("memory")))
    _check_once(mutant, sum(text.count(mutant.old) for text in statements.values()))
    return statements


def _changed(mutant: Mutant) -> tuple[ModuleType, str, int]:
    """Return the module of a guard, its source without the guard, and the line of that."""
    name, _, definition = mutant.target.partition(":")
    module = importlib.import_module(name)
    source = inspect.getsource(module)
    lines = source.splitlines(keepends=True)
    first, last = _lines_of(ast.parse(source), definition, mutant)
    text = "".join(lines[first - 1 : last])
    _check_once(mutant, text.count(mutant.old))
    line = first + text[: text.index(mutant.old)].count("\n")
    without = text.replace(mutant.old, mutant.new)
    return module, "".join((*lines[: first - 1], without, *lines[last:])), line


def _check_once(mutant: Mutant, times: int) -> None:
    if times != 1:
        raise WrongMutant(f"{mutant.name}: {mutant.old!r} stands {times} times in {mutant.target}")


def _lines_of(tree: ast.Module, name: str, mutant: Mutant) -> tuple[int, int]:
    """Return the lines of a function, class or constant of a module. Raises WrongMutant."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = {getattr(node, "name", ""), *(getattr(one, "id", "") for one in targets)}
        if name in names:
            return node.lineno, node.end_lineno or node.lineno
    raise WrongMutant(f"{mutant.name}: there is no {mutant.target}")


def _definition_at(tree: ast.Module, line: int) -> tuple[str, ...]:
    """Return the outermost function at a line, under the classes it is in; empty outside of one."""
    nodes: list[tuple[tuple[str, ...], ast.stmt]] = [((), node) for node in tree.body]
    for path, node in nodes:
        if not node.lineno <= line <= (node.end_lineno or 0):
            continue
        if isinstance(node, Definition):
            return (*path, node.name)
        if isinstance(node, ast.ClassDef):
            nodes.extend(((*path, node.name), inner) for inner in node.body)
    return ()


def _function(module: ModuleType, path: tuple[str, ...]) -> FunctionType:
    found: Any = module
    for name in path:
        found = vars(found)[name]
    found = getattr(found, "__func__", found)
    found = getattr(found, "fget", found)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    assert isinstance(found, FunctionType), path
    return found


def _code_of(code: CodeType, name: str) -> CodeType:
    codes = [code]
    for outer in codes:
        if outer.co_qualname == name:
            return outer
        codes.extend(part for part in outer.co_consts if isinstance(part, CodeType))
    raise LookupError(name)


def _set_constant(module: ModuleType, source: str, line: int) -> None:
    for node in ast.parse(source).body:
        if node.lineno <= line <= (node.end_lineno or 0):
            part = ast.Module(body=[node], type_ignores=[])
            exec(compile(part, str(module.__file__), "exec"), vars(module))
