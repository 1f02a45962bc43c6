"""Start the servers that are not given by DATABASE_URL and REDIS_URL, and await them (10.1)."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from config.embedded import launch, postgres, servers, valkey
from config.embedded.console import Console
from config.embedded.group import Group
from config.embedded.postgres import Durability
from config.embedded.process import After, Process
from config.embedded.setup import Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """What starting anything needs: who looks after it, and where to say so."""

    group: Group
    console: Console

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Print a step's begin, and at its end how long it took."""
        began = time.monotonic()
        self.console.begun(step=title)
        yield
        self.console.done(step=title, seconds=time.monotonic() - began)

    def keep_running(
        self, *, program: launch.Program, is_ready: Callable[[], bool] | None, after: After
    ) -> Process:
        """Start a program and look after it from now on."""
        child = Process(program=program, after=after, is_ready=is_ready, console=self.console)
        self.group.add(child)
        return child


def start_servers(
    *, starter: Starter, setup: Setup, environment: Mapping[str, str], durability: Durability
) -> Setup:
    """Start what is not given; return the setup with both addresses.

    Raises StartError when a server cannot be started.
    """
    served = (
        setup if setup.database_url else _with_postgres(starter, setup, environment, durability)
    )
    return served if setup.redis_url else _with_valkey(starter, served, environment)


def _with_postgres(
    starter: Starter, setup: Setup, environment: Mapping[str, str], durability: Durability
) -> Setup:
    with starter.step("database server"):
        cluster = servers.prepare_postgres(
            home=setup.home, environment=environment, durability=durability
        )
        child = starter.keep_running(
            program=postgres.program(cluster=cluster, environment=environment),
            is_ready=lambda: postgres.is_ready(cluster=cluster),
            after=After.RESTART,
        )
        starter.group.await_ready(child)
        postgres.create_database(cluster=cluster)
    return replace(setup, database_url=cluster.url, database_owner_url=cluster.owner_url)


def _with_valkey(starter: Starter, setup: Setup, environment: Mapping[str, str]) -> Setup:
    with starter.step("queue server"):
        store = servers.prepare_store(home=setup.home, environment=environment)
        child = starter.keep_running(
            program=valkey.program(store=store, environment=environment),
            is_ready=lambda: valkey.is_ready(store=store),
            after=After.RESTART,
        )
        starter.group.await_ready(child)
    return replace(setup, redis_url=store.url)
