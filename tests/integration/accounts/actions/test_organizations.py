"""Organizations come with a schema and an owner, or not at all."""

from datetime import datetime

import pytest
from django.db import OperationalError

from accounts import tenancy
from accounts.actions.organizations import change_organization, create_organization, ensure_home
from accounts.caller import Caller, Role, Tenant
from accounts.errors import AddressTaken, InvalidInput, RoleNotSufficient
from accounts.models import Organization, User
from accounts.queries import organizations_of
from accounts.tenancy import provisioning as schema
from teams.models import Project


@pytest.fixture
def person(db: None) -> User:
    return User.objects.create_user("Ada.Lovelace@example.test", "a long password")


def test_an_organization_is_ready_to_be_entered(person: User, now: datetime) -> None:
    made = create_organization(user_id=person.id, name="Analytical Engines", now=now)

    tenant = Tenant(organization_id=made.id, slug=made.slug, schema_name=made.schema_name)
    with tenancy.enter(tenant), tenancy.unit():
        assert Project.objects.count() == 0
    assert (made.slug, made.role, made.created_at) == ("analytical-engines", Role.OWNER, now)
    assert organizations_of(user_id=person.id) == (made,)


def test_an_address_in_use_gets_a_number(person: User, now: datetime) -> None:
    slugs = [create_organization(user_id=person.id, name="Notes", now=now).slug for _ in range(3)]

    assert slugs == ["notes", "notes-2", "notes-3"]


def test_a_given_address_in_use_is_refused(
    person: User, organization: Organization, now: datetime
) -> None:
    with pytest.raises(AddressTaken):
        create_organization(user_id=person.id, name="Mine", slug=organization.slug, now=now)

    assert organizations_of(user_id=person.id) == ()


@pytest.mark.parametrize("slug", ["", "A", "-a", "a-", "a_b", "new", "a" * 49, "a\n"])
def test_an_address_that_cannot_be_used_is_refused(person: User, now: datetime, slug: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        create_organization(user_id=person.id, name="Mine", slug=slug, now=now)

    assert refused.value.errors[0].pointer == "/slug"
    assert not Organization.objects.filter(memberships__user=person).exists()


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\x00b", "a\nb"])
def test_a_name_that_cannot_be_shown_is_refused(person: User, now: datetime, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        create_organization(user_id=person.id, name=name, now=now)

    assert refused.value.errors[0].pointer == "/name"


def test_a_crash_leaves_nothing_visible_and_is_continued(
    person: User, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(**_: object) -> None:
        raise OperationalError("the server went away")

    with monkeypatch.context() as broken:
        broken.setattr(schema, "replay", crash)
        with pytest.raises(OperationalError):
            create_organization(user_id=person.id, name="Engines", now=now)
    hidden = organizations_of(user_id=person.id)

    made = create_organization(user_id=person.id, name="Engines", now=now)

    assert hidden == ()
    assert made.slug == "engines"
    assert Organization.objects.filter(memberships__user=person).count() == 1


def test_a_new_person_gets_one_home(person: User, now: datetime) -> None:
    first = ensure_home(user_id=person.id, now=now)

    again = ensure_home(user_id=person.id, now=now)

    assert first == again
    assert (first.slug, first.personal) == ("ada-lovelace", True)


def test_whoever_belongs_somewhere_needs_no_home(
    member: User, organization: Organization, now: datetime
) -> None:
    assert ensure_home(user_id=member.id, now=now).id == organization.id


def test_renaming_is_a_managers_and_keeps_the_address(
    caller: Caller, member_caller: Caller
) -> None:
    change_organization(caller=caller, name=" Acme Works ")
    with pytest.raises(RoleNotSufficient):
        change_organization(caller=member_caller, name="Mine")

    renamed = Organization.objects.get(pk=caller.organization_id)
    assert (renamed.name, renamed.slug) == ("Acme Works", "acme")
