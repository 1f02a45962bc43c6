"""The lines to Redis and Postgres break in every way, and people get an answer in time.

A real web server is served over lines that tests break. Redis that hangs, refuses or stands still
delays a call at most by its timeout and takes nothing away but sign-in; a database that went away
is told as 503 with Retry-After, and is met again at once when it is back.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import pytest

from tests.support import servers, site
from tests.support.fault_proxy import HALF_OPEN, REFUSING, SOUND, Fault, FaultProxy
from tests.support.site import Site

DATABASE = "cairn_lines"
LONGEST_S = 5.0  # for any call while Redis is broken, on a busy machine; the timeouts are of 1 s
HEALED_S = 10.0
BROKEN_REDIS = {
    "half-open": HALF_OPEN,
    "stalled": Fault(stall_after=150),
    "refusing": REFUSING,
    "slow": Fault(delay_ms=30, jitter_ms=20),
    "throttled": Fault(bytes_per_second=20_000),
}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


POSTGRES_SOCKET = ".s.PGSQL.5432"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The two lines, and the addresses a program is told to use them."""

    postgres: FaultProxy
    redis: FaultProxy
    database_url: str
    redis_url: str

    def mend(self) -> None:
        """Make both sound again."""
        self.postgres.set(SOUND)
        self.redis.set(SOUND)


@contextmanager
def breakable_lines(*, database: str) -> Iterator[Lines]:
    """Put a line before each server of the run; `database` is the one behind the first."""
    servers.start()
    address, store = urlsplit(os.environ["DATABASE_URL"]), urlsplit(os.environ["REDIS_URL"])
    folder = Path(unquote(address.netloc.rpartition("@")[2]))
    with (
        FaultProxy(target=folder / POSTGRES_SOCKET) as postgres,
        FaultProxy(target=Path(store.path)) as redis,
    ):
        yield Lines(
            postgres=postgres,
            redis=redis,
            database_url=f"postgresql://{address.username}@127.0.0.1:{postgres.port}/{database}",
            redis_url=f"redis://127.0.0.1:{redis.port}/0",
        )


@pytest.fixture(scope="module")
def broken() -> Iterator[Lines]:
    """The lines."""
    with breakable_lines(database=DATABASE) as running:
        yield running


@pytest.fixture(scope="module")
def lined_site(broken: Lines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site whose web server uses them."""
    log: Path = tmp_path_factory.mktemp("lines") / "site.log"
    over = {"DATABASE_URL": broken.database_url, "REDIS_URL": broken.redis_url}
    with site.running(log=log, database=DATABASE, over=over) as started:
        yield started


@pytest.fixture
def line(broken: Lines) -> Iterator[Lines]:
    """The lines, sound before and after."""
    broken.mend()
    yield broken
    broken.mend()


@pytest.fixture
def client(lined_site: Site) -> Iterator[httpx.Client]:
    """An agent."""
    headers = {"Authorization": f"Bearer {lined_site.token}"}
    base = f"{lined_site.url}/api/v1/"
    with httpx.Client(base_url=base, headers=headers, timeout=60) as opened:
        assert search(opened).status_code == 200
        yield opened


def search(client: httpx.Client) -> httpx.Response:
    return client.post("search", json={"query": "what do we know about redis"})


def write(client: httpx.Client, word: str) -> httpx.Response:
    content = f"The {word} valve is closed before the pump starts, because of its pressure."
    return client.post("memories", json={"content": content, "project": "storefront"})


def took_s(call: Callable[[], httpx.Response], *, status: int) -> float:
    """Call, check the status, return the seconds it took."""
    began = time.monotonic()
    assert call().status_code == status
    return time.monotonic() - began


@pytest.mark.parametrize("name", BROKEN_REDIS)
def test_reads_and_writes_work_while_redis_is_broken(
    name: str, line: Lines, client: httpx.Client
) -> None:
    line.redis.set(BROKEN_REDIS[name])
    line.redis.reset()

    seconds = [
        took_s(lambda: search(client), status=200),
        took_s(lambda: write(client, f"{name} first"), status=201),
        took_s(lambda: write(client, f"{name} second"), status=201),
        took_s(lambda: client.get("memories", params={"limit": 5}), status=200),
    ]

    assert max(seconds) < LONGEST_S


def test_a_hanging_redis_refuses_sign_in_and_readiness_says_so_in_time(
    line: Lines, lined_site: Site
) -> None:
    with httpx.Client(base_url=lined_site.url, timeout=60) as person:
        person.get("/login/")
        form = {
            "login": lined_site.email,
            "password": "wrong",
            "csrfmiddlewaretoken": person.cookies["cairn-csrf"],
        }
        line.redis.set(HALF_OPEN)

        answer = person.post("/login/", data=form)
        ready_s = took_s(lambda: person.get("/health/ready"), status=200)

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert ready_s < LONGEST_S


def test_connections_reset_while_idle_are_not_met_again(line: Lines, client: httpx.Client) -> None:
    assert line.postgres.reset() > 0

    statuses = [search(client).status_code for _ in range(10)]

    assert statuses == [200] * 10


def test_a_database_that_is_away_is_told_and_met_again_when_it_is_back(
    line: Lines, client: httpx.Client
) -> None:
    line.postgres.set(REFUSING)
    line.postgres.reset()
    refused = write(client, "refused")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")

    line.postgres.set(SOUND)
    back_at = time.monotonic()
    while search(client).status_code != 200:
        assert time.monotonic() - back_at < HEALED_S

    assert [search(client).status_code for _ in range(10)] == [200] * 10


def test_a_database_that_hangs_is_given_up_in_bounded_time(
    line: Lines, client: httpx.Client
) -> None:
    line.postgres.set(HALF_OPEN)

    answer = search(client)

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    line.postgres.set(SOUND)
    assert search(client).status_code == 200


def test_a_slow_database_is_slow_and_right(line: Lines, client: httpx.Client) -> None:
    line.postgres.set(Fault(delay_ms=20, jitter_ms=10))

    assert search(client).status_code == 200
    assert write(client, "slow database").status_code == 201
