"""Imports go one way: the contracts of pyproject.toml hold, and every module chose its layer."""

from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

CONFIG = Path(__file__).resolve().parents[2] / "pyproject.toml"


def test_the_import_contracts_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(CONFIG), no_cache=True)

    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out
