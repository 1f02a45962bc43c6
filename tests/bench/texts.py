"""Real texts to measure with: docstrings of the installed packages, and code."""

import ast
import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path

SHORTEST, LONGEST = 80, 600  # characters
CODE_SHORTEST, CODE_LONGEST = 500, 4_000  # characters of what an agent reads of a file


def docstrings(*, count: int) -> tuple[str, ...]:
    """Return `count` different docstrings of the standard library and site-packages."""
    found: dict[str, None] = {}
    for text in _all():
        found.setdefault(text)
        if len(found) == count:
            break
    return tuple(found)


def code(*, count: int, seed: int = 5) -> tuple[str, ...]:
    """Return `count` different pieces of the standard library's modules."""
    chance = random.Random(seed)
    paths = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    whole = [path.read_text(encoding="utf-8") for path in paths]
    long = [text for text in whole if len(text) > CODE_LONGEST]
    return tuple(_piece(chance.choice(long), chance) for _ in range(count))


def _piece(text: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) - CODE_LONGEST)
    return text[start : start + chance.randint(CODE_SHORTEST, CODE_LONGEST)]


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
