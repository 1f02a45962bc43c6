"""Fixtures every group of tests shares: two organizations and the people in them.

`organization` has an owner, a member and a viewer; `other_organization` is a stranger's. Tests of
what crosses tenants use both. Everything is rolled back at the end of a test.
"""

import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db.models.signals import post_migrate
from django.utils import translation
from pytest_django.plugin import DjangoDbBlocker, blocking_manager_key

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.models import Organization, SchemaStep, User
from config import translations
from tests.support import operator, people, prepared, programs
from tests.support.goals import figure, pytest_terminal_summary, scale
from tests.support.programs import pytest_testnodedown
from tests.support.servers import PROCESS

__all__ = [  # fixtures and hooks, by their names
    "figure",
    "pytest_collection_modifyitems",
    "pytest_terminal_summary",
    "pytest_testnodedown",
    "scale",
]

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


LONG = ("slow", "goal")  # markers of tests that take more than a few seconds
COSTLY = ("running_site", "crash_site")  # fixtures that start servers, once in one process
LONGEST_ID = 80  # characters of a text in a test's name; pytest numbers those that become equal


def pytest_make_parametrize_id(val: object) -> str | None:
    """Cut long texts, which would fill the screen of whoever reads a failure."""
    if isinstance(val, str | bytes) and len(val) > LONGEST_ID:
        return ascii(val[:LONGEST_ID])
    return None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep the tests of a file in one process, and those of a costly fixture too."""
    used = getattr(item, "fixturenames", ())
    group = next((name for name in COSTLY if name in used), item.nodeid.partition("::")[0])
    item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a missing program; bring the groups with long tests to the front."""
    programs.leave_out(config=config, items=items)
    if PROCESS not in os.environ:
        return
    long = {_group(item) for item in items if _has(item, LONG)} - {*COSTLY}
    items.sort(
        key=lambda item: (_group(item) not in COSTLY, _group(item) not in long, _group(item))
    )


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse a run that lost its groups: each process would start all costly fixtures."""
    is_grouped = getattr(session.config.option, "loadgroup", False)  # set in processes that share
    if is_grouped and not all("@" in item.nodeid for item in session.items):
        raise pytest.UsageError("pytest and pytest-xdist do not go together: groups are lost.")


def _group(item: pytest.Item) -> str:
    return str(next(item.iter_markers("xdist_group")).args[0])


def _has(item: pytest.Item, markers: Iterable[str]) -> bool:
    return any(item.get_closest_marker(name) for name in markers)


def pytest_configure() -> None:
    """Compile the catalogs: pages are tested in every language. Tests look as operators do."""
    translations.compile_all()
    operator.install()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give back what the tests before this one took, while no test's transaction is open."""
    with item.config.stash[blocking_manager_key].unblock():
        prepared.tidy()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Put the steps of the tenant schema back whenever a test that commits has emptied tables."""
    with django_db_blocker.unblock():
        steps = tuple(SchemaStep.objects.all())
        prepared.prepare()

    def put_back(**_: object) -> None:
        SchemaStep.objects.bulk_create(steps, ignore_conflicts=True)

    post_migrate.connect(put_back, sender=apps.get_app_config("accounts"), weak=False)


@pytest.fixture(autouse=True)
def _usual_language() -> None:
    """Begin in the usual language: a page read in French leaves the thread in French."""
    translation.deactivate()


@pytest.fixture
def now() -> datetime:
    """A fixed moment."""
    return NOW


@pytest.fixture
def tables_of_its_own() -> Iterator[None]:
    """Tables that no test has used before: the planner counts the pages that others left."""
    with prepared.none():
        yield


@pytest.fixture
def organization(db: None) -> Organization:
    """An organization with its schema."""
    return people.make_organization(slug="acme")


@pytest.fixture
def other_organization(db: None) -> Organization:
    """Somebody else's organization."""
    return people.make_organization(slug="globex")


@pytest.fixture
def owner(organization: Organization) -> User:
    """The owner of `organization`."""
    return people.make_person(organization=organization, email="owner@acme.test", role=Role.OWNER)


@pytest.fixture
def member(organization: Organization) -> User:
    """A member of `organization`."""
    return people.make_person(organization=organization, email="member@acme.test", role=Role.MEMBER)


@pytest.fixture
def stranger(other_organization: Organization) -> User:
    """The owner of `other_organization`."""
    return people.make_person(
        organization=other_organization, email="owner@globex.test", role=Role.OWNER
    )


@pytest.fixture
def caller(organization: Organization, owner: User) -> Caller:
    """The owner, calling."""
    return people.as_caller(organization=organization, user=owner, role=Role.OWNER)


@pytest.fixture
def member_caller(organization: Organization, member: User) -> Caller:
    """The member, calling."""
    return people.as_caller(organization=organization, user=member, role=Role.MEMBER)


@pytest.fixture
def other_caller(other_organization: Organization, stranger: User) -> Caller:
    """The stranger, calling in their own organization."""
    return people.as_caller(organization=other_organization, user=stranger, role=Role.OWNER)


@pytest.fixture
def in_organization(organization: Organization) -> Iterator[tenancy.Tenant]:
    """Run the test inside `organization`, as an edge would."""
    with people.entered(organization=organization) as tenant:
        yield tenant


@pytest.fixture
def clean_cache() -> Iterator[None]:
    """An empty cache, before and after."""
    cache.clear()
    yield
    cache.clear()
