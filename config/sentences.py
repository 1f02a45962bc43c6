"""Sentences of refusals in the sources, for the catalogs of the pages' languages.

Whatever is called `detail` or `hint`, the titles of errors, and what `sentence` is given may stand
on a page. Each is a constant, or `sentence` of one with its values: a text put together where it is
raised has no place in a catalog, and is a fault. What only programs are told, by REST, MCP and the
command lines, stays English and is not looked at.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from string import Formatter
from typing import Final

PROGRAMS: Final = frozenset(  # folders
    {"api", "client", "config", "evaluation", "management", "mcp"}
)
KEYWORD: Final = re.compile(r"_*(?:\w+_)?(?:detail|hint)\Z", re.IGNORECASE)
SENTENCE: Final = "message"
TITLE: Final = "title"
ERRORS: Final = "errors.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A sentence and its line; `fault` says what is wrong with it, empty when nothing is."""

    text: str
    line: int
    has_places: bool = False
    fault: str = ""


def is_read(*, path: PurePosixPath) -> bool:
    """Say whether a page may show what this module raises; `path` starts at the root."""
    return path.suffix == ".py" and PROGRAMS.isdisjoint(path.parts)


def of_source(*, source: str, name: str) -> Iterator[Found]:
    """Yield the sentences of a module; `name` is that of its file."""
    nodes = tuple(ast.walk(ast.parse(source)))
    helpers = _helpers(nodes)
    for node in nodes:
        if isinstance(node, ast.Call):
            yield from _of_call(node, helpers.get(_name(node.func), ()))
        for value in _sentences(node, name):
            yield from _of_value(value)


def is_translation(*, english: str, translated: str) -> bool:
    """Say whether a translation names the same places, each by its name alone: no `!r`, no `:,`."""
    try:
        places = tuple(_places(translated))
    except ValueError:  # a brace that is not closed
        return False
    is_plain = all(not spec and conversion is None for _, spec, conversion in places)
    wanted = sorted(name for name, _, _ in _places(english))
    return is_plain and wanted == sorted(name for name, _, _ in places)


def _places(text: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield name, format and conversion of each place in braces."""
    for _, name, spec, conversion in Formatter().parse(text):
        if name is not None:
            yield name, spec or "", conversion


def _sentences(node: ast.AST, name: str) -> Iterator[ast.expr]:
    """Yield what a node calls a sentence: arguments, defaults and constants of those names."""
    if isinstance(node, ast.Call):
        yield from (word.value for word in node.keywords if KEYWORD.match(word.arg or ""))
    elif isinstance(node, ast.arguments):
        pairs = zip(node.kwonlyargs, node.kw_defaults, strict=True)
        yield from (value for one, value in pairs if value and KEYWORD.match(one.arg))
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(_is_called_sentence(_name(target), name) for target in targets):
            yield node.value


def _is_called_sentence(called: str, file: str) -> bool:
    return bool(KEYWORD.match(called)) or (called == TITLE and file == ERRORS)


def _of_value(value: ast.expr) -> Iterator[Found]:
    """Yield the sentence of an expression; names and calls are found where they are made."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
        yield Found(text=value.value, line=value.lineno)
    elif isinstance(value, ast.IfExp):
        yield from _of_value(value.body)
        yield from _of_value(value.orelse)
    elif isinstance(value, ast.BoolOp):
        for one in value.values:
            yield from _of_value(one)
    elif isinstance(value, ast.JoinedStr | ast.BinOp) or _is_of_text(value):
        fault = "is put together where it is raised; use message() with a constant and its values"
        yield Found(text=ast.unparse(value), line=value.lineno, fault=fault)


def _is_of_text(value: ast.expr) -> bool:
    """Say whether an expression is a method of a literal text, such as `", ".join(…)`."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and isinstance(value.func.value, ast.Constant | ast.JoinedStr)
    )


def _helpers(nodes: Iterable[ast.AST]) -> Mapping[str, tuple[int, ...]]:
    """Return the places of the arguments that a module's own functions call sentences."""
    return {
        node.name: tuple(i for i, one in enumerate(node.args.args) if KEYWORD.match(one.arg))
        for node in nodes
        if isinstance(node, ast.FunctionDef)
    }


def _of_call(call: ast.Call, told: tuple[int, ...]) -> Iterator[Found]:
    if _name(call.func) == SENTENCE:
        yield _made(call)
    for place in told:
        if place < len(call.args):
            yield from _of_value(call.args[place])


def _made(call: ast.Call) -> Found:
    template = call.args[0] if call.args else None
    if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
        return Found(text=ast.unparse(call), line=call.lineno, fault="is made of no constant")
    text, given = template.value, {word.arg for word in call.keywords}
    named = {name for name, _, _ in _places(text)} if given else set()
    fault = "" if named == given else "is given other values than it has places"
    return Found(text=text, line=call.lineno, has_places=bool(given), fault=fault)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""
