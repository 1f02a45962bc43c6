"""Processes are killed at named moments while strangers write over HTTP.

One installation for all: durable servers, a real web server, worker and beat. A client outside of
it keeps every acknowledged id in a synced file. Web, worker, beat, Redis (which starts again empty)
and Postgres are ended with SIGKILL, web and worker also at the moments that matter most. Then
everything acknowledged is there, embedded and found, nothing is there twice, and no job is left.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from tests.support import load
from tests.support.crashing import JOBS_OF, MOMENTS_OF, Installation, await_that
from tests.support.goals import Scale

ORGANIZATION = "fire"
SEED = 20_261_122
SHORT = ("inside", "retrying", "committed")  # the moments of the short form
SETTLE_S = 300  # a lease, a sweep, and the work itself on a busy machine
MOMENT_S = 60  # until a process comes to a moment; then it is killed wherever it is
TOO_LATE = "UPDATE accounts_job SET lease_until = now() - interval '1 s' WHERE state = 'running'"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(5_400)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """The installation after a fire: who wrote, over how many kills, and what was acknowledged."""

    site: Installation
    writing: load.Load
    kills: int
    journal: Path


@pytest.fixture(scope="module")
def fire(crash_site: Installation, scale: Scale, tmp_path_factory: pytest.TempPathFactory) -> Fire:
    """One fire for both figures: so many memories are written while processes are killed."""
    if "web" not in crash_site.running:
        crash_site.start("web")
    steps, journal = plan(scale, Random(SEED)), tmp_path_factory.mktemp("fire") / "ids.jsonl"
    wanted = scale.of(short=150, long=10_000)
    writing = written_under_fire(crash_site, wanted=wanted, steps=steps, journal=journal)
    return Fire(site=crash_site, writing=writing, kills=len(steps), journal=journal)


def plan(scale: Scale, chance: Random) -> list[tuple[str, str]]:
    """Return whom to kill, and at which moment; ten of each in the long form, one in the short."""
    times = scale.of(short=1, long=10)
    steps = [
        (name, moment)
        for name, own in MOMENTS_OF.items()
        for moment in own
        if scale.is_long or moment in SHORT
    ]
    steps += [(name, "") for name in ("beat", "redis", "postgres") for _ in range(times)]
    steps += [("worker", "")] * (times // 2) + [("web", "")] * (8 * times // 10)
    chance.shuffle(steps)
    return steps


def strike(site: Installation, name: str, moment: str) -> None:
    """Kill a process, at a moment if one is named, and start it again."""
    if moment == "retrying":
        strike(site, name, "claimed")
    if moment:
        site.arm(moment)
        await_moment(site, moment)
        site.disarm()
    site.kill_and_start(name)
    if name == "worker":
        site.change(TOO_LATE)


def await_moment(site: Installation, moment: str) -> None:
    """Wait until a process stands still at a moment, or the time for it is over."""
    try:
        await_that(lambda: site.is_reached(moment), seconds=MOMENT_S)
    except TimeoutError:
        site.missed.append(moment)


def written_under_fire(
    site: Installation, *, wanted: int, steps: list[tuple[str, str]], journal: Path
) -> load.Load:
    """Write so many memories while processes are killed; return what was acknowledged."""
    token, url = site.ask("found", ORGANIZATION), site.given["CAIRN_BASE_URL"]
    with load.running(url=url, token=token, journal=journal) as writing:
        for number, (name, moment) in enumerate(steps):
            writing.wait(number=wanted * number // (len(steps) + 1), seconds=SETTLE_S)
            strike(site, name, moment)
        writing.wait(number=wanted, seconds=SETTLE_S)
    await_that(lambda: not site.open_jobs(ORGANIZATION), seconds=SETTLE_S)
    return writing


@pytest.mark.goal(name="G4")
def test_nothing_acknowledged_is_lost_whoever_is_killed(
    fire: Fire, figure: Callable[[str], None]
) -> None:
    lacks = json.loads(fire.site.ask("missing", ORGANIZATION, given=fire.journal.read_text()))

    figure(f"{lacks['rows']} of {fire.writing.done:,} acknowledged lost over {fire.kills} kill -9")
    assert fire.writing.faults == []
    assert lacks == {"rows": 0, "vectors": 0, "found": 0, "unasked": 0, "twice": 0}


@pytest.mark.goal(name="G5")
def test_no_job_is_left_open_or_claimed_too_often(
    fire: Fire, figure: Callable[[str], None]
) -> None:
    left, states = fire.site.open_jobs(ORGANIZATION), fire.site.job_states(ORGANIZATION)
    [(jobs, most)] = fire.site.read(f"SELECT count(*), max(attempts) {JOBS_OF}", ORGANIZATION)

    figure(f"{left} of {jobs:,} jobs left open, at most {most} claims")
    assert set(states) <= {"done", "cancelled"}
    assert most <= 3
