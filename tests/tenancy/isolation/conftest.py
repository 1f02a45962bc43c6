"""The world of the suite, built once and kept for all probes."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django.plugin import DjangoDbBlocker

from tests.tenancy.isolation.world import World, built


@pytest.fixture(scope="package")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """Two organizations, everybody in and around them, and an empty cache."""
    with django_db_blocker.unblock(), built() as world:
        cache.clear()
        yield world
        cache.clear()
