"""The page of connections: what agents were given, pauses that hold, and a token that is tried."""

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
from memory.injection import harnesses
from memory.records.models import Memory
from memory.sessions.models import Session, Turn
from teams.actions import create_project, switch_hooks
from teams.models import AuditEntry, Project
from teams.queries import Hook
from tests.edges.pages.conftest import remembered
from tests.support.api import agent

FILE = "src/cart/prices.py"
WARNING = "Rounding in this file is half to even, so totals differ from invoices by a cent."
TOUCH = {
    "session": "r",
    "project": "shop",
    "event": "result",
    "tool": "read",
    "arguments": {"path": FILE},
}


def page(client: Client, shop: str) -> str:
    """Return the text of the page."""
    response = client.get(f"{shop}connections")
    assert response.status_code == 200
    return response.content.decode()


def settings(caller: Caller) -> dict[str, object]:
    """Return what the project sets."""
    with entered(caller), tenancy.unit():
        found: dict[str, object] = Project.objects.get().settings
    return found


def test_what_agents_were_given_is_counted(owner_pages: Client, shop: str, caller: Caller) -> None:
    remembered(caller, WARNING, type="gotcha", related_files=(FILE,))
    before = page(owner_pages, shop)

    given = agent(caller).post("hooks/generic", TOUCH).json()["context"]

    assert WARNING in given
    assert "memory was given to agents" not in before
    assert "1 memory was given to agents" in page(owner_pages, shop)


def test_sessions_of_others_are_not_counted(
    owner_pages: Client,
    member: User,
    member_caller: Caller,
    shop: str,
    caller: Caller,
    signed_in: Callable[[User], Client],
) -> None:
    remembered(caller, WARNING, type="gotcha", related_files=(FILE,))

    agent(member_caller).post("hooks/generic", TOUCH)

    assert "given to agents in the last" not in page(owner_pages, shop)
    assert "1 memory was given to agents" in page(signed_in(member), shop)


def test_a_project_is_paused_and_resumed_on_the_page(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    remembered(caller, WARNING, type="gotcha", related_files=(FILE,))

    owner_pages.post(f"{shop}connections/pause", {"paused": "1"})
    paused = page(owner_pages, shop)
    silent = agent(caller).post("hooks/generic", TOUCH).json()
    owner_pages.post(f"{shop}connections/pause", {"paused": "0"})

    assert "Paused: agents of this project" in paused
    assert silent == {}
    assert "Pause for all agents" in page(owner_pages, shop)


def test_one_agent_is_paused_beside_its_name(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    client = agent(caller)
    token = client.get("me").json()["token_id"]

    owner_pages.post(f"{shop}connections/pause", {"paused": "1", "token": token})

    assert settings(caller) == {"injection_paused_tokens": [token]}
    assert f'value="{token}"' in page(owner_pages, shop)


def test_what_is_no_token_pauses_nothing(owner_pages: Client, shop: str, caller: Caller) -> None:
    answer = owner_pages.post(f"{shop}connections/pause", {"paused": "1", "token": "laptop"})

    assert answer.status_code == 404
    assert settings(caller) == {}


def test_a_member_is_offered_no_pause_of_the_project(
    member: User, shop: str, signed_in: Callable[[User], Client], caller: Caller
) -> None:
    client = signed_in(member)

    answer = client.post(f"{shop}connections/pause", {"paused": "1"})

    assert answer.status_code == 403
    assert "Pause for all agents" not in page(client, shop)
    assert settings(caller) == {}


def test_an_agent_that_falls_silent_is_told_everywhere_to_its_person_alone(
    owner_pages: Client,
    member: User,
    shop: str,
    caller: Caller,
    signed_in: Callable[[User], Client],
) -> None:
    agent(caller).post("hooks/generic", TOUCH)
    told = "an agent of yours has been silent for a day"
    before = owner_pages.get(f"{shop}memories").content.decode()
    long_ago = datetime.now(UTC) - timedelta(hours=25)
    Token.objects.filter(user_id=caller.user_id).update(last_used_at=long_ago)

    after = owner_pages.get(f"{shop}memories").content.decode()
    listed = page(owner_pages, shop)
    theirs = signed_in(member).get(f"{shop}memories").content.decode()

    assert (told in before, told in after, told in theirs) == (False, True, False)
    assert "Silent for a day" in listed


def test_an_old_hook_script_is_named_beside_its_agent(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    told = {"session_id": "r", "hook_event_name": "UserPromptSubmit", "prompt": "Clear the cache."}
    before = page(owner_pages, shop)

    agent(caller).post("hooks/claude-code", told)
    old = page(owner_pages, shop)
    agent(caller).post("hooks/claude-code", told, X_Cairn_Hook=str(harnesses.HOOK_SCRIPT_VERSION))
    both = page(owner_pages, shop)

    assert "hook script" not in before
    assert "hook script 1, old" in old
    assert "The newest hook script is version" in old
    assert f"hook script {harnesses.HOOK_SCRIPT_VERSION}<" in both


READ_WRITE = frozenset({TokenScope.READ, TokenScope.WRITE})
WORKS = "It works: events are stored, and the agent gets memories."


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

    assert "this agent gets no memories here" in alone
    assert "agents of this project get no memories" in everybody


def test_hooks_that_are_off_are_told(
    owner_pages: Client, shop: str, caller: Caller, token: TokenView
) -> None:
    with entered(caller):
        switch_hooks(caller=caller, ref="shop", switched=dict.fromkeys(Hook, False))

    assert "all hooks of this project are off" in tried(owner_pages, shop, token.id)


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
