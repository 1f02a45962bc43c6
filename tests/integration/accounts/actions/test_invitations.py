"""Invitations are single-use, bound to an address, and end."""

import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.core import mail

from accounts.actions.members import (
    SentInvitation,
    accept_invitation,
    change_role,
    invite,
    resend_invitation,
    revoke_invitation,
)
from accounts.caller import Caller, Role
from accounts.errors import (
    CairnError,
    Conflict,
    InvalidInput,
    NotFound,
    QuotaExceeded,
    RoleNotSufficient,
)
from accounts.models import Invitation, Membership, Organization, Plan, User
from accounts.queries import invitation_offer, invitations

ADDRESS = "new@example.test"


@pytest.fixture
def guest(db: None) -> User:
    return User.objects.create_user(ADDRESS, "a long password")


@pytest.fixture
def sent(caller: Caller, now: datetime) -> SentInvitation:
    return invite(caller=caller, email=f" {ADDRESS.upper()} ", role=Role.MEMBER, now=now)


def secret_of(sent: SentInvitation) -> str:
    return sent.link.rpartition("/")[2]


def assert_refused(user: User, secret: str, now: datetime) -> None:
    with pytest.raises(NotFound):
        accept_invitation(user_id=user.id, secret=secret, now=now)
    assert not Membership.objects.filter(user=user).exists()


def test_the_invited_person_joins_once(
    sent: SentInvitation, guest: User, organization: Organization, now: datetime
) -> None:
    joined = accept_invitation(user_id=guest.id, secret=secret_of(sent), now=now)

    assert (joined.id, joined.role) == (organization.id, Role.MEMBER)
    with pytest.raises(NotFound):
        accept_invitation(user_id=guest.id, secret=secret_of(sent), now=now)


def test_the_link_is_mailed_in_the_organizations_language_and_its_secret_not_stored(
    sent: SentInvitation, caller: Caller, organization: Organization, now: datetime
) -> None:
    stored = repr(Invitation.objects.values().get())
    Organization.objects.filter(pk=organization.pk).update(language="fr", name="L'Équipe & Cie")
    invite(caller=caller, email="french@example.test", role=Role.VIEWER, now=now)

    english, french = mail.outbox
    assert sent.mailed
    assert re.fullmatch(r"http://[^/]+/invite/[0-9A-Za-z_-]{43}", sent.link)  # 256 bits
    assert english.to == [ADDRESS]
    assert sent.link in english.body
    assert secret_of(sent) not in stored
    assert french.subject == "Owner vous invite dans L'Équipe & Cie sur Cairn"


def test_another_address_does_not_get_in(sent: SentInvitation, now: datetime) -> None:
    other = User.objects.create_user("other@example.test", "a long password")

    assert_refused(other, secret_of(sent), now)
    assert_refused(other, "guess", now)


def test_an_invitation_lasts_seven_days(sent: SentInvitation, guest: User, now: datetime) -> None:
    assert_refused(guest, secret_of(sent), now + timedelta(days=7))

    accept_invitation(
        user_id=guest.id, secret=secret_of(sent), now=now + timedelta(days=7, seconds=-1)
    )


def test_a_revoked_invitation_is_closed(
    caller: Caller, sent: SentInvitation, guest: User, now: datetime
) -> None:
    revoke_invitation(caller=caller, invitation_id=sent.invitation.id, now=now)

    assert_refused(guest, secret_of(sent), now)
    assert invitations(caller=caller) == ()


def test_sending_again_replaces_the_link(
    caller: Caller, sent: SentInvitation, guest: User, now: datetime
) -> None:
    later = now + timedelta(days=10)

    again = resend_invitation(caller=caller, invitation_id=sent.invitation.id, now=later)

    assert_refused(guest, secret_of(sent), later)
    assert accept_invitation(user_id=guest.id, secret=secret_of(again), now=later).slug == "acme"


def test_an_invitation_lapses_with_its_inviters_role(
    caller: Caller, sent: SentInvitation, guest: User, owner: User, member: User, now: datetime
) -> None:
    change_role(caller=caller, user_id=member.id, role=Role.OWNER)
    change_role(caller=caller, user_id=owner.id, role=Role.MEMBER)

    assert_refused(guest, secret_of(sent), now)


@pytest.mark.parametrize("email", ["", "nobody", "a@b@c.test", "a\n@b.test", "\x00@b.test"])
def test_what_is_no_address_is_refused(caller: Caller, now: datetime, email: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        invite(caller=caller, email=email, role=Role.MEMBER, now=now)

    assert refused.value.errors[0].pointer == "/email"
    assert mail.outbox == []


@pytest.mark.usefixtures("sent")
def test_who_is_invited_or_a_member_is_not_invited_nor_an_owner_by_an_admin(
    caller: Caller, member: User, now: datetime
) -> None:
    admin = replace(caller, role=Role.ADMIN)
    for who, email, role, refusal in (
        (caller, ADDRESS, Role.MEMBER, Conflict),
        (caller, member.email, Role.OWNER, Conflict),
        (admin, "other@example.test", Role.OWNER, RoleNotSufficient),
    ):
        with pytest.raises(refusal):
            invite(caller=who, email=email, role=role, now=now)

    invite(caller=caller, email=ADDRESS, role=Role.MEMBER, now=now + timedelta(days=8))
    assert len(invitations(caller=caller)) == 1


def test_a_full_plan_takes_no_more(
    caller: Caller, organization: Organization, now: datetime
) -> None:
    organization.plan = Plan.objects.create(name="solo", members=1)
    organization.save(update_fields=["plan"])

    with pytest.raises(QuotaExceeded):
        invite(caller=caller, email=ADDRESS, role=Role.MEMBER, now=now)


def test_without_a_mail_server_the_link_is_handed_over(
    caller: Caller, guest: User, now: datetime, settings: pytest.FixtureRequest
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1

    sent = invite(caller=caller, email=ADDRESS, role=Role.MEMBER, now=now)

    assert not sent.mailed
    assert accept_invitation(user_id=guest.id, secret=secret_of(sent), now=now).slug == "acme"


def test_the_offer_says_who_invites_where_and_closed_ones_are_answered_alike(
    sent: SentInvitation, now: datetime
) -> None:
    offer = invitation_offer(secret=secret_of(sent), now=now)
    answers = []
    for secret, moment in (("guess", now), (secret_of(sent), now + timedelta(days=9))):
        with pytest.raises(CairnError) as refused:
            invitation_offer(secret=secret, now=moment)
        answers.append((type(refused.value), refused.value.detail, refused.value.hint))

    assert (offer.organization_name, offer.invited_by_name) == ("Acme", "Owner")
    assert (offer.email, offer.role) == (ADDRESS, Role.MEMBER)
    assert answers[0] == answers[1]
