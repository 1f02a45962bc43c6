"""Tokens are shown once, narrowed, rotated with overlap and revoked at once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from django.db.models import QuerySet

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


def test_a_service_token_is_nobody_and_a_silent_agent_is_called_by_its_name(
    caller: Caller, now: datetime
) -> None:
    new = replace(LAPTOP, kind=TokenKind.SERVICE)
    issued = create_token(caller=caller, new=new, now=now)

    presented = authentication.caller_from_token(text=issued.text, agent="\x00\n", ip="?", now=now)

    assert (presented.user_id, presented.agent) == (None, "laptop")


ENDINGS: dict[str, tuple[Callable[[Token], object], str]] = {
    "revoked": (lambda one: _of(one).update(revoked_at=one.created_at), "revoked"),
    "expired": (lambda one: _of(one).update(expires_at=one.created_at), "expired"),
    "unknown": (lambda one: one.delete(), "does not exist"),
    "digest": (lambda one: _of(one).update(digest="0" * 64), "does not exist"),
    "membership": (lambda one: one.user.memberships.all().delete(), "no longer belongs"),
    "account": (
        lambda one: User.objects.filter(pk=one.user_id).update(is_active=False),
        "no longer belongs",
    ),
    "unfinished": (
        lambda one: Organization.objects.filter(pk=one.organization_id).update(ready=False),
        "no longer belongs",
    ),
}


def _of(token: Token) -> QuerySet[Token]:
    return Token.objects.filter(pk=token.pk)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_token_that_ended_is_refused_at_the_next_request(
    member_caller: Caller, now: datetime, ending: str
) -> None:
    issued = create_token(caller=member_caller, new=LAPTOP, now=now)
    use(issued.text, now)
    end, says = ENDINGS[ending]

    end(Token.objects.get())

    with pytest.raises(InvalidToken, match=says):
        use(issued.text, now)


def test_a_token_loses_what_its_owner_lost(caller: Caller, owner: User, now: datetime) -> None:
    issued = create_token(caller=caller, new=NewToken(name="all", scopes=ALL), now=now)

    Membership.objects.filter(user=owner).update(role="viewer")

    assert use(issued.text, now).scopes == READ


def test_no_credential_makes_a_token_that_holds_more(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    credential = replace(caller, token_id=uuid4())
    for maker, new, pointer in (
        (member_caller, NewToken(name="all", scopes=ALL), "/scopes"),
        (replace(credential, bound_projects=(uuid4(),)), LAPTOP, "/projects"),
    ):
        with pytest.raises(InvalidInput) as refused:
            create_token(caller=maker, new=new, now=now)
        assert refused.value.errors[0].pointer == pointer

    with pytest.raises(Forbidden):
        create_token(caller=replace(credential, scopes=READ), new=LAPTOP, now=now)
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


def test_a_manager_revokes_but_does_not_rotate_the_token_of_another_and_a_member_neither(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    theirs = create_token(caller=member_caller, new=LAPTOP, now=now).token.id
    own = create_token(caller=caller, new=NewToken(name="phone"), now=now).token.id

    with pytest.raises(NotFound):
        rotate_token(caller=caller, token_id=theirs, now=now)
    with pytest.raises(NotFound):
        revoke_token(caller=member_caller, token_id=own, now=now)

    assert revoke_token(caller=caller, token_id=theirs, now=now).revoked_at == now
    assert Token.objects.get(pk=own).revoked_at is None


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
    year = NewToken(name="year", expires_in_days=365)
    longest = create_token(caller=caller, new=year, now=now)
    _limit(caller, 30)

    issued = create_token(caller=caller, new=LAPTOP, now=now)
    rotated = rotate_token(caller=caller, token_id=longest.token.id, now=now)

    assert usual.token.expires_at == now + timedelta(days=90)
    assert issued.token.expires_at == rotated.token.expires_at == now + timedelta(days=30)
    with pytest.raises(InvalidInput, match="1 to 30 days"):
        create_token(caller=caller, new=replace(LAPTOP, expires_in_days=31), now=now)


@pytest.mark.parametrize("days", [0, -1, 366])
def test_no_organization_allows_more_than_a_year(caller: Caller, days: int) -> None:
    with pytest.raises(InvalidInput):
        _limit(caller, days)
