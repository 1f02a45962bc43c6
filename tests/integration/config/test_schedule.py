"""Work goes on whatever the wall clock does; a worker keeps what it has loaded."""

import gc

import pytest
from celery import beat

from config import celery
from config.celery import BEAT, SWEEP_SECONDS, app


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the clock has started."""
    names: list[str] = []

    def note(self: object, entry: beat.ScheduleEntry, **_: object) -> None:
        names.append(entry.name)

    monkeypatch.setattr(beat.Scheduler, "apply_async", note)
    monkeypatch.setattr(beat.Scheduler, "producer", None)
    return names


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds since the machine started, to be moved by the test."""
    seconds = [1_000.0]
    monkeypatch.setattr(celery.time, "monotonic", lambda: seconds[0])
    return seconds


def tick(clock: beat.Scheduler) -> float:
    """Let it start all that is due; return when it wants to look again."""
    while (wait := clock.tick()) == 0:
        continue
    return wait


def new_clock() -> beat.Scheduler:
    clock: beat.Scheduler = beat.Scheduler(app=app)
    return clock


def test_a_new_clock_starts_everything_at_once(sent: list[str], counted: list[float]) -> None:
    wait = tick(new_clock())

    assert sorted(sent) == sorted(BEAT)
    assert wait == pytest.approx(SWEEP_SECONDS, abs=0.1)


def test_each_row_comes_at_its_interval(sent: list[str], counted: list[float]) -> None:
    clock = new_clock()
    tick(clock)

    for _ in range(6):
        counted[0] += SWEEP_SECONDS
        tick(clock)

    assert sent.count("sweep") == 7
    assert sent.count("merge-access") == 2
    assert sent.count("evict") == 1


def test_a_message_outlives_clocks_that_differ_by_an_hour() -> None:
    assert all(row["options"]["expires"] > 3_600 for row in BEAT.values())


def test_a_restarted_clock_does_not_wait_for_what_an_old_one_kept() -> None:
    assert app.conf.beat_scheduler == "celery.beat:Scheduler"


def test_a_worker_does_not_look_for_garbage_in_what_it_has_loaded() -> None:
    gc.unfreeze()  # nothing counts as lasting yet
    known = len(gc.get_objects())

    celery.keep_loaded()

    assert gc.get_freeze_count() > known / 2
    assert len(gc.get_objects()) < known / 2
