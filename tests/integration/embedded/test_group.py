"""Children are watched, restarted and stopped (config.embedded.processes)."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from config import env
from config.embedded import processes
from config.embedded.home import StartError
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


def pid_of(child: Process) -> int | None:
    return None if child.child is None else child.child.pid


def test_lines_of_a_child_carry_its_name_and_its_exit_code_is_returned(
    group: Group, make_child: MakeChild, printed: io.StringIO
) -> None:
    text = "import sys; sys.stdout.write('hello\\nno end'); sys.exit(3)"

    code = group.run_to_end(make_child(text, name="beat").program)

    assert code == 3
    assert printed.getvalue() == "beat     | hello\nbeat     | no end\n"


def test_killed_child_is_started_again_and_said_so(
    group: Group, make_child: MakeChild, printed: io.StringIO
) -> None:
    child = make_child(FOREVER)
    group.add(child)
    turn_until(group, lambda: child.ready)
    first = pid_of(child)
    assert first is not None

    os.kill(first, signal.SIGKILL)
    turn_until(group, lambda: child.ready and pid_of(child) not in {None, first})

    assert "web was ended by SIGKILL; starting it again in 1 s" in printed.getvalue().replace(
        "cairn    | ", ""
    )
    assert "web is back" in printed.getvalue()


def test_delay_doubles_up_to_half_a_minute_and_a_good_run_forgives(make_child: MakeChild) -> None:
    child = make_child(FOREVER)

    delays = [child.plan_restart(now=child.started_at + 59) for _ in range(7)]

    assert delays == [1, 2, 4, 8, 16, 30, 30]
    assert child.plan_restart(now=child.started_at + 61) == 1


def test_child_that_never_comes_up_is_given_up(
    group: Group, make_child: MakeChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "HOPELESS_DEATHS", 1)
    child = make_child("raise SystemExit('no settings')")
    child.is_ready = lambda: False
    group.add(child)

    with pytest.raises(StartError, match="web does not start"):
        group.await_ready(child)


def test_program_that_does_not_exist_is_named(group: Group, make_child: MakeChild) -> None:
    child = make_child("")
    child.program = replace(child.program, command=("/nowhere/postgres",))

    with pytest.raises(StartError, match="/nowhere/postgres"):
        group.add(child)


def test_child_that_ignores_sigterm_is_killed(
    group: Group, make_child: MakeChild, printed: io.StringIO
) -> None:
    child = make_child(STUBBORN, patience=0.2)
    group.add(child)
    turn_until(group, lambda: "up" in printed.getvalue())

    group.stop()

    assert child.returncode == -signal.SIGKILL


def test_stop_ends_every_child_and_web_before_the_database(
    group: Group, make_child: MakeChild, printed: io.StringIO
) -> None:
    text = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b'bye\\n'), os._exit(0)))\n"
        "print('up', flush=True)\ntime.sleep(600)"
    )
    children = [make_child(text, name=name) for name in ("postgres", "redis", "beat", "web")]
    for child in children:
        group.add(child)
    turn_until(group, lambda: printed.getvalue().count("up") == 4)

    group.stop()

    said = [line.split()[0] for line in printed.getvalue().splitlines() if "bye" in line]
    assert said == ["web", "beat", "redis", "postgres"]
    assert [child.child for child in children] == [None] * 4


def test_request_to_stop_ends_the_watch(group: Group) -> None:
    group.request_stop()

    with pytest.raises(StopRequested):
        group.run_until_stopped()


def test_a_retired_child_may_finish_and_is_not_started_again(
    group: Group, make_child: MakeChild, printed: io.StringIO
) -> None:
    text = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(print('finished')))\n"
        "print('up', flush=True)\ntime.sleep(600)"
    )
    old, new = make_child(text), make_child(FOREVER)
    group.add(old)
    group.add(new)
    turn_until(group, lambda: printed.getvalue().count("up") == 2)

    group.retire(old)
    turn_until(group, lambda: old.child is None)

    assert "web      | finished" in printed.getvalue()
    assert "starting it again" not in printed.getvalue()
    assert new.child is not None


def test_a_retired_child_that_was_to_be_started_again_is_forgotten(
    group: Group, make_child: MakeChild, printed: io.StringIO
) -> None:
    child = make_child("print('up', flush=True)")
    group.add(child)
    turn_until(group, lambda: child.restart_at is not None)
    assert child.restart_at is not None

    group.retire(child)

    assert not child.is_due(now=child.restart_at or child.started_at + 3_600)
    assert printed.getvalue().count("| up") == 1


def test_a_child_that_cannot_be_started_is_not_kept(group: Group, make_child: MakeChild) -> None:
    child = make_child("")
    child.program = replace(child.program, command=("/nowhere/worker",))
    with pytest.raises(StartError):
        group.add(child)

    group.retire(child)
    group.turn()

    assert child.child is None


@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [
        ("return 3", 3, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit('no settings')", 1, "no settings\n"),
        ("raise ValueError('odd')", 1, "ValueError: odd\n"),
    ],
)
def test_a_forked_program_ends_as_one_that_is_executed(ending: str, code: int, said: str) -> None:
    text = (
        "import sys\nfrom config.embedded import loader\n"
        f"def run():\n    {ending}\nloader.end_with(run)"
    )

    ended = subprocess.run(
        (sys.executable, "-c", text), cwd=env.ROOT, capture_output=True, text=True, check=False
    )

    assert ended.returncode == code
    assert ended.stderr.endswith(said)
    assert bool(ended.stderr) == bool(said)


def test_a_child_that_reports_is_ready_when_it_has(group: Group, make_child: MakeChild) -> None:
    text = "import os, sys, time\nos.write(int(sys.argv[1]), b'ready')\ntime.sleep(600)"
    child = make_child(text)
    child.program, child.is_ready = replace(child.program, reports=True), None
    group.add(child)

    group.await_ready(child)

    assert child.ready


def test_a_restart_is_carried_out_and_the_watch_goes_on(group: Group) -> None:
    group.request_restart()

    with pytest.raises(StopRequested):
        group.run_until_stopped(on_restart=group.request_stop)
