"""Behind a real PgBouncer in transaction pooling: nothing is wrong, and nothing is missing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.support import canary_site, pooler, servers, site
from tests.support.canary_site import CanarySite
from tests.support.goals import Scale

CONNECTIONS = 2  # to Postgres, for all processes together

pytestmark = [pytest.mark.pooler, pytest.mark.slow, pytest.mark.timeout(5_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """What three processes said after reading through PgBouncer, and its address."""

    url: str
    told: list[dict[str, Any]]

    def sum(self, name: str) -> int:
        """Add up one of the figures."""
        return sum(part[name] for part in self.told)


@pytest.fixture(scope="module")
def storm(
    canaries: CanarySite, scale: Scale, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Storm]:
    """Fifty coroutines, eight threads and two workers on two connections."""
    home = tmp_path_factory.mktemp("pooler")
    with pooler.in_front(home=home, of=canaries.told, size=CONNECTIONS) as told:
        behind = replace(canaries, told=told)
        reads = scale.of(short=600, long=11_000)
        yield Storm(url=told["DATABASE_URL"], told=behind.at_once(reads=reads))


@pytest.mark.goal(name="G2")
def test_no_read_through_the_pooler_is_wrong(
    storm: Storm, scale: Scale, figure: Callable[[str], None]
) -> None:
    reads, writes, wrong = (storm.sum(name) for name in ("reads", "writes", "wrong"))

    figure(f"{wrong} of {reads:,} reads wrong through PgBouncer, with {writes:,} writes")
    assert [part["examples"] for part in storm.told] == [[], [], []]
    assert wrong == 0
    assert reads >= scale.of(short=500, long=10_000)
    assert writes > 0


def test_all_processes_shared_few_connections(storm: Storm) -> None:
    assert 1 <= pooler.connections(pooled=storm.url) <= CONNECTIONS


def test_nothing_was_left_on_the_connections(storm: Storm) -> None:
    assert pooler.left_behind(pooled=storm.url, size=CONNECTIONS) == []


def test_database_is_migrated_and_filled_through_the_pooler(tmp_path: Path) -> None:
    servers.start()
    direct = canary_site.told(database_url=site.new_database("cairn_pooled"))

    with pooler.in_front(home=tmp_path, of=direct, size=1) as told:
        made = canary_site.made(home=tmp_path, told=told, organizations=2)
        seen = made.ask("work", 0, 45)
        left = pooler.left_behind(pooled=told["DATABASE_URL"], size=1)

    assert seen == {"reads": 43, "writes": 2, "wrong": 0, "examples": []}
    assert left == []
