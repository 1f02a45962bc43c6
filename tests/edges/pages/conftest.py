"""People in front of pages: an owner, a viewer, nobody, and a stranger; one project, one memory."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.models import Organization, User
from memory.records.queries.views import MemoryView
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictView
from teams.actions import create_project
from tests.edges.audit.world import acme
from tests.edges.pages.session_pages import Pages
from tests.support import people
from tests.support.memories import sent, stored

__all__ = ["acme"]

STATEMENT = "Token refresh fails silently when Redis is unreachable; catch ECONNREFUSED."
RETRIES = "The checkout worker in `shop/checkout.py` retries a payment {} times before it gives up."
HTMX = {"HTTP_HX_REQUEST": "true"}


def remembered(caller: Caller, content: str = STATEMENT, **fields: object) -> MemoryView:
    """Remember something as this caller, now; in the project `shop` unless said otherwise."""
    with entered(caller):
        return stored(caller, datetime.now(UTC), content, **{"project": "shop", **fields})


@pytest.fixture
def shop(caller: Caller, clean_cache: None) -> str:
    """The address of the project `shop`."""
    with entered(caller):
        create_project(caller=caller, slug="shop", name="Shop", now=datetime.now(UTC))
    return "/o/acme/p/shop/"


@pytest.fixture
def memory(shop: str, caller: Caller) -> MemoryView:
    """A memory of the project."""
    return remembered(caller, type="gotcha", related_files=("middleware/auth.ts",), tags=("auth",))


@pytest.fixture
def viewer(organization: Organization) -> User:
    """Someone who only reads."""
    email = "viewer@acme.test"
    return people.make_person(organization=organization, email=email, role=Role.VIEWER)


def contradicting(caller: Caller, **given: str) -> ConflictView:
    """Store two memories that contradict each other, the newer one as `given`."""
    now = datetime.now(UTC)
    with entered(caller):
        sent(caller, now, RETRIES.format(3), project="shop")
        found = sent(caller, now, RETRIES.format(5), project="shop", **given).conflict_id
        assert found is not None
        return conflicts.get_conflict(caller=caller, conflict_id=found, now=now)


def looked_at(caller: Caller, one: ConflictView) -> ConflictView:
    """Return a conflict as it is now."""
    with entered(caller):
        return conflicts.get_conflict(caller=caller, conflict_id=one.id, now=datetime.now(UTC))


@pytest.fixture
def pair(caller: Caller, shop: str) -> ConflictView:
    """Two memories that contradict each other."""
    return contradicting(caller)


def verb(memory_id: UUID, name: str) -> str:
    """Return the address of a verb of a memory in `shop`."""
    return f"/o/acme/p/shop/memories/{memory_id}/{name}"


@pytest.fixture
def pages(request: pytest.FixtureRequest) -> Pages:
    """The project's pages in the browsers of its people."""
    return Pages(request)
