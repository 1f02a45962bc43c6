"""Processes are killed at random moments, and nothing acknowledged is lost (spec 2.5, 10.5).

Real servers, a real worker with its clock, a writer in a process of its own. The worker's group,
the store (which starts again empty) and the database are ended with SIGKILL while memories are
written and embedded. In the end every acknowledged memory has its row and its vector and is found,
nothing was stored twice, and every job has ended.
"""

import json
from pathlib import Path
from random import Random

import pytest

from tests.support.crashing import Installation, await_that, installation

MEMORIES = 200
KILLS = ("worker", "redis", "worker", "postgres", "worker", "redis", "postgres", "worker", "beat")
SEED = 20_261_120
SETTLE_SECONDS = 240  # a lease, a sweep, and the work itself on a slow machine
MOST_DONE_BETWEEN = 12  # jobs that end between two kills


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    chance = Random(SEED)
    moments = sorted(chance.sample(range(20, MEMORIES), len(KILLS)))
    plan = dict(zip(moments, KILLS, strict=True))

    with installation(home=tmp_path) as site:
        acknowledged = []
        for number, line in enumerate(site.written(MEMORIES)):
            acknowledged.append(line)
            if number in plan:
                await_some_done(site, chance.randint(1, MOST_DONE_BETWEEN))
                site.kill_and_start(plan[number])
        await_that(lambda: not open_jobs(site), seconds=SETTLE_SECONDS)
        states = site.job_states()
        lacks = json.loads(site.ask("missing", given="".join(acknowledged)))

    assert len(acknowledged) == MEMORIES
    assert lacks == {"rows": 0, "vectors": 0, "found": 0, "unasked": 0}
    assert set(states) == {"done"}
    assert states["done"] >= MEMORIES


def open_jobs(site: Installation) -> int:
    """Count the jobs that have not ended."""
    states = site.job_states()
    return states.get("queued", 0) + states.get("running", 0)


def await_some_done(site: Installation, more: int) -> None:
    """Wait until the workers have ended some more jobs, or have nearly none to begin."""
    wanted = site.job_states().get("done", 0) + more

    def is_enough() -> bool:
        states = site.job_states()
        return states.get("done", 0) >= wanted or states.get("queued", 0) <= 1

    await_that(is_enough)
