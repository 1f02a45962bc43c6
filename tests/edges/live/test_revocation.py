"""What was revoked is over: calls within a second, open sockets within five.

Most endings are heard at once. To tell that from the look that pages take unasked, that look is put
off; one test leaves it as it is and silences the bell.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client
from django.urls import reverse

from accounts import live, tenancy
from accounts.actions.members import change_role
from accounts.actions.tokens import revoke_token
from accounts.authentication import entered
from accounts.caller import Role
from accounts.models import Membership, Token, User
from frontend.consumers import NOT_A_MEMBER, SIGNED_OUT
from teams.actions import remove_member
from teams.models import Project
from tests.edges.live.conftest import Browser, closed_with, heard, write_change
from tests.support import agents
from tests.support.crashing import await_that
from tests.support.live import Place
from tests.support.people import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)

CALLS_WITHIN_S = 1.0
SOCKETS_WITHIN_S = 5.0
Figure = Callable[[str], None]


def _revoke(place: Place) -> float:
    now = datetime.now(UTC)
    token = Token.objects.get(organization_id=place.caller.organization_id, scopes__len=2)
    with entered(place.caller):
        revoke_token(caller=place.caller, token_id=token.id, now=now)
    return time.monotonic()


@pytest.mark.goal(name="G19")
def test_a_call_that_waits_ends_with_its_token_and_rest_refuses_the_next(
    place: Place, address: str, figure: Figure
) -> None:
    headers = {"Authorization": f"Bearer {place.token}"}
    url, took = f"{address}/api/v1/changes?after=1000&wait=20", []
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(httpx.get, url, headers=headers, timeout=30)
        await_that(lambda: not Token.objects.filter(last_used_at=None, scopes__len=2).exists())
        running, revoked_at = not waiting.done(), _revoke(place)
        answers = [waiting.result()]
        took.append(time.monotonic() - revoked_at)
        answers.append(httpx.get(f"{address}/api/v1/me", headers=headers))
        took.append(time.monotonic() - revoked_at)

    assert (running, [answer.status_code for answer in answers]) == (True, [401, 401])
    assert max(took) < CALLS_WITHIN_S
    ends, refuses = (f"{seconds * 1000:.0f} ms" for seconds in took)
    figure(f"a waiting call ends {ends} after its token, REST refuses the next {refuses} (≤ 1 s)")


async def _call_twice(place: Place, address: str, mode: str, moments: list[float]) -> None:
    """Call, revoke the token while the session is open, note when, and call again."""
    async with agents.agent(address=address, token=place.token, mode=mode) as client:
        assert not (await client.call_tool("list_recent", {"project": "shop"})).is_error
        moments.append(await sync_to_async(_revoke)(place))
        await client.call_tool("list_recent", {"project": "shop"})


@pytest.mark.goal(name="G19")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_revoked_token_ends_an_open_mcp_session(
    place: Place, address: str, figure: Figure, mode: str
) -> None:
    moments: list[float] = []

    with pytest.raises(BaseException) as refused:  # noqa: PT011  a group of them, or one
        await _call_twice(place, address, mode, moments)

    took = time.monotonic() - moments[0]
    assert "401" in repr(refused.value) or "revoked" in repr(refused.value).lower()
    assert took < CALLS_WITHIN_S
    figure(f"MCP ({mode}) refuses a revoked token after {took * 1000:.0f} ms (≤ 1 s)")


def _remove(browser: Browser, place: Place) -> None:
    with entered(place.caller):
        remove_member(caller=place.caller, user_id=browser.person.pk, now=datetime.now(UTC))


def _sign_out(browser: Browser, place: Place) -> None:
    assert browser.post("/logout/").status_code == 302


def _change_password(browser: Browser, place: Place) -> None:
    new = dict.fromkeys(("password1", "password2"), "a new one, as long")
    answer = browser.post("/password/change/", oldpassword=PASSWORD, **new)
    assert answer.status_code == 302


def _deactivate(browser: Browser, place: Place) -> None:
    operator = Client()
    person = User.objects.create_superuser("operator@ends.test", PASSWORD)
    operator.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
    address = reverse("admin:accounts_user_change", args=(browser.person.pk,))
    assert operator.post(address, {"name": "Gone"}).status_code == 302
    assert not User.objects.get(pk=browser.person.pk).is_active


ENDINGS = {
    "member removed": (_remove, NOT_A_MEMBER),
    "signed out": (_sign_out, SIGNED_OUT),
    "password changed": (_change_password, SIGNED_OUT),
    "person deactivated": (_deactivate, SIGNED_OUT),
}


@pytest.mark.goal(name="G19")
@pytest.mark.usefixtures("only_called")
@pytest.mark.parametrize("event", ENDINGS)
def test_the_socket_hears_at_once_that_it_is_over(
    browser: Browser, place: Place, figure: Figure, event: str
) -> None:
    act, code = ENDINGS[event]
    began = time.monotonic()

    act(browser, place)

    assert closed_with(browser.line) == code
    took = time.monotonic() - began
    assert took < SOCKETS_WITHIN_S
    figure(f"socket, {event}: closed after {took * 1000:.0f} ms (≤ 5 s)")


@pytest.mark.goal(name="G19")
def test_without_the_bell_the_socket_looks_itself(browser: Browser, figure: Figure) -> None:
    began = time.monotonic()
    Membership.objects.filter(user=browser.person).delete()

    assert closed_with(browser.line) == NOT_A_MEMBER
    took = time.monotonic() - began
    assert took < SOCKETS_WITHIN_S
    figure(f"socket without Redis: closed after {took:.1f} s (≤ 5 s)")


def _announce(place: Place, audience: UUID) -> int:
    number = write_change(place, audience)
    live.wake_pages_of(user_id=User.objects.get(email__startswith="admin@").pk)
    return number


@pytest.mark.goal(name="G19")
def test_a_lowered_role_hears_less_at_once(browser: Browser, place: Place, figure: Figure) -> None:
    with entered(place.caller), tenancy.unit():
        closed = Project.objects.create(slug="closed", name="Closed", open_to_all=False).id
    before = _announce(place, closed)
    assert heard(browser.line)["id"] == before

    with entered(place.caller):
        change_role(caller=place.caller, user_id=browser.person.pk, role=Role.MEMBER)
    _announce(place, closed)
    of_all = _announce(place, place.caller.organization_id)

    assert heard(browser.line)["id"] == of_all
    figure("socket, role lowered: the very next read is by the new role (≤ 5 s)")


def test_a_change_whose_announcement_was_lost_arrives(browser: Browser, place: Place) -> None:
    written = write_change(place, place.caller.organization_id)

    assert heard(browser.line)["id"] == written
