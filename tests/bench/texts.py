"""Real sentences to measure with: docstrings of the installed packages."""

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path

SHORTEST, LONGEST = 80, 600  # characters


def docstrings(*, count: int) -> tuple[str, ...]:
    """Return `count` different docstrings of the standard library and site-packages."""
    found: dict[str, None] = {}
    for text in _all():
        found.setdefault(text)
        if len(found) == count:
            break
    return tuple(found)


def _all() -> Iterator[str]:
    for folder in ("stdlib", "purelib"):
        for path in sorted(Path(sysconfig.get_path(folder)).rglob("*.py")):
            yield from _of(path)


def _of(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            text = " ".join((ast.get_docstring(node) or "").split())
            if len(text) >= SHORTEST:
                yield f"{node.name}: {text}"[:LONGEST]
