"""The client stands alone: what its distribution names is enough to run it."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "deploy" / "client"
LOADED = (
    "import sys; sys.path.insert(0, sys.argv[1]); from cairn_client import cli; "
    "code = cli.main(sys.argv[2:]); print(code, *(sorted(sys.modules)))"
)


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A folder with the package as it is installed, away from everything else of ours."""
    shutil.copytree(ROOT / "memory" / "client", tmp_path / "cairn_client")
    shutil.copytree(ROOT / "deploy" / "plugin", tmp_path / "cairn_client" / "plugin")
    return tmp_path


def _loaded(alone: Path, *arguments: str) -> tuple[str, set[str]]:
    """Run a command; return its exit code, and the packages that it loaded."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOADED, str(alone), *arguments],
        cwd=alone,
        env={"HOME": str(alone), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    code, *modules = done.stdout.splitlines()[-1].split()
    return code, {name.partition(".")[0] for name in modules}


def test_a_command_loads_nothing_else_of_ours_and_no_more_than_it_needs(alone: Path) -> None:
    help_code, at_help = _loaded(alone, "--help")
    code, modules = _loaded(alone, "--url", "http://127.0.0.1:9", "--token", "x", "--json", "stats")

    assert (help_code, code) == ("0", "1")
    assert not {"httpx", "rich", "django", "memory"} & at_help
    assert "httpx" in modules
    assert not {"django", "memory", "accounts", "teams"} & modules


def test_hooks_are_found_in_what_is_installed(alone: Path) -> None:
    (alone / ".cursor").mkdir()
    named = ("--url", "http://127.0.0.1:9", "--token", "x")

    code, _ = _loaded(alone, *named, "init", "--yes", "--harness", "cursor")

    assert code == "0"
    assert (alone / ".cairn/plugin/bin/hook.sh").read_bytes() == (
        ROOT / "deploy/plugin/bin/hook.sh"
    ).read_bytes()


def test_distribution_holds_the_package_and_names_its_libraries() -> None:
    told = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))

    included = told["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert {(FOLDER / path).resolve(): place for path, place in included.items()} == {
        ROOT / "memory" / "client": "cairn_client",
        ROOT / "deploy" / "plugin": "cairn_client/plugin",
    }
    assert told["project"]["scripts"] == {"cairn": "cairn_client.cli:run"}
    pinned = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pins = {line.partition("==")[0] for line in pinned["project"]["dependencies"]}
    assert {line.partition(">=")[0] for line in told["project"]["dependencies"]} <= pins
