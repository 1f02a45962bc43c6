"""Background work is complete: each job has a handler, each row of the clock a task."""

from inspect import signature

import pytest

from accounts import jobs
from accounts.jobs import NAMES
from config.celery import BEAT, QUEUES, app


@pytest.fixture(scope="module", autouse=True)
def discovered() -> None:
    """Load every module with tasks, as a worker does."""
    app.loader.import_default_modules()


def test_every_job_name_has_a_handler() -> None:
    assert jobs.registered() == frozenset(NAMES)


def test_a_second_handler_of_a_name_is_refused() -> None:
    with pytest.raises(KeyError, match="already"):
        jobs.handler(next(iter(NAMES)))


def test_a_handler_of_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError, match="not in"):
        jobs.handler("memory.forget_everything")


def test_every_job_goes_to_a_queue_that_workers_read() -> None:
    assert set(NAMES.values()) <= set(QUEUES)
    assert {queue.name for queue in app.conf.task_queues} == set(QUEUES)


@pytest.mark.parametrize("row", BEAT.values(), ids=BEAT)
def test_every_row_of_the_clock_is_a_task_that_takes_its_arguments(row: dict[str, object]) -> None:
    task = app.tasks[row["task"]]

    signature(task.run).bind(**row["kwargs"])
    assert row["options"]["queue"] in QUEUES


def test_the_task_that_wakes_workers_exists() -> None:
    assert jobs.WAKE_TASK in app.tasks
