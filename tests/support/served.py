"""Fixtures of tests that ask a running server from outside: it, and two organizations on it."""

from collections.abc import Iterator

import pytest

from tests.support.live import Place, committed, running


@pytest.fixture(scope="module")
def address(django_db_setup: None) -> Iterator[str]:
    """The server's address."""
    with running() as address:
        yield address


@pytest.fixture(scope="module")
def place(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[Place]:
    """The organization of who calls."""
    with django_db_blocker.unblock(), committed(slug="acme") as place:
        yield place


@pytest.fixture(scope="module")
def other_place(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[Place]:
    """Somebody else's organization."""
    with django_db_blocker.unblock(), committed(slug="globex") as place:
        yield place
