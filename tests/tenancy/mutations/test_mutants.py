"""Each guard of isolation is switched off in turn, and the tests notice every time.

The long form (`make goal-G3`) tries all of them against all tests of isolation; the short one tries
a sample against the tests that each guard names, and checks that every guard still has its text.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from config import env
from tests.support import servers
from tests.support.goals import Scale
from tests.tenancy.mutations import switching
from tests.tenancy.mutations.switching import MUTANTS, SAMPLE

DATABASE = "cairn_mutants"  # its test database is another one than this run's
WHOLE = (
    "--whole",
    "tests/tenancy",
    "--ignore=tests/tenancy/mutations",
    "--ignore=tests/tenancy/test_canaries.py",
)
FEWEST = 10  # guards, of the short form
PATIENCE_S = 5_000


@pytest.fixture
def told(scale: Scale, tmp_path: Path) -> dict[str, str]:
    """The first test that failed for each mutant."""
    servers.start()
    tried = MUTANTS if scale.is_long else SAMPLE
    named = sorted({test for mutant in tried for test in mutant.tests})
    chosen = (*named, *WHOLE) if scale.is_long else named
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{DATABASE}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:valkey", "-p", "no:cacheprovider",
         "-p", "tests.tenancy.mutations.plugin", "--timeout", "0",
         "--told-to", str(tmp_path / "told.json"), *chosen],
        env={**os.environ, "DATABASE_URL": urlunsplit(url), "CAIRN_SCALE": ""},
        cwd=env.ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    answers: dict[str, str] = json.loads((tmp_path / "told.json").read_text())
    return answers


def test_every_guard_has_its_text() -> None:
    for mutant in MUTANTS:
        if not switching.is_of_database(mutant):
            switching.check(mutant)


@pytest.mark.slow
@pytest.mark.timeout(PATIENCE_S)
@pytest.mark.goal(name="G3")
def test_every_guard_is_missed(told: dict[str, str], figure: Callable[[str], None]) -> None:
    unchanged = told.pop("unchanged")
    survivors = [name for name, failed in told.items() if not failed]
    broken = [failed for failed in told.values() if failed.startswith("the run")]

    alone = sum(failed.startswith("tests/tenancy/") for failed in told.values())
    figure(f"{len(told) - len(survivors)} of {len(told)} guards missed, {alone} by tests/tenancy")
    assert unchanged == ""
    assert broken == []
    assert survivors == []
    assert len(told) >= FEWEST
