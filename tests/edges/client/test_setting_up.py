"""Connecting a machine: signing in with a code, what is written, that nothing remains."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from memory.client.api import Client
from memory.client.commands import setup
from memory.client.configuration import Connection
from memory.client.errors import ClientError, Problem, Unreachable
from tests.edges.client.conftest import Cairn, Known
from tests.support.fault_proxy import REFUSING, SOUND, FaultProxy
from tests.support.in_person import signed_in, token_of
from tests.support.live import Place
from tests.support.scripted import Answer, Served

pytestmark = pytest.mark.django_db

CLAUDE = '{\n    "theme": "dark",\n    "mcpServers": {"other": {"command": "x"}}\n}'
CODEX = 'model = "gpt"\n'
HOOKS = (".claude/settings.json", ".cursor/hooks.json", ".codex/hooks.json")


@pytest.fixture
def agents(home: Path) -> Path:
    """A home where three agents have been run."""
    for folder in (".claude", ".cursor", ".codex"):
        (home / folder).mkdir()
    (home / ".claude.json").write_text(CLAUDE)
    (home / ".codex" / "config.toml").write_text(CODEX)
    (home / ".codex" / "AGENTS.md").write_text("Be brief.")
    return home


def _everything(home: Path) -> dict[str, bytes]:
    files = (path for path in home.rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


def test_init_connects_what_it_finds_and_doctor_agrees(
    agents: Path, here: Cairn, place: Place
) -> None:
    (agents / ".copilot").mkdir()

    done = here("init", "--yes")
    before = _everything(agents)
    again = here("init", "--json")

    assert done.code == 0, done.err
    assert "Bearer crn" not in done.out
    claude = json.loads((agents / ".claude.json").read_text())
    assert (claude["theme"], set(claude["mcpServers"])) == ("dark", {"other", "cairn"})
    assert (agents / ".codex" / "config.toml").read_text().startswith(CODEX)
    assert stat.S_IMODE((agents / ".cursor" / "mcp.json").stat().st_mode) == 0o600
    for name in (*HOOKS, ".copilot/hooks/cairn.json"):
        text = (agents / name).read_text()
        assert "$HOME/.cairn/plugin/bin/hook.sh" in text
        assert "PLUGIN_ROOT" not in text
        assert place.token not in text
    servers = json.loads((agents / ".copilot" / "mcp-config.json").read_text())["mcpServers"]
    assert servers["cairn"]["url"].endswith("/mcp")
    checks = {row["check"]: row for row in here("doctor", "--json").rows()}
    assert [name for name, check in checks.items() if not check["ok"]] == []
    assert {"claude-code", "cursor", "codex", "hooks", "mcp", "token", "server"} <= set(checks)
    assert not any(row["changes"] for row in again.rows())
    assert _everything(agents) == before


def _prompted(home: Path, *, folder: str, session: str) -> str:
    """Run the hook of a prompt as Claude Code would; return what went wrong."""
    hooks = json.loads((home / HOOKS[0]).read_text())["hooks"]["UserPromptSubmit"]
    told = {"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": "Go on."}
    done = subprocess.run(
        ["dash", "-c", hooks[0]["hooks"][0]["command"]],
        input=json.dumps({**told, "cwd": str(home / folder)}),
        env={"HOME": str(home), "PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


def test_the_script_that_was_written_calls_and_names_the_project_of_its_folder_alone(
    agents: Path, here: Cairn, known: Known
) -> None:
    here("init", "--yes", "--harness", "claude-code")

    for folder in ("theirs", "shop"):
        assert _prompted(agents, folder=folder, session=f"in-{folder}") == ""

    found = known()
    assert found["claude-code/in-theirs"]["project"] is None
    assert found["claude-code/in-shop"]["project"] is not None


def test_without_a_yes_what_changes_is_shown_and_nothing_is_written(
    agents: Path, here: Cairn
) -> None:
    before = _everything(agents)
    for arguments, code in ((("--print-only",), 0), ((), 2)):
        done = here("init", "--harness", "codex", *arguments)

        assert (done.code, "+[mcp_servers.cairn]" in done.out) == (code, True)
        assert _everything(agents) == before


def test_what_cannot_be_written_is_shown_for_who_puts_it_there_by_hand(
    agents: Path, here: Cairn, place: Place
) -> None:
    file = agents / ".cursor/mcp.json"
    file.write_text('{\n  // mine\n  "mcpServers": {}\n}\n')

    done = here("init", "--yes")

    assert done.code == 5
    assert '"cairn": {' in done.out
    assert f"{place.token[:8]}" not in done.out + done.err
    assert "// mine" in file.read_text()
    assert "cairn" in (agents / ".claude.json").read_text()


def test_uninstall_leaves_every_byte_as_it_was(agents: Path, here: Cairn, home: Path) -> None:
    here("uninstall", "--yes")
    before = _everything(agents)
    folders = {path for path in home.rglob("*") if path.is_dir()}

    assert here("--url", "http://127.0.0.1:9", "--token", "x", "init", "--yes").code == 0
    assert _everything(agents) != before
    done = here("uninstall", "--yes")

    assert done.code == 0, done.err
    assert _everything(agents) == before
    assert {path for path in home.rglob("*") if path.is_dir()} == folders


def test_uninstall_goes_on_behind_files_that_it_cannot_edit(agents: Path, here: Cairn) -> None:
    here("init", "--yes")
    broken = {
        ".claude.json": b"// mine\n{}",
        ".cursor/hooks.json": b'{"hooks": 3}',
        ".codex/AGENTS.md": b"\xff\xfe",
    }
    for name, content in broken.items():
        (agents / name).write_bytes(content)

    done = here("uninstall", "--yes", "--json")

    assert done.code == 5
    alone = {row["file"] for row in done.rows() if "error" in row}
    assert alone == {str(agents / name) for name in broken}
    assert {name: (agents / name).read_bytes() for name in broken} == broken
    assert (agents / ".codex/config.toml").read_text() == CODEX
    assert not (agents / ".config/cairn").exists()
    assert not (agents / ".local/state/cairn").exists()


def test_what_others_wrote_between_two_writes_outlives_uninstall(agents: Path, here: Cairn) -> None:
    rules, claude = agents / ".claude" / "CLAUDE.md", agents / ".claude.json"
    kept = claude.rename(agents / "dotfiles.json")
    claude.symlink_to(kept)  # stays a link
    here("init", "--yes")
    rules.write_bytes(rules.read_bytes() + b"Always squash.\r\n")
    claude.write_text(json.dumps(json.loads(claude.read_text()) | {"theme": "light"}))

    for token in ("x", "y"):  # the second finds its own file, and has to know of the first
        other = ("--url", "http://127.0.0.1:9", "--token", token)
        assert here(*other, "init", "--project", f"of-{token}", "--yes").code == 0
    assert here("uninstall", "--yes").code == 0

    assert rules.read_bytes() == b"Always squash.\r\n"
    assert json.loads(kept.read_text())["theme"] == "light"
    assert claude.is_symlink()
    assert (agents / ".codex" / "config.toml").read_text() == CODEX
    assert not (agents / ".cursor" / "mcp.json").exists()


def test_doctor_says_what_is_wrong_and_ends_with_a_fault(agents: Path, here: Cairn) -> None:
    (agents / ".config" / "cairn" / "config.toml").chmod(0o644)

    done = here("doctor", "--json")

    assert done.code == 1
    wrong = {row["check"] for row in done.rows() if not row["ok"]}
    assert wrong == {"settings", "claude-code", "cursor", "codex"}


def test_pause_holds_for_ones_own_agents_until_it_is_resumed(here: Cairn) -> None:
    paused = here("pause", "--json").rows()[0]
    resumed = here("resume", "--json").rows()[0]
    everybody = here("pause", "--everybody").out

    assert paused == {"paused": False, "this_token_paused": True}
    assert resumed == {"paused": False, "this_token_paused": False}
    assert everybody == "shop: paused for all agents\n"
    assert here("resume", "--everybody").out == "shop: not paused\n"


CODE: Answer = (200, {}, {"device_code": "d", "user_code": "u", "interval": 5, "expires_in": 600})


def _approve(address: str, place: Place, code: str) -> None:
    """Decide in a browser that is signed in as the owner."""
    form = {"code": code, "org": place.caller.organization_slug, "verb": "approve", "scope": "read"}
    with signed_in(address=address, place=place) as browser:
        browser.post("/device", data={**form, **token_of(browser=browser)})


@pytest.mark.parametrize(
    ("comes_back", "outcome", "waited"),
    [
        (True, nullcontext(), [5.0, 10.0]),
        (False, pytest.raises(Unreachable), [5.0, 10.0, 20.0, 40.0, 80.0, 160.0]),
    ],
    ids=["it comes back", "it stays away"],
)
def test_a_server_that_goes_away_while_it_waits_is_asked_more_rarely_until_the_end(
    address: str,
    place: Place,
    comes_back: bool,
    outcome: AbstractContextManager[object],
    waited: list[float],
) -> None:
    shown: list[Mapping[str, Any]] = []
    pauses: list[float] = []
    with FaultProxy(target=urlsplit(address).port or 0) as proxy:

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            proxy.set(REFUSING)
            proxy.reset()
            if len(pauses) == 2 and comes_back:
                proxy.set(SOUND)
                _approve(address, place, shown[0]["user_code"])

        connection = Connection(url=f"http://127.0.0.1:{proxy.port}", token="")
        with outcome, Client(connection=connection, pause=lambda _: None) as client:
            token = setup.sign_in(client=client, show=shown.append, pause=pause)
            assert token.startswith("crn_pat_")

    assert pauses == waited


def test_who_is_refused_is_told_so_and_who_asks_too_often_waits_longer(served: Served) -> None:
    denied = served(CODE, (403, {}, {"code": "access_denied"}))
    pauses: list[float] = []
    answers = [(400, {}, {"code": code}) for code in ("authorization_pending", "slow_down")]
    late = served(CODE, *answers)

    with denied.client() as client, pytest.raises(Problem) as refused:
        setup.sign_in(client=client, show=dict, pause=pauses.append)
    with late.client() as client, pytest.raises(ClientError, match="Nobody approved"):
        setup.sign_in(client=client, show=dict, pause=pauses.append)

    assert refused.value.code == "access_denied"
    assert pauses[:5] == [5.0, 5.0, 5.0, 10.0, 15.0]
    assert sum(pauses[1:]) >= 600


def test_login_by_code_keeps_the_token_for_its_owner_alone(
    cairn: Cairn, home: Path, address: str, place: Place
) -> None:
    command = [sys.executable, "-m", "memory.client", "--json", "login", address, "--code"]
    environment = {**os.environ, "HOME": str(home)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as running:
        assert running.stdout is not None
        asked = json.loads(running.stdout.readline())
        _approve(address, place, asked["user_code"])
        told = json.loads(running.stdout.readline())

    assert running.returncode == 0
    assert (told["scopes"], told["project"]) == (["read"], "shop")
    kept = home / ".config" / "cairn" / "config.toml"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.read_text().split('token = "')[1][:8] == "crn_pat_"
    assert cairn("whoami").code == 0


def test_lessons_of_no_project_are_refused_before_a_file_changes(agents: Path, here: Cairn) -> None:
    kept = agents / ".config" / "cairn" / "config.toml"
    lines = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(one for one in lines if not one.startswith("project")))
    before = _everything(agents)

    nowhere = here("init", "--yes", "--lessons", "personal")
    unknown = here("init", "--yes", "--project", "shop", "--lessons", "all")

    assert (nowhere.code, unknown.code) == (2, 2)
    assert "--project NAME" in nowhere.err
    assert _everything(agents) == before


def test_a_token_that_administers_goes_into_no_file_of_an_agent(
    agents: Path, here: Cairn, address: str, place: Place
) -> None:
    before = _everything(agents)
    with signed_in(address=address, place=place) as browser:
        new = {"name": "all", "scopes": ["read", "write", "admin"]}
        token = browser.post("/api/v1/tokens", json=new).json()["text"]

    refused = here("--token", token, "init", "--yes", "--harness", "codex")

    assert (refused.code, "scope admin" in refused.err) == (2, True)
    assert _everything(agents) == before


def test_a_token_that_decides_as_its_person_goes_into_no_file_of_an_agent(
    agents: Path, here: Cairn, address: str, place: Place
) -> None:
    new = {"name": "terminal", "scopes": ["read", "write", "review"]}
    with signed_in(address=address, place=place) as browser:
        deciding = browser.post("/api/v1/tokens", json=new).json()["text"]
    refused = here("--token", deciding, "init", "--yes")
    assert (refused.code, "scope review" in refused.err) == (2, True)

    added = here("--token", deciding, "login", "--review")
    lessons = here("init", "--yes", "--project", "shop", "--lessons", "personal")

    assert (added.code, lessons.code) == (0, 0), added.err + lessons.err
    kept = (agents / ".config" / "cairn" / "config.toml").read_text()
    assert (f'token = "{place.token}"' in kept, f'review = "{deciding}"' in kept) == (True, True)
    assert deciding not in str({**_everything(agents), ".config/cairn/config.toml": b""})
