"""The button that tries a token: how far an event of it comes, and nothing is kept of it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client

from accounts import tenancy
from accounts.actions.tokens import NewToken, create_token, revoke_token
from accounts.authentication import entered
from accounts.caller import Caller, TokenScope
from accounts.models import Token, User
from accounts.queries.credentials import TokenView
from memory.records.models import Memory
from memory.sessions.models import Session, Turn
from teams.actions.project_settings import switch_hooks
from teams.actions.projects import create_project
from teams.models import AuditEntry
from teams.queries import Hook

READ_WRITE = frozenset({TokenScope.READ, TokenScope.WRITE})
WORKS = "It works: what this token tells is kept, and what helps is given back."


@pytest.fixture
def token(caller: Caller) -> TokenView:
    """Return a token of the owner's."""
    return made(caller)


def made(caller: Caller, *, scopes: frozenset[TokenScope] = READ_WRITE) -> TokenView:
    """Return a new token of somebody's."""
    new = NewToken(name="laptop", scopes=scopes)
    return create_token(caller=caller, new=new, now=datetime.now(UTC)).token


def tried(client: Client, shop: str, token_id: object, status: int = 200) -> str:
    """Return what the button shows."""
    asked = {"token": str(token_id)}
    response = client.post(f"{shop}connections/test", asked, headers={"HX-Request": "true"})
    assert response.status_code == status
    return response.content.decode()


def kept(caller: Caller) -> tuple[int, ...]:
    """Return how much of everything an event may leave behind there is."""
    with entered(caller), tenancy.unit():
        return (
            Session.objects.count(),
            Turn.objects.count(),
            Turn.done.count(),
            Memory.objects.count(),
            AuditEntry.objects.count(),
        )


def test_a_token_that_works_is_told_so_and_nothing_is_kept(
    owner_pages: Client, shop: str, caller: Caller, token: TokenView
) -> None:
    before = kept(caller)

    told = tried(owner_pages, shop, token.id)

    assert WORKS in told
    assert "It has never called." in told
    assert kept(caller) == before
    assert Token.objects.get(pk=token.id).last_used_at is None


def test_without_scripts_the_page_says_the_same(
    owner_pages: Client, shop: str, token: TokenView
) -> None:
    page = owner_pages.post(f"{shop}connections/test", {"token": str(token.id)})

    assert WORKS in page.content.decode()
    assert "Send a test event" in page.content.decode()


def test_pauses_are_told_apart(owner_pages: Client, shop: str, token: TokenView) -> None:
    owner_pages.post(f"{shop}connections/pause", {"paused": "1", "token": str(token.id)})
    alone = tried(owner_pages, shop, token.id)
    owner_pages.post(f"{shop}connections/pause", {"paused": "1"})
    everybody = tried(owner_pages, shop, token.id)

    assert "this agent is given nothing here" in alone
    assert "agents of this project are given nothing" in everybody


def test_hooks_that_are_off_are_told(
    owner_pages: Client, shop: str, caller: Caller, token: TokenView
) -> None:
    with entered(caller):
        switch_hooks(caller=caller, ref="shop", switched=dict.fromkeys(Hook, False))

    assert "no hook of this project gives anything" in tried(owner_pages, shop, token.id)


def test_a_token_that_has_ended_is_told_why(
    owner_pages: Client, shop: str, caller: Caller, token: TokenView
) -> None:
    now = datetime.now(UTC)
    other = made(caller)
    revoke_token(caller=caller, token_id=token.id, now=now)
    Token.objects.filter(pk=other.id).update(expires_at=now - timedelta(days=1))

    assert "this token was revoked" in tried(owner_pages, shop, token.id)
    assert "this token has expired" in tried(owner_pages, shop, other.id)


def test_what_a_token_may_not_is_told(owner_pages: Client, shop: str, caller: Caller) -> None:
    reading = made(caller, scopes=frozenset({TokenScope.READ}))
    with entered(caller):
        elsewhere = create_project(caller=caller, slug="depot", name="Depot", now=datetime.now(UTC))
    bound = made(caller)
    Token.objects.filter(pk=bound.id).update(projects=[elsewhere.id])

    assert "this token may read, and hooks also write" in tried(owner_pages, shop, reading.id)
    assert "this token does not reach this project" in tried(owner_pages, shop, bound.id)


def test_a_token_of_somebody_else_is_as_none(
    owner_pages: Client,
    member: User,
    member_caller: Caller,
    shop: str,
    token: TokenView,
    signed_in: Callable[[User], Client],
) -> None:
    theirs = made(member_caller)
    none = tried(owner_pages, shop, uuid4(), status=404)

    assert tried(owner_pages, shop, theirs.id, status=404) == none
    assert tried(owner_pages, shop, "laptop", status=404) == none
    assert "laptop" not in tried(signed_in(member), shop, token.id, status=404)
    listed = signed_in(member).get(f"{shop}connections").content.decode()
    assert f'<option value="{theirs.id}"' in listed
    assert str(token.id) not in listed
