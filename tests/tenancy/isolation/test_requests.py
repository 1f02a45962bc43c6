"""Pages, calls and the operators' site, asked by every role about everything there is."""

from collections.abc import Callable, Iterator
from zlib import crc32

import pytest

from tests.support.goals import Scale
from tests.tenancy.isolation import matrix
from tests.tenancy.isolation.carriers import smuggled
from tests.tenancy.isolation.judging import Judge
from tests.tenancy.isolation.probes import Probe, probes
from tests.tenancy.isolation.world import ROLES, World

pytestmark = pytest.mark.django_db

MOST_SHOWN = 40  # faults


@pytest.mark.goal(name="G1")
def test_nobody_learns_of_what_is_not_theirs(
    world: World, scale: Scale, figure: Callable[[str], None]
) -> None:
    judge = Judge(world=world, policies=matrix.policies())
    every = scale.of(short=24, long=1)

    faults = [fault for probe in _some(world, every) for fault in judge.faults(probe)]

    assert not faults, "\n".join(faults[:MOST_SHOWN])
    figure(f"{len(faults)} of {judge.sent:,} requests told of anything hidden")


@pytest.mark.goal(name="G1")
def test_naming_what_is_hidden_is_naming_nothing(
    world: World, scale: Scale, figure: Callable[[str], None]
) -> None:
    judge = Judge(world=world, policies={})
    every = scale.of(short=40, long=1)

    faults = [
        fault
        for asker in world.askers.values()
        for probe in smuggled(world=world, asker=asker)
        if _is_chosen(probe, every)
        for fault in judge.faults(probe)
    ]

    assert not faults, "\n".join(faults[:MOST_SHOWN])
    figure(f"{len(faults)} of {judge.sent:,} requests that name something hidden told of it")


def _is_chosen(probe: Probe, every: int) -> bool:
    """Choose one probe of so many, spread over requests, roles and things by a hash."""
    name = f"{probe.ask} {probe.asker.name} {probe.thing.label} {probe.reach}"
    return crc32(name.encode()) % every == 0


def _some(world: World, every: int) -> Iterator[Probe]:
    for ask in matrix.asks():
        for role in ROLES:
            for probe in probes(world=world, ask=ask, asker=world.askers[role]):
                if _is_chosen(probe, every):
                    yield probe
