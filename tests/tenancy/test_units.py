"""A unit reaches its own organization alone and leaves nothing on its connection.

That no read of threads, coroutines and workers sees another one: `test_canaries`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import pytest
from django.db import ProgrammingError, connection, transaction

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.models import Organization
from memory.records.filters import Filters
from memory.records.queries import memories
from teams.models import Project
from tests.support import people
from tests.support.memories import stored
from tests.support.racing import race

ORGANIZATIONS = 3
PAGE = 10
SETTINGS = """
SELECT name, setting FROM pg_settings WHERE source = 'session'
UNION ALL SELECT name, coalesce(current_setting(name, true), '')
FROM unnest(ARRAY['cairn.tenant', 'cairn.operator']) AS name
"""

Look = Callable[[int], bool]


def path_now() -> str:
    """Return the schemas that names without one are looked for in."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW search_path")
        return str(cursor.fetchone()[0])


def settings_now() -> dict[str, str]:
    """Return what SET would change for whoever gets this connection next."""
    with connection.cursor() as cursor:
        cursor.execute(SETTINGS)
        return dict(cursor.fetchall())


def test_tenant_tables_do_not_exist_outside_a_unit(organization: Organization) -> None:
    with (
        people.entered(organization=organization),
        pytest.raises(ProgrammingError, match="does not exist"),
        transaction.atomic(),
    ):
        Project.objects.count()


def test_a_unit_needs_an_entered_organization(db: None) -> None:
    with pytest.raises(tenancy.NoTenant), tenancy.unit():
        pass


def test_rows_of_one_organization_are_not_seen_from_another(
    organization: Organization, other_organization: Organization
) -> None:
    with people.entered(organization=organization), tenancy.unit():
        Project.objects.create(slug="secret", name="Secret")

    with people.entered(organization=other_organization), tenancy.unit():
        seen = Project.objects.count()

    assert seen == 0


def test_entering_a_second_organization_is_refused(
    organization: Organization, other_organization: Organization
) -> None:
    with (
        people.entered(organization=organization),
        pytest.raises(tenancy.OtherTenant),
        people.entered(organization=other_organization),
    ):
        pass


def test_a_schema_name_not_of_ours_is_refused(organization: Organization) -> None:
    with (
        pytest.raises(ValueError, match="not the schema"),
        tenancy.enter(replace(organization.tenant, schema_name='public"; DROP')),
    ):
        pass


def test_a_unit_inside_one_of_another_organization_is_its_own(
    organization: Organization, other_organization: Organization
) -> None:
    with people.entered(organization=organization), tenancy.unit(), people.outside():
        with people.entered(organization=other_organization), tenancy.unit():
            inside = path_now()
        outside = path_now()

    assert other_organization.schema_name in inside
    assert organization.schema_name in outside


@pytest.mark.django_db(transaction=True)
def test_a_unit_inside_a_unit_joins_it_and_ends_with_it(organization: Organization) -> None:
    ended: list[str] = []
    with people.entered(organization=organization), tenancy.unit():
        with tenancy.unit():
            tenancy.at_end_of_unit(lambda: ended.append(path_now()))
        assert ended == []
        assert organization.schema_name in path_now()

    assert organization.schema_name in ended[0]
    assert path_now() == "public"


def test_a_task_that_waits_stays_in_its_organization() -> None:
    tenants = [
        tenancy.Tenant(organization_id=uuid4(), slug=f"org{number}", schema_name=f"t_{uuid4().hex}")
        for number in range(30)
    ]

    async def stay(tenant: tenancy.Tenant) -> bool:
        with tenancy.enter(tenant):
            for _ in range(20):
                await asyncio.sleep(0)
                if tenancy.current().organization_id != tenant.organization_id:
                    return False
        return True

    async def all_at_once() -> list[bool]:
        return await asyncio.gather(*map(stay, tenants))

    assert all(asyncio.run(all_at_once()))


@pytest.fixture
def worlds(transactional_db: None, now: datetime) -> list[tuple[Organization, Caller]]:
    """Organizations with two memories each, whose texts name the organization."""
    made = []
    for number in range(ORGANIZATIONS):
        organization = people.make_organization(slug=f"org{number}")
        user = people.make_person(
            organization=organization, email=f"o{number}@x.test", role=Role.OWNER
        )
        caller = people.as_caller(organization=organization, user=user, role=Role.OWNER)
        with people.entered(organization=organization):
            stored(caller, now, f"canary-org{number} sings the first song.")
            stored(caller, now, f"canary-org{number} has another one to sing.", tags=("x",))
        made.append((organization, caller))
    return made


@pytest.fixture
def look(worlds: list[tuple[Organization, Caller]], now: datetime) -> Look:
    """Read in one of the organizations; say whether all that was seen is its own."""

    def read(number: int) -> bool:
        organization, caller = worlds[number % ORGANIZATIONS]
        with people.entered(organization=organization):
            page = memories.page(caller=caller, filters=Filters(), cursor=None, limit=PAGE, now=now)
        own = f"canary-{organization.slug} "
        return len(page.items) == 2 and all(item.content.startswith(own) for item in page.items)

    return read


@pytest.mark.django_db(transaction=True)
def test_a_unit_leaves_no_setting_behind_also_when_it_fails(
    worlds: list[tuple[Organization, Caller]], look: Look
) -> None:
    connection.close()
    before = ("public", settings_now())

    def fail() -> float:
        with tenancy.unit():
            assert worlds[0][0].schema_name in path_now()
            assert settings_now()["cairn.tenant"] == str(worlds[0][0].id)
            return 1 / (len(worlds) - ORGANIZATIONS)

    for number in range(ORGANIZATIONS):
        assert look(number)
        assert (path_now(), settings_now()) == before
    for _ in range(3):
        with people.entered(organization=worlds[0][0]), pytest.raises(ZeroDivisionError):
            fail()
        assert (path_now(), settings_now()) == before


@pytest.mark.django_db(transaction=True)
def test_whoever_gets_the_connection_next_starts_in_public(look: Look) -> None:
    def read_and_tell(number: int) -> tuple[str, bool, str, bool]:
        first = path_now()
        own = look(number)
        return first, own, path_now(), getattr(connection, "unit_of", None) is None

    found = race(read_and_tell, times=120, threads=16)

    assert set(found) == {("public", True, "public", True)}
