"""People in front of pages: an owner, a viewer, nobody, and a stranger; one project, one memory."""

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.models import Organization, User
from memory.intake.actions.remember import NewMemory, remember
from memory.records.queries.views import MemoryView
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictView
from teams.actions import create_project
from tests.edges.audit import world
from tests.edges.audit.world import World
from tests.edges.pages.session_pages import Pages
from tests.support import people
from tests.support.browser_client import PageClient
from tests.support.memories import sent

STATEMENT = "Token refresh fails silently when Redis is unreachable; catch ECONNREFUSED."
RETRIES = "The checkout worker in `shop/checkout.py` retries a payment {} times before it gives up."
HTMX = {"HTTP_HX_REQUEST": "true"}


def remembered(caller: Caller, content: str = STATEMENT, **fields: object) -> MemoryView:
    """Remember something as this caller, now; in the project `shop` unless said otherwise."""
    values = {"project": "shop", **fields}
    new = NewMemory(content=content, source="user_taught", **values)  # type: ignore[arg-type]
    with entered(caller):
        memory = remember(caller=caller, new=new, now=datetime.now(UTC)).memory
    assert memory is not None
    return memory


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
def signed_in() -> Callable[[User], Client]:
    """Sign a person in."""

    def sign_in(user: User) -> Client:
        client = PageClient(raise_request_exception=False)
        client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
        return client

    return sign_in


@pytest.fixture
def owner_pages(owner: User, signed_in: Callable[[User], Client]) -> Client:
    """The owner's browser."""
    return signed_in(owner)


@pytest.fixture
def viewer_pages(organization: Organization, signed_in: Callable[[User], Client]) -> Client:
    """The browser of someone who only reads."""
    email = "viewer@acme.test"
    return signed_in(people.make_person(organization=organization, email=email, role=Role.VIEWER))


@pytest.fixture
def member_pages(member: User, signed_in: Callable[[User], Client]) -> Client:
    """The browser of a member."""
    return signed_in(member)


@pytest.fixture
def stranger_pages(stranger: User, signed_in: Callable[[User], Client]) -> Client:
    """The browser of a person of another organization."""
    return signed_in(stranger)


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
def acme(caller: Caller, organization: Organization, member: User, clean_cache: None) -> World:
    """An organization in which every page has something to show."""
    return world.made(caller=caller, organization=organization, member=member)


@pytest.fixture
def pages(request: pytest.FixtureRequest) -> Pages:
    """The project's pages in the browsers of its people."""
    return Pages(request)
