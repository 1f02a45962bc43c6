"""Every hostile value in every argument of every MCP tool: an answer, never a failure (G8)."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import httpx
import pytest

from memory.mcp.server import TOOLS
from tests.edges.payloads.conftest import call, rows_of, tools_of
from tests.support import payloads
from tests.support.goals import Scale
from tests.support.live import Place
from tests.support.payloads import Value
from tests.support.statements import numbered

pytestmark = pytest.mark.django_db

DIFF: Final = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"
GOOD: Final[dict[str, dict[str, Any]]] = {  # arguments that a tool takes
    "add_memory": {"content": numbered(number=1), "project": "shop"},
    "search": {"query": "carts"},
    "context": {"query": "carts"},
    "about_file": {"path": "a.py"},
    "get_entity_info": {"name": "AuthService"},
    "find_similar": {"id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a77"},
    "get_timeline": {},
    "get": {"id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a77"},
    "list_recent": {},
    "list_topics": {},
    "search_history": {"query": "west gate"},
    "check_conflicts": {},
    "check_plan": {"plan": "Merge the carts.", "project": "shop"},
    "check_diff": {"diff": DIFF, "project": "shop"},
    "push_note": {"path": "a.md", "text": "Noted.", "project": "shop"},
    "extract_from_conversation": {"turns": [{"role": "user", "text": "Noted."}]},
}
SOME: Final = 7  # the short form sends one of so many combinations
REFUSED: Final = frozenset(value.name for value in payloads.REFUSED)


@pytest.mark.goal(name="G8")
def test_a_hostile_argument_never_breaks_a_tool(
    address: str, place: Place, scale: Scale, figure: Callable[[str], None]
) -> None:
    step = scale.of(short=SOME, long=1)

    with tools_of(address, place) as http:
        GOOD["find_similar"]["id"] = _kept(http)
        sent = [one for number, one in enumerate(_combinations()) if number % step == 0]
        faults = [
            f"{tool}.{field}: {value.name} {said}"
            for tool, field, value in sent
            if (said := _fault(http, place, tool, field, value))
        ]

    assert not faults, "\n".join(faults[:40])
    figure(
        f"MCP: 0 of {len(sent):,} calls broke, {len(payloads.VALUES)} values, {len(TOOLS)} tools"
    )


def _kept(http: httpx.Client) -> str:
    """Store a memory to be named by its id."""
    answer = call(http, "add_memory", {"content": numbered(number=2), "project": "shop"}).json()
    return str(answer["result"]["structuredContent"]["memory"]["id"])


def _combinations() -> Iterator[tuple[str, str, Value]]:
    for name, tool in TOOLS.items():
        for field in tool.arguments.model_fields:
            yield from ((name, field, value) for value in payloads.VALUES)


def _fault(http: httpx.Client, place: Place, tool: str, field: str, value: Value) -> str | None:
    """Call a tool; return what is wrong about the answer."""
    given = payloads.body_with(example=GOOD[tool], field=field, value=value)
    before = rows_of(place)
    answer = call(http, tool, given)
    wrong = _wrong(answer, field, value)
    is_refused = wrong is None and _is_refused(answer)
    if is_refused and rows_of(place) != before:
        wrong = "half stored"
    return wrong and f"{wrong}: {answer.status_code} {answer.text[:300]}"


def _is_refused(answer: httpx.Response) -> bool:
    return answer.status_code >= 400 or bool(answer.json()["result"].get("isError"))


def _wrong(answer: httpx.Response, field: str, value: Value) -> str | None:
    if answer.status_code >= 500:
        return "broke"
    if answer.status_code >= 400:
        return None if "error" in answer.json() else "no error said"
    if "result" not in answer.json():
        return "failed inside"
    if not _is_refused(answer):
        return "taken" if value.name in REFUSED else None
    return None if field in answer.text or "gate" in answer.text else "not named"
