"""A run that several processes share (`pytest -n 4 --dist loadgroup`): what stays together; order.

A file is done by one process, so that its servers are started once; those with a browser are one
group, because its library keeps an event loop running in the process. Long groups begin first.
"""

import os
from collections.abc import Generator, Iterable

import pytest

from tests.support.servers import PROCESS

LONG = ("slow", "goal")  # markers of tests that take more than a few seconds
BROWSER = "browser"


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Name each test's group before they are dealt out; put the groups with long tests in front."""
    if PROCESS not in os.environ:
        return (yield)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(name=_group(item)))
    yield
    long = {_group(item) for item in items if _has(item, LONG)}
    items.sort(key=lambda item: (_group(item) not in long, _group(item)))


def _group(item: pytest.Item) -> str:
    return BROWSER if _has(item, (BROWSER,)) else item.nodeid.partition("::")[0]


def _has(item: pytest.Item, markers: Iterable[str]) -> bool:
    return any(item.get_closest_marker(name) for name in markers)
