"""One seeded site for all journeys of a run, and ways to talk to it."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support import site
from tests.support.crashing import Installation, installation
from tests.support.site import Site


@pytest.fixture(scope="session")
def running_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site."""
    log: Path = tmp_path_factory.mktemp("site") / "site.log"
    with site.running(log=log) as started:
        yield started


@pytest.fixture(scope="session")
def crash_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """An installation of its own, whose processes tests kill and start again."""
    with installation(home=tmp_path_factory.mktemp("crash")) as running:
        yield running


@pytest.fixture
def agent(running_site: Site) -> Iterator[httpx.Client]:
    """An agent that calls the REST interface with the owner's token."""
    headers = {"Authorization": f"Bearer {running_site.token}", "User-Agent": "claude-code/2.1"}
    with httpx.Client(base_url=f"{running_site.url}/api/v1/", headers=headers) as client:
        yield client
