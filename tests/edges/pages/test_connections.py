"""The page of connections: what agents were given, pauses, tokens, and the code."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client

from accounts import tenancy
from accounts.actions.tokens import NewToken, create_token, revoke_token
from accounts.authentication import entered
from accounts.caller import Caller, TokenScope
from accounts.models import Token
from accounts.queries import TokenView
from memory.injection import harnesses
from teams.actions import create_project, switch_hooks
from teams.models import Project
from teams.queries import Hook
from tests.edges.pages.conftest import HTMX, remembered
from tests.edges.pages.session_pages import Pages
from tests.support import coding, stored
from tests.support.api import agent
from tests.support.coding import FILES

FILE = "src/cart/prices.py"
WARNING = "Rounding in this file is half to even, so totals differ from invoices by a cent."
READ = {"tool": "read", "arguments": {"path": FILE}}
TOUCH = {"session": "r", "project": "shop", "event": "result", **READ}


def page(client: Client, shop: str) -> str:
    """Return the text of the page."""
    response = client.get(f"{shop}connections")
    assert response.status_code == 200
    return response.text


def settings(caller: Caller) -> dict[str, object]:
    """Return what the project sets."""
    with entered(caller), tenancy.unit():
        found: dict[str, object] = Project.objects.get().settings
    return found


def test_what_ones_own_agents_were_given_is_counted(pages: Pages, member_caller: Caller) -> None:
    remembered(pages.caller, WARNING, type="gotcha", related_files=(FILE,))
    counted, before = "1 memory was given to agents", page(pages.owner, pages.shop)

    given = agent(member_caller).post("hooks/generic", TOUCH).json()["context"]
    of_others = page(pages.owner, pages.shop)
    agent(pages.caller).post("hooks/generic", TOUCH)

    assert WARNING in given
    assert [counted in text for text in (before, of_others)] == [False, False]
    for client in (pages.owner, pages.member):
        assert counted in page(client, pages.shop)


def test_one_agent_or_a_project_is_paused_and_resumed_on_the_page_by_who_manages_it(
    pages: Pages,
) -> None:
    remembered(pages.caller, WARNING, type="gotcha", related_files=(FILE,))
    program, pause = agent(pages.caller), f"{pages.shop}connections/pause"
    token = program.get("me").json()["token_id"]

    refused = pages.member.post(pause, {"paused": "1"})
    unknown = pages.owner.post(pause, {"paused": "1", "token": "laptop"})
    untouched, seen = settings(pages.caller), page(pages.member, pages.shop)
    pages.owner.post(pause, {"paused": "1"})
    paused = page(pages.owner, pages.shop)
    silent = program.post("hooks/generic", TOUCH).json()
    pages.owner.post(pause, {"paused": "0"})
    resumed = page(pages.owner, pages.shop)
    pages.owner.post(pause, {"paused": "1", "token": token})

    assert (refused.status_code, unknown.status_code, untouched) == (403, 404, {})
    assert "Pause for all agents" not in seen
    assert "Paused: agents of this project" in paused
    assert (silent, "Pause for all agents" in resumed) == ({}, True)
    assert settings(pages.caller) == {"injection_paused_tokens": [token]}
    assert f'value="{token}"' in page(pages.owner, pages.shop)


def test_an_agent_that_falls_silent_is_told_everywhere_to_its_person_alone(pages: Pages) -> None:
    agent(pages.caller).post("hooks/generic", TOUCH)
    told = "an agent of yours has been silent for a day"
    before = pages.owner.get(f"{pages.shop}memories").text
    long_ago = datetime.now(UTC) - timedelta(hours=25)
    Token.objects.filter(user_id=pages.caller.user_id).update(last_used_at=long_ago)

    after = pages.owner.get(f"{pages.shop}memories").text
    listed = page(pages.owner, pages.shop)
    theirs = pages.member.get(f"{pages.shop}memories").text

    assert (told in before, told in after, told in theirs) == (False, True, False)
    assert "Silent for a day" in listed


def test_an_old_hook_script_is_named_beside_its_agent(pages: Pages) -> None:
    told = {"session_id": "r", "hook_event_name": "UserPromptSubmit", "prompt": "Clear the cache."}
    before = page(pages.owner, pages.shop)

    agent(pages.caller).post("hooks/claude-code", told)
    old = page(pages.owner, pages.shop)
    agent(pages.caller).post(
        "hooks/claude-code", told, X_Cairn_Hook=str(harnesses.HOOK_SCRIPT_VERSION)
    )
    both = page(pages.owner, pages.shop)

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
    return response.text


def test_a_token_that_works_is_told_so_and_nothing_is_kept(pages: Pages, token: TokenView) -> None:
    with entered(pages.caller):
        before = stored.rows()

    told = tried(pages.owner, pages.shop, token.id)
    page = pages.owner.post(f"{pages.shop}connections/test", {"token": str(token.id)}).text

    for text in (told, page):
        assert WORKS in text
    assert "It has never called." in told
    assert "Send a test event" in page
    with entered(pages.caller):
        assert stored.rows() == before
    assert Token.objects.get(pk=token.id).last_used_at is None


def test_what_keeps_a_token_from_working_is_told(pages: Pages, token: TokenView) -> None:
    now = datetime.now(UTC)
    expired, bound = made(pages.caller), made(pages.caller)
    reading = made(pages.caller, scopes=frozenset({TokenScope.READ}))
    with entered(pages.caller):
        elsewhere = create_project(caller=pages.caller, slug="depot", name="Depot", now=now)
        switch_hooks(caller=pages.caller, ref="shop", switched=dict.fromkeys(Hook, False))
    off = tried(pages.owner, pages.shop, token.id)
    with entered(pages.caller):
        switch_hooks(caller=pages.caller, ref="shop", switched=dict.fromkeys(Hook, True))
    said = []
    for paused in ({"token": str(token.id)}, {}):
        pages.owner.post(f"{pages.shop}connections/pause", {"paused": "1", **paused})
        said.append(tried(pages.owner, pages.shop, token.id))
    revoke_token(caller=pages.caller, token_id=token.id, now=now)
    Token.objects.filter(pk=expired.id).update(expires_at=now - timedelta(days=1))
    Token.objects.filter(pk=bound.id).update(projects=[elsewhere.id])

    assert "all hooks of this project are off" in off
    assert "this agent gets no memories here" in said[0]
    assert "agents of this project get no memories" in said[1]
    for one, why in (
        (token, "this token was revoked"),
        (expired, "this token has expired"),
        (reading, "this token may read, and hooks also write"),
        (bound, "this token does not reach this project"),
    ):
        assert why in tried(pages.owner, pages.shop, one.id)


def test_a_token_of_others_is_as_none(
    pages: Pages, member_caller: Caller, token: TokenView
) -> None:
    theirs = made(member_caller)
    none = tried(pages.owner, pages.shop, uuid4(), status=404)

    assert tried(pages.owner, pages.shop, theirs.id, status=404) == none
    assert tried(pages.owner, pages.shop, "laptop", status=404) == none
    assert "laptop" not in tried(pages.member, pages.shop, token.id, status=404)
    listed = pages.member.get(f"{pages.shop}connections").text
    assert f'<option value="{theirs.id}"' in listed
    assert str(token.id) not in listed


CARD = "/o/acme/p/shop/connections/code"
BINARY = {**FILES, "shop/logo.bin": "\0\0\0"}


def card(client: Client) -> str:
    """Return the card as the page that is open fetches it."""
    response = client.get(CARD, **HTMX)  # type: ignore[arg-type]
    assert response.status_code == 200
    return response.text


def test_without_code_the_command_is_shown_then_files_are_counted_and_what_is_done_told(
    pages: Pages,
) -> None:
    now, empty, without_scripts = datetime.now(UTC), card(pages.owner), pages.owner.get(CARD).text
    with entered(pages.caller):
        announced = coding.announce(pages.caller, now, BINARY)
    arriving = card(pages.owner)
    with entered(pages.caller):
        coding.send(pages.caller, now, announced, BINARY)
        coding.resolve()
    done = card(pages.owner)
    changes = pages.owner.get("/o/acme/changes?after=0").json()["changes"]

    for text in ("<code>cairn index --project shop</code></pre><button", "data-copy"):
        assert text in empty
    assert 'class="meter"' not in empty
    for text in ("</html>", "cairn index --project shop"):
        assert text in without_scripts
    for text in ("Files are arriving", 'aria-label="0 of 3 files"'):
        assert text in arriving
    for text in (
        "Up to date", "Python&nbsp;2, others&nbsp;1", '<dt>Symbols</dt><dd class="num">3</dd>',
        "1 file could not be read", ">shop/logo.bin</code>", "This is not a text file.",
    ):  # fmt: skip
        assert text in done
    assert "cairn index --project" not in arriving
    assert 'class="meter"' not in done
    feed = [one["html"]["feed"] for one in changes if one["kind"] == "index.progress"]
    assert [f'href="{pages.shop}connections"' in line for line in feed] == [True] * len(feed) != []
