"""A running server with an organization, one that only this process sees, and an agent's tools."""

import httpx
import pytest

from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import Organization, User
from tests.edges.audit import world
from tests.edges.audit.world import World
from tests.support import stored
from tests.support.live import Place
from tests.support.served import address, place

__all__ = ["address", "place"]


@pytest.fixture
def acme(caller: Caller, organization: Organization, member: User, clean_cache: None) -> World:
    """The world in which pages and calls write; what a test writes is taken back."""
    return world.made(caller=caller, organization=organization, member=member)


def tools_of(address: str, place: Place) -> httpx.Client:
    """Return a client that calls tools by MCP."""
    headers = {
        "Authorization": f"Bearer {place.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    return httpx.Client(base_url=address, headers=headers, timeout=30)


def rows_of(place: Place | World) -> dict[str, int]:
    """Return how many rows each table of an organization has."""
    with entered(place.caller):
        return stored.rows()
