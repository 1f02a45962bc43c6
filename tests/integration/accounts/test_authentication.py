"""A session opens only the organizations the person is in, with the role of the moment."""

import pytest

from accounts import authentication
from accounts.caller import ALL_SCOPES, Caller, Role, TokenScope
from accounts.errors import NotFound
from accounts.models import Membership, Organization, User


def test_an_owner_is_themselves_on_the_dashboard(caller: Caller, owner: User) -> None:
    session = authentication.caller_from_session(user_id=owner.id, organization_slug="acme")

    assert session == caller
    assert session.scopes == ALL_SCOPES


def test_a_viewer_only_reads(organization: Organization, member: User) -> None:
    Membership.objects.filter(user=member).update(role=Role.VIEWER)

    session = authentication.caller_from_session(user_id=member.id, organization_slug="acme")

    assert (session.role, session.scopes) == (Role.VIEWER, frozenset({TokenScope.READ}))


def test_a_foreign_organization_is_answered_like_none(owner: User, stranger: User) -> None:
    refusals = []
    for slug in ("globex", "nowhere", "", "\x00", "\ud800", "x" * 10_000):
        with pytest.raises(NotFound) as refused:
            authentication.caller_from_session(user_id=owner.id, organization_slug=slug)
        refusals.append((refused.value.detail, refused.value.hint))

    assert len(refusals) == 6
    assert len(set(refusals)) == 1


def test_an_unfinished_organization_is_not_there(organization: Organization, owner: User) -> None:
    Organization.objects.filter(pk=organization.pk).update(ready=False)

    with pytest.raises(NotFound):
        authentication.caller_from_session(user_id=owner.id, organization_slug="acme")


def test_a_disabled_account_has_no_session(owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(is_active=False)

    with pytest.raises(NotFound):
        authentication.caller_from_session(user_id=owner.id, organization_slug="acme")
