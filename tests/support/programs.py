"""Programs that some tests need and that come with no Python package: a browser, servers.

A test names its program by a marker. Where the program is missing, those tests are left out and the
run ends by saying which, and how to add them. With CI=true nothing is left out: a test without its
program fails.
"""

import os
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

LEFT_OUT: Final = "left_out"  # what a process of the run says to the one that prints


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededProgram:
    """A program by the marker of its tests: its name, its Debian package, where it may be."""

    name: str
    package: str
    variable: str
    places: tuple[str, ...]

    def find(self) -> Path | None:
        """Return its path, from the variable, the PATH or the usual places."""
        places = (os.environ.get(self.variable, ""), *self.places)
        found = (shutil.which(place) for place in places if place)
        return next((Path(path) for path in found if path is not None), None)

    def require(self) -> Path:
        """Return its path; fail the test saying what is missing."""
        found = self.find()
        if found is None:
            pytest.fail(
                f"No {self.name}: install it (Debian: apt-get install {self.package}) "
                f"or name it by {self.variable}.",
                pytrace=False,
            )
        return found


PROGRAMS: Final = {
    "browser": NeededProgram(
        name="Chromium",
        package="chromium",
        variable="CAIRN_CHROMIUM",
        places=(
            *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
            *("/opt/google/chrome/chrome", "/snap/bin/chromium"),
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        ),
    ),
    "pooler": NeededProgram(
        name="PgBouncer",
        package="pgbouncer",
        variable="CAIRN_PGBOUNCER",
        places=("pgbouncer", "/usr/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer"),
    ),
    "nginx": NeededProgram(
        name="nginx", package="nginx-light", variable="NGINX", places=("nginx", "/usr/sbin/nginx")
    ),
    "systemd": NeededProgram(
        name="systemd-analyze",
        package="systemd",
        variable="SYSTEMD_ANALYZE",
        places=("systemd-analyze", "/usr/bin/systemd-analyze"),
    ),
}


def leave_out(*, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take out the tests whose program is missing, and count them by marker."""
    missing = [marker for marker, program in PROGRAMS.items() if program.find() is None]
    if not missing or os.environ.get("CI") == "true":
        return
    left_out = {
        item: marker for item in items for marker in missing if item.get_closest_marker(marker)
    }
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))
    counts = dict(Counter(left_out.values()))
    config.stash[COUNTS] = counts
    if hasattr(config, "workeroutput"):
        config.workeroutput[LEFT_OUT] = counts


COUNTS: Final = pytest.StashKey[dict[str, int]]()


def pytest_testnodedown(node: object) -> None:
    """Take over what a process of the run left out; each left out the same."""
    counts = getattr(node, "workeroutput", {}).get(LEFT_OUT)
    if counts:
        node.config.stash[COUNTS] = counts  # type: ignore[attr-defined]


def describe_left_out(*, config: pytest.Config) -> tuple[str, ...]:
    """Return the lines that end a run in which tests were left out."""
    counts = config.stash.get(COUNTS, {})
    if not counts:
        return ()
    packages = " ".join(PROGRAMS[marker].package for marker in counts)
    return (
        *(f"{count} tests that need {PROGRAMS[marker].name}" for marker, count in counts.items()),
        f"To run them too: sudo apt-get install {packages} && make test",
    )
