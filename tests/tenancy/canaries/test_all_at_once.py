"""Coroutines, threads and worker processes at once over twenty organizations: no read is wrong."""

from collections.abc import Callable

import pytest

from tests.support.canary_site import CanarySite
from tests.support.goals import Scale

IN_ORDER = {"undone": 0, "gone": 0, "without_vector": 0}

pytestmark = [pytest.mark.goal(name="G2"), pytest.mark.slow, pytest.mark.timeout(5_000)]


def test_no_read_of_anything_at_once_is_wrong(
    canaries: CanarySite, scale: Scale, figure: Callable[[str], None]
) -> None:
    told = canaries.at_once(reads=scale.of(short=2_400, long=103_000))

    reads, wrong = (sum(part[name] for part in told) for name in ("reads", "wrong"))
    figure(f"{wrong} of {reads:,} reads wrong, from 50 coroutines, 8 threads and 2 workers")
    assert [part["examples"] for part in told] == [[], [], []]
    assert wrong == 0
    assert reads >= scale.of(short=2_000, long=100_000)


def test_every_job_found_what_its_own_organization_holds(canaries: CanarySite) -> None:
    left = canaries.ask("check")

    assert left.pop("jobs") > 0
    assert left == IN_ORDER
