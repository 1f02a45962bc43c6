"""An embedding model is switched while workers are killed and somebody searches (G12).

Real servers and workers, which are ended with SIGKILL inside a batch, at the start of a part, and
while they hold the memories for the cut-over. Both models have vectors of one length, so only
what the product takes care of keeps them apart: the cosine of a memory and its own words is high,
across the two it would be near 0.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from tests.support.crashing import Installation, await_that
from tests.support.goals import Scale

ORGANIZATION = "switch"
WORDS, TURNED = "hashing/words-384", "hashing/turned-384"
MOMENTS = ("inside", "cutting", "claimed")
SETTLE_S = 240
TOO_LATE = "UPDATE accounts_job SET lease_until = now() - interval '1 s' WHERE state = 'running'"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800)]


@pytest.fixture
def workers(crash_site: Installation, scale: Scale) -> Iterator[str]:
    """Who does the jobs: the product's worker, in the short form one that begins sooner."""
    if scale.is_long:
        yield "worker"
        return
    crash_site.kill("worker")
    crash_site.start("hands")
    yield "hands"
    crash_site.kill("hands")
    crash_site.start("worker")


def kill_at(site: Installation, *, workers: str, moments: tuple[str, ...]) -> None:
    """Kill workers at moments, the first of which is armed; return when no job is left."""
    for number, moment in enumerate(moments):
        await_that(partial(site.is_reached, moment), seconds=SETTLE_S)
        for later in moments[number + 1 : number + 2]:
            site.arm(later)
        site.kill_and_start(workers)
        site.change(TOO_LATE)
    await_that(lambda: not site.open_jobs(ORGANIZATION), seconds=SETTLE_S)


def switched(site: Installation, workers: str, scale: Scale) -> dict[str, Any]:
    """Switch once, in the long form to and fro; return what was seen meanwhile and in the end."""
    moments, count = MOMENTS[: scale.of(short=2, long=3)], str(scale.of(short=200, long=5_000))
    rounds = ((TURNED, WORDS), (WORDS, TURNED)) * 2 if scale.is_long else ((TURNED, WORDS),)
    site.ask("prepare", ORGANIZATION, count)
    with site.beside("recall", ORGANIZATION, count) as searching:
        for to, before in rounds:
            site.arm(moments[0])
            searching.say(f"switch --to {to}")
            kill_at(site, workers=workers, moments=moments)
            if scale.is_long:
                searching.say(f"drop --model {before}")
    await_that(lambda: not site.open_jobs(ORGANIZATION), seconds=SETTLE_S)  # of its last memory
    seen = json.loads(searching.printed) | json.loads(site.ask("vectors", ORGANIZATION))
    return {"kills": len(rounds) * len(moments), "to": to, **seen}


@pytest.mark.goal(name="G12")
def test_a_switch_under_fire_embeds_everything_and_compares_nothing_across(
    crash_site: Installation, workers: str, scale: Scale, figure: Callable[[str], None]
) -> None:
    told = switched(crash_site, workers, scale)

    figure(
        f"{told['lacking']} of {told['memories']:,} not embedded; of {told['asked']:,} searches "
        f"{told['crossed']} compared across models, {told['lost']} found nothing, "
        f"{told['degraded']} were degraded; {told['kills']} kill -9"
    )
    assert (told["active"], told["lacking"], told["false"]) == (told["to"], 0, 0)
    assert (told["crossed"], told["lost"], told["degraded"]) == (0, 0, 0)
