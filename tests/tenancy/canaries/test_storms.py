"""Whoever stops waiting takes nothing along and leaves nothing behind for the next one."""

from collections.abc import Callable

import pytest

from tests.support.canary_site import CanarySite
from tests.support.goals import Scale

KINDS = 3  # of what is given up: cached values, requests, announcements


@pytest.mark.slow
@pytest.mark.goal(name="G2")
def test_answers_that_nobody_waits_for_reach_nobody_else(
    canaries: CanarySite, scale: Scale, figure: Callable[[str], None]
) -> None:
    each = scale.of(short=200, long=2_000)

    told = canaries.ask("storm", each)

    figure(f"{told['wrong']} of {told['reads']:,} wrong after {told['given_up']:,} were given up")
    assert told["examples"] == []
    assert told["wrong"] == 0
    assert told["given_up"] > KINDS * each // 3
    assert (told["lent_by_postgres"], told["lent_by_redis"]) == (0, 0)
