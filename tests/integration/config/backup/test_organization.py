"""One organization is dropped and comes back as it was, with nobody else's rows and no rights."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts import tenancy
from accounts.actions.tokens import revoke_token
from accounts.caller import Role
from accounts.errors import InvalidToken
from accounts.models import Job, Membership, Organization, Token, User
from config.backup import actions, archive, contents, organizations, programs, shared_rows
from config.backup.contents import Table
from config.backup.organizations import drop_organization, restore_organization
from config.backup.places import BackupError
from config.backup.receipts import later_receipts
from teams import visibility
from teams.actions import create_project, create_team
from teams.audit import verify
from teams.models import Project, ProjectMember, Team, TeamMember
from tests.integration.config.backup.conftest import (
    KEY,
    NOW,
    TEXTS,
    Installation,
    MakeDatabase,
    found_by,
    organization_of,
)
from tests.support import live, memories, people
from tests.support.live import Place

pytestmark = pytest.mark.django_db

OF_THE_INSTALLATION = {  # shared tables of which no row is an organization's
    *("account_emailconfirmation", "accounts_schemastep", "accounts_slot", "auth_group"),
    *("accounts_user_groups", "accounts_user_user_permissions", "auth_group_permissions"),
    *("auth_permission", "django_admin_log", "django_content_type", "django_migrations"),
    *("django_session", "django_site", "socialaccount_socialapp"),
    *("socialaccount_socialapp_sites", "socialaccount_socialtoken"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """An organization, a second person in it, and a backup with both."""

    place: Place
    colleague: User
    backup: archive.Backup

    @property
    def slug(self) -> str:
        return self.place.caller.organization_slug


@pytest.fixture
def saved(installation: Installation, tmp_path: Path) -> Iterator[Saved]:
    """An organization of its own for a test that changes it."""
    with live.committed(slug="initech") as place:
        organization = organization_of(place)
        name = f"colleague@{organization.slug}.test"
        colleague = people.make_person(organization=organization, email=name, role=Role.ADMIN)
        with people.entered(organization=organization):
            for text in TEXTS:
                memories.stored(place.caller, NOW, f"{text} Case 7.", project="shop")
        with people.entered(organization=organization), tenancy.unit():
            create_project(caller=place.caller, slug="lab", name="Lab", open_to_all=False, now=NOW)
            ProjectMember.objects.create(
                project=Project.objects.get(slug="lab"), user_id=colleague.id
            )
            create_team(caller=place.caller, slug="core")
            TeamMember.objects.create(team=Team.objects.get(slug="core"), user_id=colleague.id)
        actions.back_up(address=str(tmp_path), secret=KEY, keep=None, now=timezone.now())
        opened = archive.open_backup(address=str(tmp_path), secret=KEY)
        yield Saved(place=place, colleague=colleague, backup=opened)
        Membership.objects.filter(organization=organization).delete()
        User.objects.filter(id=colleague.id).delete()


def tables_of_others(place: Place) -> dict[str, Table]:
    """Return rows and digests of what is not this organization's."""
    schema = place.caller.schema_name
    with actions.own_database().connect() as line:
        tables = contents.count_contents(connection=line).tables
    shared = {*shared_rows.OF_ORGANIZATION, *shared_rows.OF_PEOPLE}
    return {
        name: table
        for name, table in tables.items()
        if not name.startswith(f"{schema}.") and name.partition(".")[2] not in shared
    }


def visible_to(saved: Saved, person: User) -> set[UUID]:
    """Return what a person without an administrator's role belongs to."""
    organization = organization_of(saved.place)
    caller = people.as_caller(organization=organization, user=person, role=Role.VIEWER)
    with people.entered(organization=organization), tenancy.unit():
        return {*visibility.sight_of(caller=caller).audiences}


def change_access(saved: Saved, person_id: UUID, newcomer_id: UUID) -> None:
    """Close one project, open the other, and let a newcomer take a person's place in the team."""
    with people.entered(organization=organization_of(saved.place)), tenancy.unit():
        Project.objects.filter(slug="shop").update(open_to_all=False)
        Project.objects.filter(slug="lab").update(open_to_all=True)
        for members in (ProjectMember.objects.all(), TeamMember.objects.all()):
            members.filter(user_id=person_id).delete()
        TeamMember.objects.create(team=Team.objects.get(slug="core"), user_id=newcomer_id)


def team_of(saved: Saved) -> set[UUID]:
    """Return who is in the organization's team."""
    with people.entered(organization=organization_of(saved.place)), tenancy.unit():
        return {*TeamMember.objects.values_list("user_id", flat=True)}


def left_over() -> list[str]:
    """Return schemas of no organization, and scratch databases that nobody uses."""
    with actions.own_database().connect() as line:
        found = line.execute(
            "SELECT nspname FROM pg_namespace AS n WHERE n.nspname ~ '^t_' AND NOT EXISTS"
            " (SELECT FROM accounts_organization AS o WHERE o.schema_name = n.nspname)"
        ).fetchall()
        unused = line.execute(programs.LEFT_BEHIND, [f"{programs.SCRATCH}%"]).fetchall()
    return sorted(name for (name,) in (*found, *unused))


def holds(place: Place) -> None:
    """Check the audit chain of an organization."""
    with tenancy.enter(organization_of(place).tenant):
        verdict = verify()
    assert verdict.fault is None
    assert verdict.checked >= len(TEXTS)


def test_a_dropped_organization_leaves_a_receipt_and_nothing_else(saved: Saved) -> None:
    others, key = tables_of_others(saved.place), f"t:{organization_of(saved.place).id.hex}:kept"
    cache.set(key, "text", 60)

    receipt, path = drop_organization(slug=saved.slug, now=timezone.now())

    kept = json.loads(path.read_text())
    assert kept["audit_hash"] == receipt.audit_hash
    assert kept["rows"]["public.accounts_token"] == 2
    with actions.own_database().connect() as line:
        left = shared_rows.count(line=line, organization_id=receipt.organization_id)
    assert sum(left.values()) == 0
    assert cache.get(key) is None
    assert tables_of_others(saved.place) == others
    with pytest.raises(InvalidToken):
        found_by(saved.place.token)
    with pytest.raises(BackupError, match=r"was dropped on .* add --even-erased"):
        restore_organization(
            backup=saved.backup, slug=saved.slug, is_replaced=False, even_erased=False
        )


def test_a_dropped_organization_comes_back_with_no_right_more(
    saved: Saved, installation: Installation
) -> None:
    before, others = found_by(saved.place.token), tables_of_others(saved.place)
    tokens = list(Token.objects.order_by("id").values_list("id", "organization_id"))
    User.objects.filter(id=saved.colleague.id).delete()
    id = saved.place.caller.organization_id
    reading = Token.objects.get(organization_id=id, scopes=["read"])
    revoke_token(caller=saved.place.caller, token_id=reading.id, now=timezone.now())
    owner, newcomer = User.objects.get(id=saved.place.caller.user_id), uuid4()
    change_access(saved, owner.id, newcomer)
    today, team = visible_to(saved, owner), team_of(saved)
    drop_organization(slug=saved.slug, now=timezone.now())

    returned = restore_organization(
        backup=saved.backup, slug=saved.slug, is_replaced=False, even_erased=True
    )

    assert (returned.members_left_out, returned.tokens_left_out) == (1, 1)
    assert found_by(saved.place.token) == before
    with pytest.raises(InvalidToken):
        found_by(saved.place.reading_token)
    assert not User.objects.filter(id=saved.colleague.id).exists()
    assert visible_to(saved, owner) < today  # the project that was closed at the backup
    assert newcomer in team_of(saved) == team
    assert id not in later_receipts(home=installation.home, than=NOW)
    holds(saved.place)
    assert tables_of_others(saved.place) == others
    now = list(Token.objects.order_by("id").values_list("id", "organization_id"))
    assert now == [token for token in tokens if token[0] != reading.id]


def test_an_organization_that_exists_is_replaced_with_the_rights_of_today(saved: Saved) -> None:
    before = found_by(saved.place.token)
    organization = organization_of(saved.place)
    with people.entered(organization=organization):
        memories.stored(saved.place.caller, NOW, "The office cat sleeps on the router.")
    Membership.objects.filter(user=saved.colleague).update(role=Role.VIEWER)
    at_backup, newcomer = visible_to(saved, saved.colleague), uuid4()
    change_access(saved, saved.colleague.id, newcomer)
    others = tables_of_others(saved.place)
    wanted = {"backup": saved.backup, "slug": saved.slug, "even_erased": False}
    with pytest.raises(BackupError, match=r"exists.* add --replace"):
        restore_organization(**wanted, is_replaced=False)
    assert found_by(saved.place.token) != before

    restore_organization(**wanted, is_replaced=True)

    assert found_by(saved.place.token) == before
    assert Membership.objects.get(user=saved.colleague).role == Role.VIEWER
    assert len(at_backup - visible_to(saved, saved.colleague)) == len({"shop", "lab", "core"})
    assert newcomer in team_of(saved)
    assert not Job.objects.filter(organization=organization).exists()
    holds(saved.place)
    with people.entered(organization=organization):
        memories.stored(saved.place.caller, NOW, "The kitchen light needs a new bulb.")
    holds(saved.place)
    assert tables_of_others(saved.place) == others


def test_an_organization_that_stays_busy_is_left_as_it_is(
    saved: Saved, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, existing = found_by(saved.place.token), left_over()
    monkeypatch.setattr(organizations, "LOCK_WAIT", "SET LOCAL lock_timeout = '50ms'")
    schema = organization_of(saved.place).schema_name

    with actions.own_database().connect() as reader, reader.transaction():
        reader.execute(f"LOCK TABLE {schema}.memory_memory IN ACCESS SHARE MODE")
        with pytest.raises(BackupError, match="Nothing was changed; the database refused"):
            restore_organization(
                backup=saved.backup, slug=saved.slug, is_replaced=True, even_erased=False
            )
        with pytest.raises(BackupError, match="Nothing was changed; the database refused"):
            drop_organization(slug=saved.slug, now=timezone.now())

    assert found_by(saved.place.token) == before
    assert left_over() == existing
    id = saved.place.caller.organization_id
    assert id not in later_receipts(home=installation.home, than=NOW)


def test_a_whole_restore_leaves_out_what_was_dropped_since(
    saved: Saved, make_database: MakeDatabase
) -> None:
    id = saved.place.caller.organization_id
    drop_organization(slug=saved.slug, now=timezone.now() + timedelta(seconds=1))
    database = make_database()

    left_out = actions.restore(backup=saved.backup, database=database, even_erased=False)

    assert [receipt.slug for receipt in left_out] == [saved.slug]
    with database.connect() as line:
        schemas = {
            name.partition(".")[0] for name in contents.count_contents(connection=line).tables
        }
        assert f"t_{id.hex}" not in schemas
        assert sum(shared_rows.count(line=line, organization_id=id).values()) == 0
    restore_organization(backup=saved.backup, slug=saved.slug, is_replaced=False, even_erased=True)
    holds(saved.place)


def test_an_unknown_organization_is_refused_with_those_that_are_there(
    installation: Installation, backup: archive.Backup
) -> None:
    known = installation.globex.caller.organization_slug

    with pytest.raises(BackupError, match=f"has no organization nobody; it has .*{known}"):
        restore_organization(backup=backup, slug="nobody", is_replaced=False, even_erased=False)


def test_every_shared_table_is_known_as_an_organizations_a_persons_or_the_installations() -> None:
    with actions.own_database().connect() as line:
        tables = contents.count_contents(connection=line).tables
    shared = {name.partition(".")[2] for name in tables if name.startswith("public.")}

    known = {
        *shared_rows.OF_ORGANIZATION,
        *shared_rows.OF_PEOPLE,
        *shared_rows.OF_PLAN,
        *OF_THE_INSTALLATION,
    }
    assert shared == known


def test_dropping_without_a_terminal_needs_a_clear_yes(installation: Installation) -> None:
    slug = installation.acme.caller.organization_slug

    with pytest.raises(CommandError, match="add --yes"):
        call_command("drop", slug)

    assert Organization.objects.filter(slug=slug).exists()
