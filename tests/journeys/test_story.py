"""One session teaches the next: replayed, kept by a person, told to who comes after.

Everything is what people run: the client in a process of its own, the hook script under the
strictest shell, a served installation, and jobs as a worker takes them.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from django.db import close_old_connections, connection

from accounts import jobs, tasks
from config.celery import QUEUES
from tests.support.in_person import signed_in
from tests.support.live import Place
from tests.support.served import address, other_place, place

__all__ = ["address", "other_place", "place"]
pytestmark = pytest.mark.django_db

HERE: Final = Path(__file__).parent
TRANSCRIPT: Final = HERE / "transcripts" / "-home-ana-shop"
SCRIPT: Final = HERE.parents[1] / "deploy" / "plugin" / "bin" / "hook.sh"
FOLDER: Final = "/home/ana/shop"
LEARNED: Final = "must be kept for sixty seconds"


def _work() -> None:
    """Do what waits, as a worker does: on a connection of its own, until nothing is due."""

    def work() -> None:
        close_old_connections()
        try:
            for queue in (*QUEUES, *QUEUES):
                while held := jobs.claim(queue=queue, worker="story"):
                    tasks.run(held=held)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as alone:
        alone.submit(work).result()


def _environment(address: str, place: Place, home: Path) -> dict[str, str]:
    told = {"CAIRN_URL": address, "CAIRN_TOKEN": place.token, "CAIRN_PROJECT": "shop"}
    return {**os.environ, **told, "HOME": str(home)}


@pytest.fixture
def api(address: str, place: Place) -> Iterator[httpx.Client]:
    """The owner's calls."""
    headers = {"Authorization": f"Bearer {place.token}"}
    with httpx.Client(base_url=f"{address}/api/v1/", headers=headers, timeout=60) as client:
        yield client


@pytest.fixture
def replayed(address: str, place: Place, tmp_path: Path) -> dict[str, Any]:
    """The transcript of the first session, replayed by the client from where it lies."""
    shutil.copytree(TRANSCRIPT, tmp_path / ".claude" / "projects" / TRANSCRIPT.name)
    done = subprocess.run(
        [sys.executable, "-m", "memory.client", "--json", "replay", "--all"],
        env=_environment(address, place, tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    _work()
    (row,) = [json.loads(line) for line in done.stdout.splitlines()]
    return dict(row)


@pytest.fixture
def kept(replayed: dict[str, Any], address: str, place: Place) -> dict[str, Any]:
    """What the person kept of it, if it was not kept before."""
    path = f"/api/v1/sessions/{replayed['session']}/summary"
    with signed_in(address=address, place=place) as person:
        answer = person.post(path, json={"save_all": True})
    assert answer.status_code == 200, answer.text
    _work()
    return dict(answer.json())


class Agent:
    """A session of Claude Code, as its hooks tell it."""

    def __init__(self, *, name: str, environment: dict[str, str]) -> None:
        self.name, self.environment = name, environment

    def tells(self, event: str, **fields: Any) -> str:
        """Run the hook; return the context that the model is given."""
        told = {"session_id": self.name, "cwd": FOLDER, "hook_event_name": event, **fields}
        done = subprocess.run(
            ["dash", str(SCRIPT), "claude-code", "", "20"],
            input=json.dumps({"transcript_path": "/x.jsonl", **told}),
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        answer = json.loads(done.stdout or "{}")
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def uses(self, tool: str, response: str, **arguments: str) -> str:
        """Tell that a tool was used."""
        return self.tells(
            "PostToolUse",
            tool_name=tool,
            tool_input=arguments,
            tool_response={"stdout": response},
            tool_use_id=f"{tool}-{len(response)}-{len(str(arguments))}",
        )


def _session(api: httpx.Client, name: str) -> dict[str, Any]:
    rows = api.get("sessions", params={"limit": 100}).json()["items"]
    (row,) = [one for one in rows if one["external_id"] == f"claude-code/{name}"]
    return dict(row)


def test_replayed_session_is_understood_and_what_it_taught_waits_for_a_person(
    replayed: dict[str, Any], api: httpx.Client
) -> None:
    told = api.get(f"sessions/{replayed['session']}/summary").json()

    session = told["session"]
    assert (session["cwd"], session["branch"]) == (FOLDER, "stale-prices")
    assert replayed["refused"] == replayed["broken"] == replayed["unknown"] == 0
    assert {"self_correction", "error_retry", "file_access"} <= set(told["shown"]["signals"])
    waiting = {one["memory"]["type"]: one for one in told["candidates"]}
    assert all(one["waits"] for one in waiting.values())
    assert LEARNED in waiting["dead_end"]["memory"]["content"]
    assert "src/cart/cache.py" in waiting["dead_end"]["memory"]["related_files"]


def test_no_token_keeps_what_its_own_agent_proposed(
    replayed: dict[str, Any], api: httpx.Client
) -> None:
    refused = api.post(f"sessions/{replayed['session']}/summary", json={"save_all": True})

    assert (refused.status_code, refused.json()["code"]) == (403, "self_approval")


def test_what_was_learned_is_in_the_brief_of_the_next_session(
    kept: dict[str, Any], address: str, place: Place, tmp_path: Path
) -> None:
    second = Agent(name="second", environment=_environment(address, place, tmp_path))
    prompt = "The cart shows the old price after a sale: keep prices in src/cart/cache.py less."

    second.tells("SessionStart", source="startup")
    brief = second.tells("UserPromptSubmit", prompt=prompt)

    assert kept["summary"]["waiting"] == 0
    assert LEARNED in brief


@pytest.fixture
def warned(kept: dict[str, Any], address: str, place: Place, tmp_path: Path) -> tuple[str, str]:
    """What a third session is told at the file, before it edits it and after."""
    third = Agent(name="third", environment=_environment(address, place, tmp_path))
    path = f"{FOLDER}/src/cart/cache.py"
    third.tells("SessionStart", source="startup")
    third.tells("UserPromptSubmit", prompt="Rename the setting of the Redis address.")
    warning = third.uses("Read", "PRICE_TTL = 60", file_path=path)
    edit = {"file_path": path, "old_string": "_client = redis", "new_string": "_client = store"}
    after = third.uses("Edit", "done", **edit)
    third.uses("Bash", "9 passed in 4.12s", command="pytest -q tests/cart tests/checkout")
    third.tells("Stop", last_assistant_message="The setting is renamed; prices live as before.")
    third.tells("SessionEnd", reason="exit")
    _work()
    return warning, after


def test_who_touches_the_file_is_warned_before_an_edit_and_does_not_do_it_again(
    warned: tuple[str, str], api: httpx.Client
) -> None:
    warning, after = warned

    assert LEARNED in warning
    assert LEARNED not in after
    row = _session(api, "third")
    assert row["state"] != "open"
    told = api.get(f"sessions/{row['id']}/summary").json()
    assert (told["candidates"], told["dead_ends_entered"]) == ([], [])
