"""Children are watched, restarted and stopped (config.embedded.processes)."""

import io
import os
import signal
from collections.abc import Callable
from dataclasses import replace

import pytest

from config.embedded import processes
from config.embedded.console import BinaryError, ServerError
from config.embedded.processes import Group, Process, StopRequested

from .conftest import MakeChild

FOREVER = "import time\nprint('up', flush=True)\ntime.sleep(600)"
STUBBORN = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('up', flush=True)\ntime.sleep(600)"
)
TURNS = 200


def turn_until(group: Group, condition: Callable[[], bool]) -> None:
    for _ in range(TURNS):
        if condition():
            return
        group.turn()
    raise AssertionError("the group never came to it")


def pid_of(child: Process) -> int:
    pid = child.pid
    assert pid is not None
    return pid


def test_lines_of_a_child_carry_its_name(
    group: Group, make_child: MakeChild, printed: io.StringIO
) -> None:
    code = group.run_to_end(make_child("print('hello')", name="beat").program)

    assert code == 0
    assert printed.getvalue() == "beat     | hello\n"


def test_line_without_an_end_is_printed_too(
    group: Group, make_child: MakeChild, printed: io.StringIO
) -> None:
    text = "import sys; sys.stdout.write('no end')"

    group.run_to_end(make_child(text).program)

    assert "no end" in printed.getvalue()


def test_exit_code_of_a_step_is_returned(group: Group, make_child: MakeChild) -> None:
    assert group.run_to_end(make_child("raise SystemExit(3)").program) == 3


def test_killed_child_is_started_again_and_said_so(
    group: Group, make_child: MakeChild, printed: io.StringIO
) -> None:
    child = make_child(FOREVER)
    group.add(child)
    turn_until(group, lambda: child.ready)
    first = pid_of(child)

    os.kill(first, signal.SIGKILL)
    turn_until(group, lambda: child.ready and child.pid not in {None, first})

    assert "web was ended by SIGKILL; starting it again in 1 s" in printed.getvalue().replace(
        "cairn    | ", ""
    )
    assert "web is back" in printed.getvalue()


@pytest.mark.parametrize(("ran_seconds", "deaths"), [(59, 7), (61, 1)])
def test_good_run_forgives_earlier_deaths(
    make_child: MakeChild, ran_seconds: float, deaths: int
) -> None:
    child = make_child(FOREVER)
    child.deaths = 6

    child.plan_restart(now=child.started_at + ran_seconds)

    assert child.deaths == deaths


def test_child_that_never_comes_up_is_given_up(
    group: Group, make_child: MakeChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "HOPELESS_DEATHS", 1)
    child = make_child("raise SystemExit('no settings')")
    child.is_ready = lambda: False
    group.add(child)

    with pytest.raises(ServerError, match="web does not start"):
        group.await_ready(child)


def test_program_that_does_not_exist_is_named(group: Group, make_child: MakeChild) -> None:
    child = make_child("")
    child.program = replace(child.program, command=("/nowhere/postgres",))

    with pytest.raises(BinaryError, match="/nowhere/postgres"):
        group.add(child)


def test_stop_ends_every_child(group: Group, make_child: MakeChild) -> None:
    children = [make_child(FOREVER, name=name) for name in ("postgres", "redis", "worker", "web")]
    for child in children:
        group.add(child)

    group.stop()

    assert not any(child.is_running for child in children)


def test_child_that_ignores_sigterm_is_killed(
    group: Group, make_child: MakeChild, printed: io.StringIO
) -> None:
    child = make_child(STUBBORN, patience=0.2)
    group.add(child)
    turn_until(group, lambda: "up" in printed.getvalue())

    group.stop()

    assert child.returncode == -signal.SIGKILL


def test_web_is_stopped_before_the_database(
    group: Group, make_child: MakeChild, printed: io.StringIO
) -> None:
    text = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b'bye\\n'), os._exit(0)))\n"
        "print('up', flush=True)\ntime.sleep(600)"
    )
    for name in ("postgres", "beat", "web"):
        group.add(make_child(text, name=name))
    turn_until(group, lambda: printed.getvalue().count("up") == 3)

    group.stop()

    said = [line.split()[0] for line in printed.getvalue().splitlines() if "bye" in line]
    assert said == ["web", "beat", "postgres"]


def test_request_to_stop_ends_the_watch(group: Group) -> None:
    group.request_stop()

    with pytest.raises(StopRequested):
        group.run_until_stopped()
