"""Processes are killed at random moments, and nothing acknowledged is lost.

Real servers, a real worker with its clock, a writer in a process of its own. The worker's group,
the store (which starts again empty) and the database are ended with SIGKILL while memories are
written and embedded. In the end every acknowledged memory has its row and its vector and is found,
nothing was stored twice, and every job has ended.
"""

import json
from random import Random

import pytest

from tests.support.crashing import ORGANIZATION, Installation, await_that

MEMORIES = 200
KILLS = ("worker", "redis", "worker", "postgres", "worker", "redis", "postgres", "worker", "beat")
SEED = 20_261_120
SETTLE_SECONDS = 240  # a lease, a sweep, and the work itself on a slow machine
MOST_DONE_BETWEEN = 12  # jobs that end between two kills


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_acknowledged_is_lost(crash_site: Installation) -> None:
    chance = Random(SEED)
    moments = sorted(chance.sample(range(20, MEMORIES), len(KILLS)))
    plan = dict(zip(moments, KILLS, strict=True))

    site, acknowledged = crash_site, []
    for number, line in enumerate(site.written(MEMORIES)):
        acknowledged.append(line)
        if number in plan:
            await_some_done(site, chance.randint(1, MOST_DONE_BETWEEN))
            site.kill_and_start(plan[number])
    await_that(lambda: not site.open_jobs(ORGANIZATION), seconds=SETTLE_SECONDS)
    states = site.job_states(ORGANIZATION)
    lacks = json.loads(site.ask("missing", ORGANIZATION, given="".join(acknowledged)))

    assert len(acknowledged) == MEMORIES
    assert lacks == {"rows": 0, "vectors": 0, "found": 0, "unasked": 0, "twice": 0}
    assert set(states) <= {"done", "cancelled"}  # cancelled: another job does the same
    assert states["done"] >= MEMORIES


def await_some_done(site: Installation, more: int) -> None:
    """Wait until the workers have ended some more jobs, or have nearly none to begin."""
    wanted = site.job_states(ORGANIZATION).get("done", 0) + more

    def is_enough() -> bool:
        states = site.job_states(ORGANIZATION)
        return states.get("done", 0) >= wanted or states.get("queued", 0) <= 1

    await_that(is_enough)
