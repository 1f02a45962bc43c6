"""No pattern over client text costs more than its length: steps are counted, not seconds."""

import importlib
import pkgutil
import re
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from tests.support import regex_steps

ROOT: Final = Path(__file__).resolve().parents[2]
APPS: Final = ("accounts", "config", "frontend", "graph", "memory", "teams")
OWN_TEXTS: Final = frozenset({"frontend.presenters.doc_pages"})  # pages of the documentation
DEEPEST: Final = 4  # containers of patterns one inside of another
LENGTH: Final = 16  # characters; bounds are scaled down, so that they are far below it
STEPS_MOST: Final = 60_000
LINEAR: Final = 2.6  # growth of the steps when a text is twice as long; the square is 4
STACK: Final = 512 * 1024 * 1024  # bytes: a step of a long repeat is a call
_SEARCHED: Final = re.compile(r"\b([A-Za-z_]\w*)\.(?:search|finditer|findall|sub|subn|split)\(")


@cache
def modules() -> tuple[ModuleType, ...]:
    """Return the modules of the product that can be imported anywhere."""
    left_out = {"migrations", "settings", "__main__"}
    names = (
        one.name
        for app in APPS
        for one in pkgutil.walk_packages(importlib.import_module(app).__path__, f"{app}.")
    )
    return tuple(map(importlib.import_module, (n for n in names if not left_out & {*n.split(".")})))


@cache
def searched(module: str) -> frozenset[str]:
    """Return the names that a module asks anywhere in a text, and not at its beginning alone.

    All modules together where none is named.
    """
    chosen = (one for one in modules() if module in {"", one.__name__})
    sources = (Path(str(one.__file__)).read_text("utf-8") for one in chosen)
    return frozenset(name for source in sources for name in _SEARCHED.findall(source))


def within(value: Any, depth: int = 0) -> Iterator[re.Pattern[str]]:
    """Yield the patterns of text in a value."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
        return
    parts: Any = ()
    if isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        parts = value
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, one.name, None) for one in fields(value)]
    elif type(value).__module__.partition(".")[0] in APPS:
        parts = list(getattr(value, "__dict__", {}).values())
    if depth < DEEPEST:
        for part in parts:
            yield from within(part, depth + 1)


def patterns(app: str) -> dict[re.Pattern[str], tuple[str, bool]]:
    """Return an app's patterns, each with its place, and whether it asks the beginning alone."""
    found: dict[re.Pattern[str], tuple[str, bool]] = {}
    for module in modules():
        if module.__name__.partition(".")[0] != app or module.__name__ in OWN_TEXTS:
            continue
        for name, value in vars(module).items():
            users = module.__name__ if name.startswith("_") else ""
            is_anchored = isinstance(value, re.Pattern) and name not in searched(users)
            for pattern in within(value):
                found.setdefault(pattern, (f"{module.__name__}.{name}", is_anchored))
    return found


@pytest.mark.parametrize("app", APPS)
def test_the_steps_of_every_pattern_grow_with_the_length_of_a_text(app: str) -> None:
    faults: list[str] = []

    def measure() -> None:
        for pattern, (place, is_anchored) in patterns(app).items():
            grown, attack = regex_steps.growth(
                pattern=pattern, length=LENGTH, most=STEPS_MOST, is_anchored=is_anchored
            )
            if grown > LINEAR:
                faults.append(f"{place}: {grown:.1f} times on {attack}: {pattern.pattern[:120]!r}")

    before = threading.stack_size(STACK)
    try:
        with ThreadPoolExecutor(1) as alone:  # of a stack of its own
            alone.submit(measure).result()
    finally:
        threading.stack_size(before)

    assert faults == []


@pytest.mark.parametrize(
    ("pattern", "is_linear"),
    [
        (r"\w+://\S+", False),
        (r"(?<!\w)\w+://\S+", True),
        (r"(a+)+b", False),
        (r"\s*\(x\)", False),
        (r"(?<!\s)\s*\(x\)", True),
        (r"<[^>\n]*>", False),
        (r"<[^>\n]{0,200}>", True),
        (r"(?:ab|a)*+c", False),
        (r"[a-z]+@[a-z]+", False),
        (r"\A\w+\Z", True),
    ],
)
def test_steps_tell_a_pattern_that_grows_faster_than_a_text(pattern: str, is_linear: bool) -> None:
    compiled = re.compile(pattern)

    grown, _ = regex_steps.growth(pattern=compiled, length=LENGTH, most=STEPS_MOST)

    assert (grown <= LINEAR) == is_linear
