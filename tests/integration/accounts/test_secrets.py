"""Both secrets of the server change without logging anybody out, and end everything when meant to.

Each test makes something, changes the secrets as an operator would, and uses it.
"""

from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from typing import Any

import pytest
from allauth.account.forms import default_token_generator
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.conf import settings as configured
from django.contrib.sessions.models import Session
from django.test import Client

from accounts.actions.members import invite
from accounts.actions.tokens import NewToken, create_token
from accounts.adapters import SecondFactorAdapter
from accounts.authentication import caller_from_token, entered
from accounts.caller import Caller, Role
from accounts.errors import InvalidToken, NotFound
from accounts.models import Token, User
from accounts.queries import invitation_offer
from accounts.sessions import person_of
from config.rest import parsing
from config.urls import ENDPOINTS

NEW_KEY, NEW_PEPPER = "k" * 40, "p" * 40
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
Change = Callable[[], None]


@pytest.fixture
def change(settings: Any) -> Change:
    """Change both secrets, keeping the old ones as fallbacks."""

    def change() -> None:
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.TOKEN_PEPPER_FALLBACKS = (settings.TOKEN_PEPPER,)
        settings.SECRET_KEY, settings.TOKEN_PEPPER = NEW_KEY, NEW_PEPPER

    return change


@pytest.fixture
def forget(settings: Any) -> Change:
    """Take the old secrets away."""

    def forget() -> None:
        settings.SECRET_KEY_FALLBACKS, settings.TOKEN_PEPPER_FALLBACKS = [], ()

    return forget


@pytest.fixture
def browser(owner: User) -> Client:
    """The owner's browser, signed in before the change."""
    browser = Client()
    browser.force_login(owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    return browser


def _sessions() -> set[str]:
    return set(Session.objects.values_list("session_key", flat=True))


def _use(text: str, now: datetime) -> Caller:
    return caller_from_token(text=text, agent="", ip="", now=now)


def test_a_token_that_is_used_is_stored_anew_and_one_nobody_used_ends_with_its_pepper(
    caller: Caller, now: datetime, change: Change, forget: Change
) -> None:
    used, unused = (
        create_token(caller=caller, new=NewToken(name=name), now=now) for name in ("a", "b")
    )
    before = Token.objects.get(name="a").digest

    change()
    _use(used.text, now)
    forget()

    assert Token.objects.get(name="a").digest != before
    assert _use(used.text, now).token_id == used.token.id
    with pytest.raises(InvalidToken):
        _use(unused.text, now)


def test_a_session_that_is_used_is_stored_anew_and_another_ends_with_its_secrets(
    browser: Client, member: User, change: Change, forget: Change
) -> None:
    unused = Client()
    unused.force_login(member, backend="allauth.account.auth_backends.AuthenticationBackend")
    before = _sessions()

    change()
    first = browser.get("/me")
    forget()
    second = browser.get("/me")

    assert (first.status_code, second.status_code) == (200, 200)
    assert (len(before - _sessions()), len(_sessions() - before)) == (1, 1)
    assert unused.get("/me").status_code == 302


def test_a_socket_that_only_looks_ends_no_session(
    browser: Client, owner: User, change: Change
) -> None:
    key = browser.cookies[configured.SESSION_COOKIE_NAME].value

    change()

    assert person_of(session_key=key) == owner.pk
    assert person_of(session_key=key) == owner.pk
    assert browser.get("/me").status_code == 200


def test_an_invitation_keeps_working(
    caller: Caller, now: datetime, change: Change, forget: Change
) -> None:
    with entered(caller):
        sent = invite(caller=caller, email="x@y.test", role=Role.MEMBER, now=now)
    secret = sent.link.rpartition("/")[2]

    change()

    assert invitation_offer(secret=secret, now=now).email == "x@y.test"
    forget()
    with pytest.raises(NotFound):
        invitation_offer(secret=secret, now=now)


def test_a_second_factor_a_reset_link_and_a_cursor_keep_working(
    caller: Caller, member: User, change: Change, forget: Change
) -> None:
    totp.TOTP.activate(member, SECRET)
    key = default_token_generator.make_token(member)
    endpoint = next(one for one in ENDPOINTS if one.paged)
    sealed = parsing.seal(inner="7", endpoint=endpoint, caller=caller)

    change()

    stored = Authenticator.objects.get(type="totp").data["secret"]
    assert SecondFactorAdapter().decrypt(stored) == SECRET
    assert default_token_generator.check_token(member, key)
    assert parsing.open_sealed(text=sealed, endpoint=endpoint, caller=caller) == "7"
    forget()
    assert not default_token_generator.check_token(member, key)


def test_sessions_are_of_our_own_store() -> None:
    store = import_module(configured.SESSION_ENGINE).SessionStore

    assert store.__module__ == "accounts.sessions"
