"""The script beside the agent: it tells, prints what comes back, and is silent in any trouble."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from memory.injection.harnesses import ADAPTERS, HOOK_SCRIPT_VERSION, Harness, Meaning
from tests.support.live import Place
from tests.support.scripted import Answer, serving
from tests.support.served import address, other_place, place

PLUGIN = Path(__file__).parents[3] / "deploy/plugin"
SCRIPT = PLUGIN / "bin/hook.sh"
SHELLS: Final = ("dash", "bash")
TOKEN = "crn_pat_of_nobody"
PAYLOAD = json.dumps({"session_id": "r", "hook_event_name": "UserPromptSubmit", "prompt": "Größe?"})
ANSWER = '{"hookSpecificOutput": {"additionalContext": "Know this.\\n%s"}}'
GIVEN: Answer = (200, {}, ANSWER)
OF_OLDER = {"afterfileedit", "aftershellexecution", "aftermcpexecution"}  # what is heard already
OTHER_SPELLINGS = {"userpromptsubmit", "stop"}
PATIENCE = "0.4"  # seconds that the script waits for a server that says nothing
__all__ = ["address", "other_place", "place"]
PAYLOADS: Final = Path(__file__).parents[2] / "unit/memory/injection/harnesses/payloads.json"
EVENTS: Final[dict[str, Any]] = json.loads(PAYLOADS.read_text())
ORDER: Final = (
    *("open", "prompt", "read", "search", "edit", "fail", "helped", "reply", "unknown", "end"),
)
each_program = pytest.mark.parametrize("harness", [one.value for one in Harness])


def run(
    url: str, *args: str, payload: str = PAYLOAD, shell: str = SHELLS[0], **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the script as a program's hook would, under the strictest shell."""
    usual = {"PATH": os.environ["PATH"], "CAIRN_URL": url, "CAIRN_TOKEN": TOKEN}
    return subprocess.run(
        [shell, str(SCRIPT), *(args or ("claude-code", "", PATIENCE))],
        input=payload,
        capture_output=True,
        text=True,
        env={**usual, **environment},
        timeout=60,
        check=False,
    )


def _commands(value: Any) -> Iterator[str]:
    """Yield every command that a file of hooks names."""
    if isinstance(value, dict):
        named = [value[name] for name in ("command", "bash") if isinstance(value.get(name), str)]
        yield from named
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        yield from _commands(one)


def is_silent(done: subprocess.CompletedProcess[str]) -> bool:
    """Say whether a run said nothing and harmed nothing."""
    return (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("status", "answer", "more"),
    [
        *((status, ANSWER, {}) for status in (202, 301, 401, 500)),
        *((status, "<html>{Sign in}</html>", {}) for status in (200, 302)),
        (200, ANSWER, {"is_slow": True}),
        (200, ANSWER, {"is_cut_off": True}),
    ],
)
def test_whatever_is_no_whole_answer_of_ours_is_silence(
    status: int, answer: str, more: dict[str, bool]
) -> None:
    with serving((status, {}, answer), **more) as server:
        assert is_silent(run(server.url))


def test_a_server_that_is_away_is_silence() -> None:
    with serving(GIVEN) as server:
        run(server.url, "copilot", "sessionStart")
        url = server.url

    assert server.sent[0][1]["X-Cairn-Event"] == "sessionStart"  # beside a payload without one
    assert is_silent(run(url))
    assert is_silent(run("http://no-such-host.invalid"))


def test_off_or_unfinished_nothing_is_sent() -> None:
    given = ({"CAIRN_OFF": "1"}, {"CAIRN_TOKEN": ""}, {"CAIRN_URL": ""})
    with serving(GIVEN) as server:
        done = [run(server.url, **one) for one in given]

    assert all(map(is_silent, done))
    assert server.bodies == []


def test_the_token_is_in_no_command_line(tmp_path: Path) -> None:
    recording = tmp_path / "curl"
    recording.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\nexec /usr/bin/curl "$@"\n')
    recording.chmod(0o755)

    with serving(GIVEN) as server:
        done = run(server.url, PATH=f"{tmp_path}:{os.environ['PATH']}")

    said = (tmp_path / "said").read_text()
    assert ANSWER in done.stdout
    assert server.url in said
    assert TOKEN not in said


@pytest.mark.parametrize(
    ("harness", "event", "asked"),
    [
        ("codex", "Stop", "-q hook codex"),
        ("claude-code", "Stop", "-q hook claude-code"),
        ("codex", "SessionEnd", "-q hook codex --end"),
    ],
)
def test_the_client_sends_what_was_said_between_tools_where_it_is_installed(
    harness: str, event: str, asked: str, tmp_path: Path
) -> None:
    said, client = tmp_path / "said", tmp_path / "cairn"
    os.mkfifo(said)
    client.write_text(f'#!/bin/sh\n{{ echo "$*"; echo "$CAIRN_URL"; cat; }} >{said}\n')
    client.chmod(0o755)

    with ThreadPoolExecutor() as pool, serving(GIVEN) as server:
        sent = pool.submit(said.read_text)  # waits for the client, which may run behind
        done = run(server.url, harness, event, PATH=f"{tmp_path}:{os.environ['PATH']}")
        arguments, url, payload = sent.result(timeout=60).split("\n", 2)

    assert ANSWER in done.stdout
    assert (arguments, url, payload) == (asked, server.url, f"{PAYLOAD}\n")
    assert server.bodies == [PAYLOAD]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_client_that_hangs_holds_no_agent_up_without_timeout_either(
    shell: str, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "nobody-writes")
    programs = {
        "cairn": f"exec cat {tmp_path}/nobody-writes",
        "timeout": "exit 127",
        "sleep": "exit",
    }
    for name, does in programs.items():  # its time is over at once
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)

    with serving(GIVEN) as server:
        path = f"{tmp_path}:{os.environ['PATH']}"
        done = run(server.url, "codex", "Stop", "5", shell=shell, PATH=path)

    assert (done.returncode, done.stderr) == (0, "")
    assert ANSWER in done.stdout


def _repository(folder: Path, address: str) -> Path:
    """Make a repository with a commit on a branch of its own; return a folder in it."""
    author = ("-c", "user.name=a", "-c", "user.email=a@a")
    for command in (
        ("init", "-q", "-b", "größe"),
        ("remote", "add", "origin", address),
        (*author, "commit", "-q", "--allow-empty", "-m", "a"),
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    (folder / "below").mkdir()
    return folder / "below"


def test_where_an_agent_works_is_told_and_of_the_address_only_the_name(tmp_path: Path) -> None:
    folder = _repository(tmp_path, "https://ada:word@code.test/acme/shop.git")

    with serving(GIVEN) as server:
        run(server.url, CLAUDE_PROJECT_DIR=str(folder), CAIRN_PROJECT="depot")
        run(server.url, CLAUDE_PROJECT_DIR="/")

    (_, inside), (_, outside) = server.sent
    assert (inside["X-Cairn-Repository"], inside["X-Cairn-Project"]) == ("shop.git", "depot")
    assert inside["X-Cairn-Root"] == str(tmp_path)
    assert inside["X-Cairn-Branch"].encode("latin-1").decode() == "größe"
    assert re.fullmatch("[0-9a-f]{40}", inside["X-Cairn-Commit"])
    assert "word" not in json.dumps(inside).replace("X-Cairn", "")
    assert "X-Cairn-Branch" not in outside


def _kept(folder: Path, url: str) -> None:
    (folder / "cairn").mkdir()
    text = f'url = "{url}"\ntoken = "{TOKEN}"\nproject = "depot"\n'
    (folder / "cairn/config.toml").write_text(text)


def test_without_an_environment_it_calls_with_what_login_keeps_but_its_project(
    tmp_path: Path,
) -> None:
    (tmp_path / "theirs").mkdir()
    folder = _repository(tmp_path / "theirs", "git@code.test:them/theirs.git")
    given = {"CAIRN_URL": "", "CAIRN_TOKEN": "", "XDG_CONFIG_HOME": str(tmp_path)}

    with serving(GIVEN) as server:
        _kept(tmp_path, server.url)
        for more in ({}, {"CAIRN_PROJECT": "shop"}):
            run(server.url, CLAUDE_PROJECT_DIR=str(folder), **given, **more)

    assert [one["Authorization"] for _, one in server.sent] == [f"Bearer {TOKEN}"] * 2
    assert [one["X-Cairn-Repository"] for _, one in server.sent] == ["theirs.git"] * 2
    assert [one.get("X-Cairn-Project", "") for _, one in server.sent] == ["", "shop"]


def test_a_token_that_is_kept_goes_to_no_other_address(tmp_path: Path) -> None:
    with serving(GIVEN) as server, serving(GIVEN) as other:
        _kept(tmp_path, server.url)
        for given in ({"CAIRN_TOKEN": ""}, {"CAIRN_URL": ""}):
            assert is_silent(run(other.url, XDG_CONFIG_HOME=str(tmp_path), **given))

    assert server.bodies == other.bodies == []


@pytest.mark.parametrize(
    ("file", "harness", "unheard"),
    [
        ("hooks.json", Harness.CLAUDE_CODE, {"posttoolbatch"}),  # the same calls, once more
        ("cursor.json", Harness.CURSOR, OF_OLDER),
        ("codex.json", Harness.CODEX, set[str]()),
        ("copilot.json", Harness.COPILOT, OTHER_SPELLINGS),
    ],
)
def test_hooks_call_the_script_for_all_that_says_what_came_of_it_and_nothing_unknown(
    file: str, harness: Harness, unheard: set[str]
) -> None:
    text = (PLUGIN / "hooks" / file).read_text()
    meanings = ADAPTERS[harness].meanings
    heard = {event for event, meaning in meanings.items() if meaning is not Meaning.CALLED}

    hooks = {event.lower() for event in json.loads(text)["hooks"]}

    assert hooks <= set(meanings)
    assert heard - hooks == unheard
    commands = tuple(_commands(json.loads(text)))
    assert len(commands) >= len(hooks)
    assert all(f'sh "$f" {harness.value}' in command for command in commands)


def test_a_hook_whose_script_is_gone_harms_nobody(tmp_path: Path) -> None:
    files = (PLUGIN / "hooks").glob("*.json")
    commands = {one for file in files for one in _commands(json.loads(file.read_text()))}

    done = [
        subprocess.run(
            ["dash", "-c", command],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        for command in commands
    ]

    assert len(done) >= 4
    assert all(map(is_silent, done))


def test_what_a_manifest_names_is_there() -> None:
    folders = (".claude-plugin", ".cursor-plugin", ".codex-plugin")
    claude, *others = (json.loads((PLUGIN / one / "plugin.json").read_text()) for one in folders)
    market = json.loads((PLUGIN / ".claude-plugin/marketplace.json").read_text())

    for manifest in (claude, *others):
        named = [manifest[name] for name in ("hooks", "mcpServers") if name in manifest]
        assert manifest["name"] == "cairn"
        assert all((PLUGIN / path).is_file() for path in named)
    (plugin,) = market["plugins"]
    assert (market["name"], plugin["name"], plugin["source"]) == ("cairn", "cairn", "./")
    assert market["owner"]["name"]
    assert plugin["description"] == claude["description"]


def _run(url: str, harness: str, event: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the script as the program's hook would, with its payload of an event."""
    told = {**EVENTS[harness]["fields"], **EVENTS[harness][event]}
    wire = told.get("hook_event_name") or told.get("hookName") or ""
    payload = json.dumps(told).replace("run-1", "run-whole")
    return run(url, harness, str(wire), "20", payload=payload, CAIRN_PROJECT="shop", **more)


@each_program
def test_what_the_server_gives_is_printed_as_it_is(harness: str) -> None:
    end = "\n" if harness == Harness.GENERIC else ""
    with serving((200, {}, f"{ANSWER}{end}")) as server:
        done = _run(server.url, harness, "prompt")

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, ANSWER, "")
    told = {**EVENTS[harness]["fields"], **EVENTS[harness]["prompt"]}
    assert json.loads(server.bodies[0].replace("run-whole", "run-1")) == told
    ((_, headers),) = server.sent
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert headers["X-Cairn-Agent"] == harness
    assert headers["X-Cairn-Hook"] == str(HOOK_SCRIPT_VERSION)


@pytest.mark.django_db
@each_program
def test_a_whole_session_of_each_program_is_kept_by_a_real_server(
    harness: str, address: str, place: Place
) -> None:
    asked = [event for event in ORDER if event in EVENTS[harness]]

    done = [_run(address, harness, event, CAIRN_TOKEN=place.token) for event in asked]

    assert {(one.returncode, one.stderr) for one in done} == {(0, "")}
    assert all(isinstance(json.loads(one.stdout), dict) for one in done)
    headers = {"Authorization": f"Bearer {place.token}"}
    told = httpx.get(f"{address}/api/v1/sessions", headers=headers, params={"limit": 100}).json()
    (row,) = [one for one in told["items"] if one["external_id"] == f"{harness}/run-whole"]
    assert row["turns"] >= 1
    assert row["events"] >= 2
    assert row["state"] != "open"
