"""The script with what each program documents that it sends, under the strictest shell."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from memory.injection.harnesses import HOOK_SCRIPT_VERSION, Harness
from tests.edges.plugin.test_hook_script import ANSWER, GIVEN, PATIENCE, SCRIPT, TOKEN, is_silent
from tests.support.live import Place
from tests.support.scripted import serving
from tests.support.served import address, other_place, place

__all__ = ["address", "other_place", "place"]

PAYLOADS: Final = Path(__file__).parents[2] / "unit/memory/injection/harnesses/payloads.json"
EVENTS: Final[dict[str, Any]] = json.loads(PAYLOADS.read_text())
HERE: Final = {"PATH": os.environ["PATH"], "CAIRN_PROJECT": "shop"}
ORDER: Final = (
    *("open", "prompt", "read", "search", "edit", "fail", "helped", "reply", "unknown", "end"),
)
each_program = pytest.mark.parametrize("harness", [one.value for one in Harness])


def _run(
    url: str, harness: str, event: str, *, seconds: str, run: str = "", token: str = TOKEN
) -> subprocess.CompletedProcess[str]:
    """Run the script as the program's hook would, with its payload of an event."""
    told = {**EVENTS[harness]["fields"], **EVENTS[harness][event]}
    named = {name: f"{value}{run}" for name, value in told.items() if value == "run-1"}
    wire = told.get("hook_event_name") or told.get("hookName") or ""
    return subprocess.run(
        ["dash", str(SCRIPT), harness, str(wire), seconds],
        input=json.dumps({**told, **named}),
        env={**HERE, "CAIRN_URL": url, "CAIRN_TOKEN": token},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@each_program
def test_what_comes_back_is_printed_as_it_is(harness: str) -> None:
    with serving(GIVEN) as server:
        done = _run(server.url, harness, "prompt", seconds="20")

    assert (done.returncode, done.stdout, done.stderr) == (0, f"{ANSWER}\n", "")
    told = {**EVENTS[harness]["fields"], **EVENTS[harness]["prompt"]}
    assert json.loads(server.bodies[0]) == told
    assert server.sent[0][1]["X-Cairn-Agent"] == harness
    assert server.sent[0][1]["X-Cairn-Hook"] == str(HOOK_SCRIPT_VERSION)


@each_program
def test_no_program_notices_a_server_that_is_slow_or_away(harness: str) -> None:
    with serving(GIVEN, is_slow=True) as server:
        slow = _run(server.url, harness, "open", seconds=PATIENCE)
    away = _run(server.url, harness, "prompt", seconds=PATIENCE)

    assert is_silent(slow)
    assert is_silent(away)


@pytest.mark.django_db
@each_program
def test_a_whole_session_of_each_program_is_kept_by_a_real_server(
    harness: str, address: str, place: Place
) -> None:
    asked = [event for event in ORDER if event in EVENTS[harness]]

    done = [
        _run(address, harness, event, seconds="20", run="-whole", token=place.token)
        for event in asked
    ]

    assert {(one.returncode, one.stderr) for one in done} == {(0, "")}
    assert all(isinstance(json.loads(one.stdout), dict) for one in done)
    headers = {"Authorization": f"Bearer {place.token}"}
    told = httpx.get(f"{address}/api/v1/sessions", headers=headers, params={"limit": 100}).json()
    (row,) = [one for one in told["items"] if one["external_id"] == f"{harness}/run-1-whole"]
    assert row["turns"] >= 1
    assert row["events"] >= 2
    assert row["state"] != "open"
