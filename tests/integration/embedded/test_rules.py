"""The small decisions of the start: its door, steps, stopping, addresses, secrets."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from config import env
from config.embedded import home, processes, servers, startup
from config.embedded.home import StartError
from memory.client.install import HARNESSES


def test_stopping_goes_through_its_stages_and_ends_in_a_kill() -> None:
    halts = ((signal.SIGTERM, 5.0), (signal.SIGQUIT, 3.0))

    sent = [
        processes.signal_after(halts=halts, elapsed_seconds=second) for second in (0, 4.9, 5, 8)
    ]

    assert sent == [signal.SIGTERM, signal.SIGTERM, signal.SIGQUIT, signal.SIGKILL]


def _steps(
    folder: Path, *, demo: str = "1", is_known: bool = False, done: set[str] | None = None
) -> str:
    if is_known:
        (folder / "tokens").mkdir()
        for name in ("credentials.json", *(f"tokens/{one}" for one in HARNESSES)):
            (folder / name).touch()
    chosen = startup.read(environment={"CAIRN_DEMO": demo})
    due = startup.due_steps(
        setup=chosen,
        credentials=folder / "credentials.json",
        tokens=folder / "tokens",
        done=frozenset(done or ()),
        environment={},
    )
    return " ".join(step.name for _, step in due)


def test_demo_is_loaded_only_at_the_first_start_and_only_if_wanted(tmp_path: Path) -> None:
    assert _steps(tmp_path) == "weights rules words migrate bootstrap demo"
    assert _steps(tmp_path, demo="0") == "weights rules words migrate bootstrap"
    assert _steps(tmp_path, is_known=True, done={"demo"}) == "weights rules words migrate"
    (tmp_path / "tokens" / "codex").unlink()
    assert _steps(tmp_path, done={"demo"}) == "weights rules words migrate bootstrap"


def test_files_with_secrets_that_others_could_read_are_tightened_and_named(tmp_path: Path) -> None:
    folder = home.prepare(root=tmp_path / "var")
    folder.tokens.mkdir()
    wide, narrow = folder.tokens / "codex", folder.credentials
    for path, mode in ((wide, 0o644), (narrow, 0o600)):
        path.touch()
        path.chmod(mode)

    assert home.tighten(home=folder) == (wide,)
    assert wide.stat().st_mode & 0o777 == 0o600


def test_busy_port_says_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(StartError, match=f"CAIRN_PORT={port + 1} make run"):
            startup.reserve(host="127.0.0.1", port=port)


def test_a_port_that_another_program_listens_on_meanwhile_is_told_too() -> None:
    with startup.reserve(host="127.0.0.1", port=0) as mine:
        port = mine.getsockname()[1]
        with socket.create_server(("127.0.0.1", port)):
            setup = startup.read(environment={"CAIRN_PORT": str(port)})

            with pytest.raises(StartError, match=f"Port {port} is used by another program"):
                startup.listen(mine, setup=setup)


def test_host_that_is_not_ours_is_refused_and_the_printed_one_is_one_a_browser_can_open() -> None:
    with pytest.raises(StartError, match="correct CAIRN_HOST"):
        startup.reserve(host="192.0.2.1", port=8000)

    assert startup.base_url(host="0.0.0.0", port=8000) == "http://127.0.0.1:8000"
    assert startup.base_url(host="::", port=8000) == "http://[::1]:8000"


def test_secrets_are_made_once_and_a_second_start_over_the_folder_is_refused(
    tmp_path: Path,
) -> None:
    folder = home.prepare(root=tmp_path / "var")

    first = home.load_secrets(home=folder)

    assert home.load_secrets(home=folder) == first
    assert (folder.root / "secrets.json").stat().st_mode & 0o777 == 0o600
    with (
        home.held(home=folder),
        pytest.raises(StartError, match=f"already runs over .*process {os.getpid()}"),
        home.held(home=folder),
    ):
        pass


def test_folder_below_a_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StartError, match=r"a part of the path is a file; .* CAIRN_HOME"):
        home.prepare(root=tmp_path / "file" / "var")


def test_stale_pid_file_of_another_process_is_removed(tmp_path: Path) -> None:
    pid_file = tmp_path / "postmaster.pid"
    pid_file.write_text(f"{os.getpid()}\n")

    servers.clear_stale(folder=tmp_path, pid_file=pid_file)

    assert not pid_file.exists()


def test_a_restart_without_a_running_group_says_how_to_start_one(tmp_path: Path) -> None:
    told = _knocked("restart", home=tmp_path / "home")

    assert told.returncode == 1
    assert "does not run over" in told.stderr
    assert "make run" in told.stderr


def test_the_holder_of_a_folder_and_the_end_of_its_restarts_are_known(tmp_path: Path) -> None:
    folder = home.prepare(root=tmp_path / "var")
    assert home.holder(home=folder) is None

    with home.held(home=folder):
        assert home.holder(home=folder) == os.getpid()
    assert home.holder(home=folder) is None

    home.note_restart(home=folder, failure="")
    home.note_restart(home=folder, failure="the loader does not start")
    assert home.read_restarts(home=folder) == (2, "the loader does not start")

    folder.restarts.write_text("{")
    with pytest.raises(StartError, match=r"restarts\.json is damaged; delete it"):
        home.note_restart(home=folder, failure="")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"secret_key": "short", "token_pepper": "short"}']
)
def test_damaged_secrets_are_told_with_what_to_do(tmp_path: Path, text: str) -> None:
    folder = home.prepare(root=tmp_path / "var")
    (folder.root / "secrets.json").write_text(text)

    with pytest.raises(StartError, match=r"from a backup, or set CAIRN_SECRET_KEY .* move the"):
        home.load_secrets(home=folder)
    assert (folder.root / "secrets.json").read_text() == text


def test_a_damaged_way_in_is_told_and_keeps_only_its_own_steps_back(tmp_path: Path) -> None:
    folder = home.Home(root=tmp_path)
    assert startup.damaged_credentials(home=folder) == ""

    folder.credentials.write_bytes(b"\xff{")
    told = startup.damaged_credentials(home=folder)

    assert str(folder.credentials) in told
    assert "delete it and start again" in told
    folder.credentials.write_text(json.dumps(dict.fromkeys(startup.FIELDS, "x")))
    assert startup.damaged_credentials(home=folder) == ""


def test_a_damaged_list_of_steps_is_told_with_what_to_do(tmp_path: Path) -> None:
    folder = home.prepare(root=tmp_path)
    (folder.run / startup.DONE_NAME).write_text("[")

    with pytest.raises(StartError, match=r"steps\.json is damaged; delete it"):
        startup.read_done(home=folder)


def test_too_few_files_are_told_before_anything_is_made(tmp_path: Path) -> None:
    limited = f"ulimit -n 100; exec {sys.executable} -m config.embedded run"
    told = subprocess.run(
        ["/bin/sh", "-c", limited],
        cwd=env.ROOT,
        env={"CAIRN_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert told.returncode == 1
    assert "may open only 100 files" in told.stdout
    assert not (tmp_path / "home").exists()


def test_children_learn_addresses_and_secrets() -> None:
    chosen = startup.read(environment={"CAIRN_PORT": "8123", "CAIRN_HOME": "/data"})
    kept = {"secret_key": "s" * 40, "token_pepper": "p" * 40}

    environment = startup.given_to_children(setup=chosen, secrets=kept, environment={})

    assert environment["CAIRN_BASE_URL"] == "http://127.0.0.1:8123"
    assert environment["CAIRN_MODELS"] == "/data/models"
    assert environment["CAIRN_TOKEN_PEPPER"] == "p" * 40


def test_credentials_follow_the_address_and_lost_ones_are_told(tmp_path: Path) -> None:
    folder = home.Home(root=tmp_path)
    with pytest.raises(StartError, match="missing or damaged"):
        startup.publish_credentials(home=folder, url="http://127.0.0.1:8000")
    folder.credentials.write_text(json.dumps(dict.fromkeys(startup.FIELDS, "x")))

    fields = startup.publish_credentials(home=folder, url="http://127.0.0.1:9000")

    assert fields["url"] == "http://127.0.0.1:9000"
    assert json.loads(folder.credentials.read_text()) == fields
    assert folder.credentials.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--anything"],
        ["run", "--fast"],
        ["run", "everything"],
        ["servers", "--fsat"],
        ["stop-check", "now"],
        ["restart", "web"],
        ["halt"],
        [],
    ],
    ids=" ".join,
)
def test_what_the_door_does_not_know_is_refused_with_usage(
    arguments: list[str], tmp_path: Path
) -> None:
    told = _knocked(*arguments, home=tmp_path / "home")

    assert told.returncode == 2
    assert told.stderr.startswith("usage: python -m config.embedded")
    assert not (tmp_path / "home").exists()


def test_a_command_of_manage_keeps_its_own_arguments(tmp_path: Path) -> None:
    told = _knocked("manage", "evaluate", "--split", "held", home=tmp_path / "home")

    assert told.returncode == 1
    assert "usage" not in told.stderr


def _knocked(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "config.embedded", *arguments],
        cwd=env.ROOT,
        env={"CAIRN_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
