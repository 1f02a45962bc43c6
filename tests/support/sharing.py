"""A run that several processes share (`pytest -n 4 --dist loadfile`): in which order it is done.

A file is done by one process, so that its servers are started once. Files with long tests begin
first: one that began last would be waited for by all.
"""

import os
from collections.abc import Iterable

import pytest

from tests.support import programs
from tests.support.servers import PROCESS

LONG = ("slow", "goal")  # markers of tests that take more than a few seconds


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a missing program; bring the files with long tests to the front."""
    programs.leave_out(config=config, items=items)
    if PROCESS not in os.environ:
        return
    long = {_file(item) for item in items if _has(item, LONG)}
    items.sort(key=lambda item: (_file(item) not in long, _file(item)))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _has(item: pytest.Item, markers: Iterable[str]) -> bool:
    return any(item.get_closest_marker(name) for name in markers)
