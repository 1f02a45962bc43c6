"""The second wall: a slip of one of a unit's two keys gives no rows and stores nothing.

What is asked here goes to the server as the application's role, past what tests see as operators.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection

from accounts import jobs, tenancy
from accounts.actions.members import invite
from accounts.actions.tokens import NewToken, create_token
from accounts.caller import Caller, Role
from accounts.models import Organization
from accounts.tenancy import provisioning, rls
from teams.actions import create_project
from teams.models import Project
from tests.support import people
from tests.support.memories import stored

KEYS = "SELECT set_config('search_path', %s, true), set_config('cairn.tenant', %s, true)"
TABLES = """
SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'p')
"""
UNWALLED = """
SELECT c.relname FROM pg_class AS c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
  AND (c.relname = 'accounts_organization' OR EXISTS (
      SELECT FROM pg_constraint AS k
      WHERE k.conrelid = c.oid AND k.confrelid = 'public.accounts_organization'::regclass))
  AND NOT (c.relrowsecurity AND EXISTS (SELECT FROM pg_policy AS p WHERE p.polrelid = c.oid))
"""
SHARED = (
    "accounts_organization", "accounts_membership", "accounts_token", "accounts_invitation",
    "accounts_job", "accounts_auditroot", "accounts_usage", "accounts_domain",
)  # fmt: skip
FORBIDDEN = (
    "SET ROLE cairn_owner",
    "SET SESSION AUTHORIZATION cairn_owner",
    "ALTER TABLE teams_project DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE teams_project NO FORCE ROW LEVEL SECURITY",
    "DROP POLICY one_tenant ON teams_project",
    "CREATE POLICY all_rows ON accounts_token USING (true)",
    "TRUNCATE teams_project CASCADE",
    "TRUNCATE accounts_job",
    "CREATE TABLE public.mine (word text)",
    "CREATE TABLE mine (word text)",
    "CREATE SCHEMA mine",
    "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "INSERT INTO accounts_schemastep VALUES (999, 'x', 'SELECT 1')",
    "UPDATE accounts_schemastep SET script = 'SELECT 1'",
    "DELETE FROM django_migrations",
    "SELECT cairn.wall_shared()",
    "SELECT cairn.admit('cairn_app')",
    "UPDATE teams_auditentry SET act = 'nothing'",
)
FILLED = (*SHARED[:6], "teams_project", "memory_memory", "memory_memorykeyword", "teams_change")
refused = pytest.raises(psycopg.errors.InsufficientPrivilege)


@pytest.fixture
def world(caller: Caller, organization: Organization, now: datetime) -> Organization:
    """An organization with a row in every kind of table."""
    with people.entered(organization=organization):
        create_project(caller=caller, slug="shop", name="Shop", now=now)
        stored(caller, now, "The shop closes at six in winter.", project="shop")
        jobs.enqueue("memory.refresh_lexicon", payload={})
    create_token(caller=caller, new=NewToken(name="laptop"), now=now)
    invite(caller=caller, email="x@y.test", role=Role.MEMBER, now=now)
    return organization


@pytest.fixture
def line(db: None) -> Iterator[psycopg.Connection[Any]]:
    """The connection of the test itself, without what makes tests operators."""
    connection.ensure_connection()
    with connection.connection.transaction(force_rollback=True):
        yield connection.connection


def turn(line: psycopg.Connection[Any], *, path: str, tenant: UUID | str) -> None:
    line.execute(KEYS, [path, str(tenant)])


def counted(line: psycopg.Connection[Any], table: str) -> int:
    row = line.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0])


def tables_of(line: psycopg.Connection[Any], organization: Organization) -> list[str]:
    return [row[0] for row in line.execute(TABLES, [organization.schema_name])]


def test_the_right_schema_with_the_wrong_tenant_shows_nothing(
    world: Organization, other_organization: Organization, line: psycopg.Connection[Any]
) -> None:
    turn(line, path=f"{world.schema_name}, public", tenant=world.id)
    assert [table for table in FILLED if not counted(line, table)] == []  # with both keys
    tables = tables_of(line, world)
    assert len(tables) > 15

    for tenant in ("", other_organization.id):
        turn(line, path=world.schema_name, tenant=tenant)
        assert [table for table in tables if counted(line, table)] == []


def test_no_shared_row_is_seen_without_a_tenant_or_by_another(
    world: Organization, line: psycopg.Connection[Any]
) -> None:
    without = {table: counted(line, table) for table in SHARED}
    turn(line, path="public", tenant=uuid4())

    assert without == dict.fromkeys(SHARED, 0)
    assert {table: counted(line, table) for table in SHARED} == without


def test_nothing_of_another_tenant_is_changed_or_deleted(
    world: Organization, other_organization: Organization, line: psycopg.Connection[Any]
) -> None:
    turn(line, path=f"{world.schema_name}, public", tenant=other_organization.id)

    touched = [
        line.execute("UPDATE teams_project SET name = 'Mine'").rowcount,
        line.execute("DELETE FROM memory_memorykeyword").rowcount,
        line.execute("UPDATE accounts_token SET name = 'Mine' WHERE name = 'laptop'").rowcount,
        line.execute("DELETE FROM accounts_job WHERE name = 'memory.refresh_lexicon'").rowcount,
    ]

    assert touched == [0, 0, 0, 0]


@pytest.mark.parametrize("tenant", ["", "other"])
def test_nothing_is_stored_with_a_wrong_tenant(
    organization: Organization,
    other_organization: Organization,
    line: psycopg.Connection[Any],
    tenant: str,
) -> None:
    turn(line, path=organization.schema_name, tenant=tenant and other_organization.id)

    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        line.execute(
            "INSERT INTO memory_lexeme (word, audience, documents)"
            " VALUES ('stone', gen_random_uuid(), 1)"
        )


def test_a_row_is_not_given_to_another_tenant(
    world: Organization, other_organization: Organization, line: psycopg.Connection[Any]
) -> None:
    turn(line, path="public", tenant=world.id)

    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        line.execute("UPDATE accounts_token SET organization_id = %s", [other_organization.id])


def test_a_unit_with_mixed_up_keys_reads_nothing_and_stores_nothing(
    world: Organization, other_organization: Organization
) -> None:
    tenant = replace(other_organization.tenant, schema_name=world.schema_name)
    with tenancy.enter(tenant):
        with tenancy.unit():
            seen = Project.objects.count()
        with pytest.raises(Exception, match="row-level security"), tenancy.unit():
            Project.objects.create(slug="theirs", name="Theirs")

    assert seen == 0


def test_a_walled_block_joins_its_own_unit_and_refuses_another(
    organization: Organization, other_organization: Organization
) -> None:
    with people.entered(organization=organization), tenancy.unit():
        with tenancy.walled(organization_id=organization.id):
            assert tenant_now() == str(organization.id)
        with (
            pytest.raises(tenancy.OtherTenant),
            tenancy.walled(organization_id=other_organization.id),
        ):
            pass
        assert tenant_now() == str(organization.id)


def tenant_now() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(current_setting('cairn.tenant', true), '')")
        return str(cursor.fetchone()[0])


def test_every_table_that_names_an_organization_stands_behind_the_wall_and_is_the_owners(
    organization: Organization, line: psycopg.Connection[Any]
) -> None:
    row = line.execute(
        "SELECT (SELECT count(*) FROM pg_class WHERE relowner = r.oid),"
        " (SELECT count(*) FROM pg_namespace WHERE nspowner = r.oid),"
        " (SELECT count(*) FROM pg_auth_members WHERE member = r.oid),"
        " rolsuper, rolbypassrls, rolcreatedb, rolcreaterole"
        " FROM pg_roles AS r WHERE rolname = current_user"
    ).fetchone()

    assert line.execute(UNWALLED).fetchall() == []
    assert row == (0, 0, 0, False, False, False, False)


def test_the_application_cannot_open_the_wall_turn_it_off_or_rewrite_what_happened(
    world: Organization, line: psycopg.Connection[Any], subtests: pytest.Subtests
) -> None:
    turn(line, path=f"{world.schema_name}, public", tenant=world.id)

    for statement in FORBIDDEN:
        with subtests.test(statement), refused, line.transaction():
            line.execute(statement)
    line.execute("SET LOCAL row_security = off")  # is an error and no way around
    with refused:
        line.execute("SELECT * FROM accounts_token")


def test_doors_are_the_owners_with_a_fixed_path_and_not_for_everybody(
    line: psycopg.Connection[Any],
) -> None:
    found = line.execute(
        "SELECT proname, pg_get_userbyid(proowner), proconfig,"
        " (SELECT bool_or(grantee = 0) FROM aclexplode(proacl)) FROM pg_proc WHERE prosecdef"
    ).fetchall()

    assert len(found) >= 9
    for name, *facts in found:
        assert facts == ["cairn_owner", ["search_path=pg_catalog, pg_temp"], False], name


@pytest.mark.parametrize("part", ["", "%", "' OR '1'='1", "x'; DELETE FROM accounts_token; --"])
def test_a_door_takes_what_it_is_given_as_text(world: Organization, part: str) -> None:
    assert rls.present_token(lookup=part) is None
    assert rls.claim_job(queue=part, worker=part, lease=timedelta(1)) is None
    assert rls.invited_to(digests=(part,)) is None


def test_only_the_schema_of_ones_own_unit_is_brought_up_to_date(
    organization: Organization, other_organization: Organization
) -> None:
    with (
        pytest.raises(Exception, match="not the organization of the unit"),
        tenancy.walled(organization_id=organization.id),
    ):
        rls.replay(organization_id=other_organization.id)


@pytest.mark.parametrize("name", ["public", "cairn", 'x"; DROP SCHEMA public CASCADE; --'])
def test_a_schema_that_is_none_of_ours_is_not_made(organization: Organization, name: str) -> None:
    Organization.objects.filter(pk=organization.pk).update(schema_name=name, schema_version=0)

    with (
        pytest.raises(Exception, match="not the schema of an organization"),
        tenancy.walled(organization_id=organization.id),
    ):
        rls.replay(organization_id=organization.id)


def test_a_table_of_ones_own_does_not_stand_in_for_the_steps(organization: Organization) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE accounts_schemastep (position int, script text)")
        cursor.execute("INSERT INTO accounts_schemastep VALUES (998, 'CREATE SCHEMA stolen')")

    assert provisioning.replay(organization=organization) == 0
