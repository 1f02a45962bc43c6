"""A session opens only the organizations the person is in, with the role of the moment."""

import pytest

from accounts import authentication
from accounts.caller import ALL_SCOPES, Caller, Role, TokenScope
from accounts.errors import NotFound
from accounts.models import Membership, Organization, User


def test_somebody_is_themselves_on_the_dashboard_and_a_viewer_only_reads(
    caller: Caller, owner: User, member: User
) -> None:
    Membership.objects.filter(user=member).update(role=Role.VIEWER)

    session, viewer = (
        authentication.caller_from_session(user_id=one.id, organization_slug="acme")
        for one in (owner, member)
    )

    assert session == caller
    assert session.scopes == ALL_SCOPES
    assert (viewer.role, viewer.scopes) == (Role.VIEWER, frozenset({TokenScope.READ}))


def test_a_foreign_organization_is_answered_like_none(owner: User, stranger: User) -> None:
    refusals = []
    for slug in ("globex", "nowhere", "", "\x00", "\ud800", "x" * 10_000):
        with pytest.raises(NotFound) as refused:
            authentication.caller_from_session(user_id=owner.id, organization_slug=slug)
        refusals.append((refused.value.detail, refused.value.hint))

    assert len(refusals) == 6
    assert len(set(refusals)) == 1


@pytest.mark.parametrize("ending", ["account", "organization"])
def test_a_disabled_account_and_an_unfinished_organization_have_no_session(
    organization: Organization, owner: User, ending: str
) -> None:
    if ending == "account":
        User.objects.filter(pk=owner.pk).update(is_active=False)
    else:
        Organization.objects.filter(pk=organization.pk).update(ready=False)

    with pytest.raises(NotFound):
        authentication.caller_from_session(user_id=owner.id, organization_slug="acme")
