"""A group of small programs to supervise, its output kept, stopped after each test."""

import io
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config.embedded.processes import Console, Group, Process, Program

MakeChild = Callable[..., Process]


@pytest.fixture
def printed() -> io.StringIO:
    """What the console has printed so far."""
    return io.StringIO()


@pytest.fixture
def console(printed: io.StringIO) -> Console:
    """A console that prints into `printed`."""
    return Console(stream=printed)


@pytest.fixture
def group(console: Console) -> Iterator[Group]:
    """A group whose children are gone after the test."""
    group = Group(console=console)
    yield group
    group.stop()


@pytest.fixture
def make_child(console: Console, tmp_path: Path) -> MakeChild:
    """Make a child that runs a Python text; it is ready at once."""

    def make(text: str, *, name: str = "web", patience: float = 20) -> Process:
        program = Program(
            name=name,
            command=(sys.executable, "-S", "-c", text),
            environment={},
            folder=tmp_path,
            halts=((signal.SIGTERM, patience),),
        )
        return Process(program=program, restarts=True, is_ready=lambda: True, console=console)

    return make
