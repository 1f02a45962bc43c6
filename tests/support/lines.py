"""Breakable lines to the database and the store of a test run."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.support import servers
from tests.support.fault_proxy import SOUND, FaultProxy

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
def running(*, database: str) -> Iterator[Lines]:
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
