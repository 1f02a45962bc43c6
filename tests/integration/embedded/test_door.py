"""The door of the start takes what it knows and refuses the rest, before anything runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from config import env


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--anything"],
        ["run", "--fast"],
        ["run", "everything"],
        ["servers", "--fsat"],
        ["stop-check", "now"],
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
