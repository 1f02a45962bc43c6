"""What refusals, hints and tools advise to call exists: calls of REST and tools of MCP."""

import ast
import re
from pathlib import Path
from typing import Final

import pytest

from accounts.api.endpoints import Endpoint
from config.urls import ENDPOINTS
from memory.mcp.server import TOOLS

ROOT: Final = Path(__file__).parents[2]
PRODUCT: Final = ("accounts", "config", "frontend", "graph", "memory", "teams")
CALL: Final = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) (?:/api/v1)?/([\w/{}.:-]*[\w}])")
ELSEWHERE: Final = frozenset({"health/live"})  # asked of the program, not of its API


def _shape(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


def _is(endpoint: Endpoint, verb: str, path: str) -> bool:
    """Say whether a call of an example is a known one; an example fills its names in."""
    pattern = re.sub(r"\\{\w+\\}", r"[^/]+", re.escape(endpoint.path))
    return endpoint.method == verb and re.fullmatch(pattern, path) is not None


def _texts(*tops: str) -> list[tuple[str, str]]:
    """Return each text of the product with where it stands."""
    return [
        (f"{file.relative_to(ROOT)}:{node.lineno}", node.value)
        for file in sorted(path for top in tops for path in (ROOT / top).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def _advised() -> list[tuple[str, str, str]]:
    return [
        (where, verb, _shape(path))
        for where, text in _texts(*PRODUCT)
        for verb, path in CALL.findall(text)
        if path not in ELSEWHERE
    ]


def test_calls_that_are_advised_exist() -> None:
    known = {(one.method, _shape(one.path)) for one in ENDPOINTS}
    advised = _advised()

    assert len(advised) > 15
    assert [one for one in advised if one[1:] not in known] == []


@pytest.mark.parametrize("page", sorted((ROOT / "frontend" / "docs").glob("*.md")), ids=str)
def test_calls_of_the_guides_exist(page: Path) -> None:
    named = CALL.findall(page.read_text("utf-8"))

    assert [one for one in named if not any(_is(endpoint, *one) for endpoint in ENDPOINTS)] == []


def test_tools_that_tools_advise_exist() -> None:
    names = {one.name for one in TOOLS.values()}
    advised = re.compile(r"\b(?:[Uu]se|[Cc]all|;) `(\w+)`")
    words = {word for one in TOOLS.values() for word in advised.findall(one.description)}

    assert words & names
    assert words - names == set()
