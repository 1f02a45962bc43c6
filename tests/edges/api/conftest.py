"""A client of each organization, one that only reads, and a running server."""

from datetime import UTC, datetime

import pytest

from accounts.actions.tokens import NewToken, create_token
from accounts.caller import Caller, TokenScope
from tests.support.api import Api
from tests.support.served import address, place

__all__ = ["address", "place"]

ALL = frozenset(TokenScope)


def _token(caller: Caller, scopes: frozenset[TokenScope]) -> str:
    new = NewToken(name="laptop", scopes=scopes)
    return create_token(caller=caller, new=new, now=datetime.now(UTC)).text


@pytest.fixture
def api(caller: Caller, clean_cache: None) -> Api:
    """A client with a token of `organization`'s owner, and a project to write to."""
    client = Api(token=_token(caller, ALL))
    client.post("projects", {"slug": "shop", "name": "Shop"})
    return client


@pytest.fixture
def reading_api(api: Api, caller: Caller) -> Api:
    """A client of the same organization that may only read."""
    return Api(token=_token(caller, frozenset({TokenScope.READ})))


@pytest.fixture
def other_api(other_caller: Caller, clean_cache: None) -> Api:
    """A client of the other organization, with a project of the same name."""
    client = Api(token=_token(other_caller, ALL))
    client.post("projects", {"slug": "shop", "name": "Shop"})
    return client


@pytest.fixture
def member_api(api: Api, member_caller: Caller) -> Api:
    """A client of another person of the same organization."""
    return Api(token=_token(member_caller, frozenset({TokenScope.READ, TokenScope.WRITE})))
