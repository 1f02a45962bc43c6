"""A client of each organization, one that only reads, and a running server."""

import pytest

from accounts.caller import Caller, TokenScope
from tests.support.api import Api, agent
from tests.support.served import address, place

__all__ = ["address", "place"]


def _with_shop(caller: Caller) -> Api:
    client = agent(caller, frozenset(TokenScope) - {TokenScope.REVIEW})
    client.post("projects", {"slug": "shop", "name": "Shop"})
    return client


@pytest.fixture
def api(caller: Caller, clean_cache: None) -> Api:
    """A client with a token of `organization`'s owner, and a project to write to."""
    return _with_shop(caller)


@pytest.fixture
def reading_api(api: Api, caller: Caller) -> Api:
    """A client of the same organization that may only read."""
    return agent(caller, frozenset({TokenScope.READ}))


@pytest.fixture
def other_api(other_caller: Caller, clean_cache: None) -> Api:
    """A client of the other organization, with a project of the same name."""
    return _with_shop(other_caller)


@pytest.fixture
def member_api(api: Api, member_caller: Caller) -> Api:
    """A client of another person of the same organization."""
    return agent(member_caller)
