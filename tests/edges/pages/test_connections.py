"""The page of connections: what agents were given, and pauses that hold."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import Token, User
from memory.injection.harnesses import adapters
from teams.models import Project
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
    agent(caller).post("hooks/claude-code", told, X_Cairn_Hook=str(adapters.HOOK_SCRIPT_VERSION))
    both = page(owner_pages, shop)

    assert "hook script" not in before
    assert "hook script 1, old" in old
    assert "The newest hook script is version" in old
    assert f"hook script {adapters.HOOK_SCRIPT_VERSION}<" in both


def test_who_calls_without_a_script_has_no_version(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    client = agent(caller)
    client.get("me")
    client.post("hooks/generic", TOUCH)

    assert "hook script" not in page(owner_pages, shop)
