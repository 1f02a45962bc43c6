"""Imports go one way: the contracts of pyproject.toml hold, and every module chose its layer."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINTER = Path(sys.executable).with_name("lint-imports")


def test_the_import_contracts_are_kept() -> None:
    linted = subprocess.run(  # in a process of its own: it switches off every logger there is
        [LINTER, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert linted.returncode == 0, linted.stdout + linted.stderr
