"""One database with canaries for all tests here, with and without a pooler in front."""

import pytest

from tests.support import canary_site, servers, site
from tests.support.canary_site import CanarySite

DATABASE = "cairn_canaries"
ORGANIZATIONS = 20


@pytest.fixture(scope="session")
def canaries(tmp_path_factory: pytest.TempPathFactory) -> CanarySite:
    """The organizations."""
    servers.start()
    told = canary_site.told(database_url=site.new_database(DATABASE))
    home = tmp_path_factory.mktemp("canaries")
    return canary_site.made(home=home, told=told, organizations=ORGANIZATIONS)
