"""Goals with a figure: what a test measured is printed when the run ends.

A test marked `goal(name="G2")` takes `scale` for how much it does and hands its figure to `figure`.
`make test` runs the short form; `make goal-G2` the long one (CAIRN_SCALE=long).
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.support import programs

LONG = os.environ.get("CAIRN_SCALE") == "long"
FIGURE = "figure"  # the property of a test's report, which comes from whichever process ran it


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much a test does in this run."""

    is_long: bool

    def of(self, *, short: int, long: int) -> int:
        """Return the count for this run."""
        return long if self.is_long else short


@pytest.fixture(scope="session")
def scale() -> Scale:
    """Say whether the short or the long form runs."""
    return Scale(is_long=LONG)


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Return a function that keeps one line for the end of the run."""
    goal = request.node.get_closest_marker("goal")
    name = goal.kwargs["name"] if goal else request.node.name
    kept: list[tuple[str, object]] = request.node.user_properties
    return lambda text: kept.append((FIGURE, f"{name}: {text}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures of the run, and which tests were left out for want of a program."""
    left_out = programs.describe_left_out(config=terminalreporter.config)
    for title, lines in (("figures", _figures(terminalreporter)), ("left out", left_out)):
        for place, line in enumerate(lines):
            if place == 0:
                terminalreporter.section(title)
            terminalreporter.write_line(line)


def _figures(terminalreporter: pytest.TerminalReporter) -> Iterator[str]:
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                yield from (str(text) for name, text in report.user_properties if name == FIGURE)
