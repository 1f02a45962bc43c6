"""Runs collected tests once for each mutant, each time in a fork of one process that is set up.

A pytest plugin of its own run (`-p tests.tenancy.mutations.plugin`): the product is loaded, the
test modules are collected and the database is made once. Then for each mutant a child switches the
guard off, runs the tests that must notice until one fails, and says which.
"""

import json
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from psycopg.conninfo import make_conninfo

from tests.tenancy.mutations import switching
from tests.tenancy.mutations.switching import MUTANTS, SAMPLE, Mutant, WrongMutant

UNCHANGED = "unchanged"
TENANCY = "tests/tenancy/"
GENERATED = f"{TENANCY}isolation/"
_FAILED_PARTS = set[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take where to write what became of each mutant, and whether all of isolation is run."""
    parser.addoption("--told-to", type=Path)
    parser.addoption("--whole", action="store_true")


class _Between:
    """Stands for the next test: what belongs to the whole run stays set up."""

    def __init__(self, session: pytest.Session) -> None:
        self.chain = [session]

    def listchain(self) -> list[Any]:
        return self.chain


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run the tests unchanged, then for each mutant; write which test failed, if one did."""
    from tests.support import prepared  # noqa: PLC0415  # needs Django, set up after this plugin

    items = session.items
    with_database = next(item for item in items if "db" in item.fixturenames)
    _first_failed(session, [with_database])
    _let_go()
    with prepared.none():  # a schema made before a guard is switched off would keep it
        told = _all_told(session, items)
    session.config.option.told_to.write_text(json.dumps(told, indent=1))
    return True


def _all_told(session: pytest.Session, items: Sequence[pytest.Item]) -> dict[str, str]:
    """Return which test failed by what was switched off."""
    told = {UNCHANGED: _in_child(session, items, None)}
    for mutant in MUTANTS if session.config.option.whole else SAMPLE:
        chosen = _named(items, mutant)
        if session.config.option.whole:
            chosen = [*_of_tenancy(items), *chosen]
        told[mutant.name] = _in_child(session, chosen, mutant)
    return told


def _named(items: Sequence[pytest.Item], mutant: Mutant) -> list[pytest.Item]:
    chosen = [item for item in items if item.nodeid.startswith(mutant.tests)]
    if not chosen:
        raise pytest.UsageError(f"No test of {mutant.name} exists: {mutant.tests}")
    return chosen


def _of_tenancy(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return all tests of isolation, the generated ones, which take longest, last."""
    chosen = [item for item in items if item.nodeid.startswith(TENANCY)]
    return sorted(chosen, key=lambda item: item.nodeid.startswith(GENERATED))


def _in_child(session: pytest.Session, items: Sequence[pytest.Item], mutant: Mutant | None) -> str:
    """Return the first test that fails in a fork with a guard switched off, empty without one."""
    with _database_of(mutant):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _be_child(session, items, mutant, writing)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
    return said if status == 0 else f"the run itself broke: {said or status}"


def _database_of(mutant: Mutant | None) -> AbstractContextManager[None]:
    if mutant is None or not switching.is_of_database(mutant):
        return nullcontext()
    return switching.switched_database(owner_url=_owner_url(), mutant=mutant)


def _be_child(
    session: pytest.Session, items: Sequence[pytest.Item], mutant: Mutant | None, writing: int
) -> None:
    status = 1
    cache.clear()  # of the tries that other children have counted
    try:
        if mutant is not None and not switching.is_of_database(mutant):
            switching.switch_code(mutant)
        os.write(writing, _first_failed(session, items).encode())
        status = 0
    except WrongMutant as error:
        os.write(writing, str(error).encode())
    finally:
        os._exit(status)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a failed part of a test, which does not fail the report of the whole test."""
    if report.failed:
        _FAILED_PARTS.add(report.nodeid)


def _first_failed(session: pytest.Session, items: Sequence[pytest.Item]) -> str:
    following: list[Any] = [*items[1:], _Between(session)]
    for item, after in zip(items, following, strict=True):
        reports = runtestprotocol(item, log=False, nextitem=after)
        if any(report.failed for report in reports) or item.nodeid in _FAILED_PARTS:
            return item.nodeid
    return ""


def _let_go() -> None:
    """Leave no connection and no thread behind that a fork would inherit."""
    postgres: Any = connection
    postgres.close()
    postgres.close_pool()


def _owner_url() -> str:
    """Return how the owner of the tables reaches the test database."""
    known = {**connection.settings_dict, **(settings.DATABASE_OWNER or {})}
    parts = {"user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    given = {name: known[key] for name, key in parts.items() if known.get(key)}
    return make_conninfo(dbname=connection.settings_dict["NAME"], **given)
