"""Tokens are shown once, narrowed, rotated with overlap and revoked at once."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from accounts import authentication
from accounts.actions.organizations import change_organization
from accounts.actions.tokens import NewToken, create_token, revoke_token, rotate_token
from accounts.caller import Caller, TokenScope
from accounts.errors import Conflict, Forbidden, InvalidInput, InvalidToken, NotFound
from accounts.models import Membership, Organization, Token, User
from accounts.token_format import TokenKind

READ = frozenset({TokenScope.READ})
ALL = frozenset(TokenScope)
LAPTOP = NewToken(name="laptop")


def use(text: str, now: datetime, ip: str = "10.0.0.7", hook: int | None = None) -> Caller:
    """Present a token."""
    return authentication.caller_from_token(
        text=text, agent="claude-code/2", ip=ip, now=now, hook=hook
    )


def test_a_token_makes_its_owner_the_caller(caller: Caller, now: datetime) -> None:
    projects = (uuid4(),)
    new = NewToken(name="ci", scopes=READ, projects=projects, source_interface="codex")
    issued = create_token(caller=caller, new=new, now=now)

    presented = use(issued.text, now)

    assert presented == replace(
        caller,
        scopes=READ,
        bound_projects=projects,
        source_interface="codex",
        agent="claude-code/2",
        token_id=issued.token.id,
        newly_seen=True,
    )


def test_the_secret_is_not_stored(caller: Caller, now: datetime) -> None:
    issued = create_token(caller=caller, new=LAPTOP, now=now)

    stored = Token.objects.values().get()

    assert issued.text not in repr(stored)
    assert issued.text[8:] not in repr(stored)
    assert stored["digest"] != ""


def test_a_service_token_is_nobody(caller: Caller, now: datetime) -> None:
    new = NewToken(name="robot", kind=TokenKind.SERVICE)
    issued = create_token(caller=caller, new=new, now=now)

    assert use(issued.text, now).user_id is None


def test_the_name_of_the_token_stands_in_for_a_silent_agent(caller: Caller, now: datetime) -> None:
    issued = create_token(caller=caller, new=LAPTOP, now=now)

    presented = authentication.caller_from_token(text=issued.text, agent="\x00\n", ip="?", now=now)

    assert presented.agent == "laptop"


def test_an_expired_token_is_refused(caller: Caller, now: datetime) -> None:
    issued = create_token(caller=caller, new=replace(LAPTOP, expires_in_days=1), now=now)

    with pytest.raises(InvalidToken, match="expired"):
        use(issued.text, now + timedelta(days=1))


def test_a_revoked_token_is_refused_at_the_next_request(caller: Caller, now: datetime) -> None:
    issued = create_token(caller=caller, new=LAPTOP, now=now)
    use(issued.text, now)

    revoke_token(caller=caller, token_id=issued.token.id, now=now)

    with pytest.raises(InvalidToken, match="revoked"):
        use(issued.text, now)


def test_an_unknown_token_is_refused(caller: Caller, now: datetime) -> None:
    issued = create_token(caller=caller, new=LAPTOP, now=now)
    Token.objects.all().delete()

    with pytest.raises(InvalidToken, match="does not exist"):
        use(issued.text, now)


def test_a_token_with_another_digest_is_refused(caller: Caller, now: datetime) -> None:
    issued = create_token(caller=caller, new=LAPTOP, now=now)
    Token.objects.update(digest="0" * 64)

    with pytest.raises(InvalidToken, match="does not exist"):
        use(issued.text, now)


def test_a_token_ends_with_the_membership(
    member_caller: Caller, member: User, now: datetime
) -> None:
    issued = create_token(caller=member_caller, new=LAPTOP, now=now)
    Membership.objects.filter(user=member).delete()

    with pytest.raises(InvalidToken, match="no longer belongs"):
        use(issued.text, now)


def test_a_token_ends_with_the_account(member_caller: Caller, member: User, now: datetime) -> None:
    issued = create_token(caller=member_caller, new=LAPTOP, now=now)
    User.objects.filter(pk=member.pk).update(is_active=False)

    with pytest.raises(InvalidToken, match="no longer belongs"):
        use(issued.text, now)


def test_a_token_does_not_open_an_unfinished_organization(
    caller: Caller, organization: Organization, now: datetime
) -> None:
    issued = create_token(caller=caller, new=LAPTOP, now=now)
    Organization.objects.filter(pk=organization.pk).update(ready=False)

    with pytest.raises(InvalidToken):
        use(issued.text, now)


def test_a_token_loses_what_its_owner_lost(caller: Caller, owner: User, now: datetime) -> None:
    issued = create_token(caller=caller, new=NewToken(name="all", scopes=ALL), now=now)

    Membership.objects.filter(user=owner).update(role="viewer")

    assert use(issued.text, now).scopes == READ


def test_a_member_cannot_make_an_admin_token(member_caller: Caller, now: datetime) -> None:
    with pytest.raises(InvalidInput) as refused:
        create_token(caller=member_caller, new=NewToken(name="all", scopes=ALL), now=now)

    assert refused.value.errors[0].pointer == "/scopes"
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("new", "pointer"),
    [
        (NewToken(name=" "), "/name"),
        (NewToken(name="x" * 81), "/name"),
        (NewToken(name="a\x00b"), "/name"),
        (NewToken(name="x", expires_in_days=0), "/expires_in_days"),
        (NewToken(name="x", expires_in_days=366), "/expires_in_days"),
        (NewToken(name="x", source_interface="fax"), "/source_interface"),
        (NewToken(name="x", scopes=frozenset()), "/scopes"),
    ],
)
def test_a_wrong_field_is_named(caller: Caller, now: datetime, new: NewToken, pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        create_token(caller=caller, new=new, now=now)

    assert refused.value.errors[0].pointer == pointer


def test_a_token_without_admin_scope_makes_no_tokens(caller: Caller, now: datetime) -> None:
    credential = replace(caller, token_id=uuid4(), scopes=READ)

    with pytest.raises(Forbidden):
        create_token(caller=credential, new=LAPTOP, now=now)


def test_a_bound_token_makes_only_bound_tokens(caller: Caller, now: datetime) -> None:
    credential = replace(caller, token_id=uuid4(), bound_projects=(uuid4(),))

    with pytest.raises(InvalidInput) as refused:
        create_token(caller=credential, new=LAPTOP, now=now)

    assert refused.value.errors[0].pointer == "/projects"


def test_both_tokens_work_during_the_overlap(caller: Caller, now: datetime) -> None:
    old = create_token(caller=caller, new=LAPTOP, now=now)

    new = rotate_token(caller=caller, token_id=old.token.id, now=now)

    assert use(old.text, now + timedelta(hours=23)).token_id == old.token.id
    assert use(new.text, now + timedelta(hours=25)).token_id == new.token.id
    assert new.token.expires_at == old.token.expires_at
    with pytest.raises(InvalidToken, match="expired"):
        use(old.text, now + timedelta(hours=24))


def test_rotation_without_overlap_ends_the_old_token_and_happens_once(
    caller: Caller, now: datetime
) -> None:
    old = create_token(caller=caller, new=LAPTOP, now=now)

    rotate_token(caller=caller, token_id=old.token.id, overlap_hours=0, now=now)

    with pytest.raises(InvalidToken, match="revoked"):
        use(old.text, now)
    with pytest.raises(Conflict):
        rotate_token(caller=caller, token_id=old.token.id, now=now)


def test_a_manager_revokes_but_does_not_rotate_the_token_of_another(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    issued = create_token(caller=member_caller, new=LAPTOP, now=now)

    with pytest.raises(NotFound):
        rotate_token(caller=caller, token_id=issued.token.id, now=now)
    revoked = revoke_token(caller=caller, token_id=issued.token.id, now=now)

    assert revoked.revoked_at == now


def test_a_member_does_not_revoke_the_token_of_another(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    issued = create_token(caller=caller, new=LAPTOP, now=now)

    with pytest.raises(NotFound):
        revoke_token(caller=member_caller, token_id=issued.token.id, now=now)

    assert use(issued.text, now).user_id == caller.user_id


def test_the_last_use_is_written_once_a_minute(caller: Caller, now: datetime) -> None:
    issued = create_token(caller=caller, new=LAPTOP, now=now)

    for seconds in (0, 59, 60):
        use(issued.text, now + timedelta(seconds=seconds), ip=f"10.0.0.{seconds}")

        row = Token.objects.get()
        written = timedelta(seconds=60 if seconds == 60 else 0)
        assert row.last_used_at == now + written
        assert row.last_used_ip == f"10.0.0.{written.seconds}"
    assert row.last_used_agent == "claude-code/2"


def test_another_hook_script_is_written_at_once_and_the_same_one_costs_nothing(
    caller: Caller, now: datetime, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    issued = create_token(caller=caller, new=LAPTOP, now=now)
    written = []
    for seconds, hook in enumerate((None, 2, None, 3)):
        use(issued.text, now + timedelta(seconds=seconds), hook=hook)
        written.append(Token.objects.get().last_used_hook)

    assert written == [None, 2, 2, 3]
    assert Token.objects.get().last_used_at == now
    for hook in (3, None):  # a request costs one query
        with django_assert_num_queries(1):  # type: ignore[operator]
            use(issued.text, now + timedelta(seconds=9), hook=hook)


def test_a_token_is_newly_seen_once_in_ten_minutes(caller: Caller, now: datetime) -> None:
    issued = create_token(caller=caller, new=LAPTOP, now=now)
    minutes = (0, 0.5, 2, 9, 10, 11, 35)

    seen = [use(issued.text, now + timedelta(minutes=minute)).newly_seen for minute in minutes]

    assert seen == [True, False, False, False, True, False, True]


def _limit(caller: Caller, days: int) -> None:
    change_organization(caller=caller, name="Acme", longest_token_days=days)


def test_an_organization_lowers_how_long_tokens_live(caller: Caller, now: datetime) -> None:
    usual = create_token(caller=caller, new=NewToken(name="phone"), now=now)
    _limit(caller, 30)

    issued = create_token(caller=caller, new=LAPTOP, now=now)

    assert usual.token.expires_at == now + timedelta(days=90)
    assert issued.token.expires_at == now + timedelta(days=30)
    with pytest.raises(InvalidInput, match="1 to 30 days"):
        create_token(caller=caller, new=replace(LAPTOP, expires_in_days=31), now=now)


def test_a_rotated_token_keeps_to_the_organizations_maximum(caller: Caller, now: datetime) -> None:
    old = create_token(caller=caller, new=replace(LAPTOP, expires_in_days=365), now=now)
    _limit(caller, 30)

    issued = rotate_token(caller=caller, token_id=old.token.id, now=now)

    assert issued.token.expires_at == now + timedelta(days=30)


@pytest.mark.parametrize("days", [0, -1, 366])
def test_no_organization_allows_more_than_a_year(caller: Caller, days: int) -> None:
    with pytest.raises(InvalidInput):
        _limit(caller, days)
