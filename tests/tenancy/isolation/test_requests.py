"""Pages, calls and the operators' site, asked by every role about everything there is."""

import re
from collections.abc import Callable, Iterator
from zlib import crc32

import pytest

from tests.support.goals import Scale
from tests.tenancy.isolation.probes import Judge, Probe, answer, asks, policies, probes, smuggled
from tests.tenancy.isolation.world import ROLES, World, canary

pytestmark = pytest.mark.django_db

MOST_SHOWN = 40  # faults
SIDE = re.compile(r'<nav class="side".*?</nav>', re.DOTALL)
COUNTED = re.compile(
    r'<a\s+class="nav"\s+data-go="([im])"[^>]*>[^<]*<span class="n num">([\d,]+)</span>'
)
BOTH = re.compile(r"i[1-9]\d* m[1-9]\d*")
PROJECT = "p/<slug:project>/"
OPEN = canary("acme/open")
FEWEST = 40  # pages and forms of a project that answer with a whole page


@pytest.mark.goal(name="G1")
def test_nobody_learns_of_what_is_not_theirs(
    world: World, scale: Scale, figure: Callable[[str], None]
) -> None:
    judge = Judge(world=world, policies=policies())
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
    for ask in asks():
        for role in ROLES:
            for probe in probes(world=world, ask=ask, asker=world.askers[role]):
                if _is_chosen(probe, every):
                    yield probe


def test_every_page_of_a_project_counts_its_memories_and_what_waits(world: World) -> None:
    asked = [ask for ask in asks() if PROJECT in ask.address]
    read, all_found = set[str](), dict[str, str]()

    for ask in asked:
        every = probes(world=world, ask=ask, asker=world.askers["owner"])
        probe = next((one for one in every if one.parts["project"] == OPEN), None)
        text = "" if probe is None else answer(probe=probe, parts=probe.parts)[1]
        side = SIDE.search(text)
        if side is not None:
            counts = " ".join("".join(one) for one in COUNTED.findall(side.group()))
            all_found[ask.name] = counts
            read |= {counts} if ask.method == "GET" else set()

    assert len(read) == 1, all_found
    assert [name for name, counts in all_found.items() if not BOTH.fullmatch(counts)] == []
    assert len(all_found) >= FEWEST
