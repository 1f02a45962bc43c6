"""Every page of a project has the same counts in its main navigation: those of who looks (9.1)."""

import re

import pytest

from tests.tenancy.isolation import asking, matrix
from tests.tenancy.isolation.probes import Probe, filled, probes, sending
from tests.tenancy.isolation.world import World, canary

pytestmark = pytest.mark.django_db

SIDE = re.compile(r'<nav class="side".*?</nav>', re.DOTALL)
COUNTED = re.compile(
    r'<a\s+class="nav"\s+data-go="([im])"[^>]*>[^<]*<span class="n num">([\d,]+)</span>'
)
BOTH = re.compile(r"i[1-9]\d* m[1-9]\d*")
PROJECT = "p/<slug:project>/"
OPEN = canary("acme/open")
FEWEST = 40  # pages and forms of a project that answer with a whole page


def test_every_page_of_a_project_counts_its_memories_and_what_waits(world: World) -> None:
    asked = [ask for ask in matrix.asks() if PROJECT in ask.address]
    read, all_found = set[str](), dict[str, str]()

    for ask in asked:
        for probe in probes(world=world, ask=ask, asker=world.askers["owner"]):
            side = SIDE.search(_answer(probe)) if probe.parts["project"] == OPEN else None
            if side is not None:
                counts = " ".join("".join(one) for one in COUNTED.findall(side.group()))
                all_found[ask.name] = counts
                read |= {counts} if ask.method == "GET" else set()

    assert len(read) == 1, all_found
    assert [name for name, counts in all_found.items() if not BOTH.fullmatch(counts)] == []
    assert len(all_found) >= FEWEST


def _answer(probe: Probe) -> str:
    ask, parts = probe.ask, {**probe.parts, "row": ""}
    address = filled(text=ask.address, parts=parts)
    query = f"?{filled(text=ask.query, parts=parts)}" if ask.query else ""
    send = None if ask.send is None else sending(value=ask.send, parts=parts)
    return asking.ask(
        asker=probe.asker, method=ask.method, address=f"{address}{query}", send=send
    ).text
