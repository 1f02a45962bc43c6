"""Sessions: the cookie has the key, the database only what cannot be used."""

from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from accounts.models import User
from accounts.sessions import SessionStore, person_of, row_keys

pytestmark = pytest.mark.django_db
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


def _made(**held: str) -> SessionStore:
    session = SessionStore()
    session.update(held)
    session.create()
    return session


@pytest.fixture(autouse=True)
def _no_sessions(db: None) -> None:
    """Begin without the sessions that tests of running servers leave."""
    Session.objects.all().delete()


def _signed_in(person: User) -> str:
    browser = Client()
    browser.force_login(person, backend=BACKEND)
    return str(browser.cookies["cairn"].value)


def test_a_session_is_found_by_its_key_only() -> None:
    session = _made(word="swordfish")
    row = Session.objects.get()

    assert SessionStore(session.session_key).load() == {"word": "swordfish"}
    assert SessionStore(row.session_key).load() == {}
    assert session.session_key not in row.session_key + row.session_data
    assert "swordfish" not in row.session_data


def test_a_session_is_changed_in_its_one_row_and_a_new_key_leaves_none_of_the_old() -> None:
    session = SessionStore(_made(word="a").session_key)
    session["word"] = "b"
    session.save()
    before = session.session_key
    changed = SessionStore(before)["word"]

    session.cycle_key()

    assert changed == SessionStore(session.session_key)["word"] == "b"
    assert not session.exists(before)
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    "changed", [{"expire_date": timezone.now() - timedelta(seconds=1)}, {"session_data": "x" * 60}]
)
def test_a_session_past_its_time_or_changed_holds_nothing(changed: dict[str, Any]) -> None:
    session = _made(word="a")
    Session.objects.update(**changed)

    assert SessionStore(session.session_key).load() == {}


def test_sessions_past_their_time_are_forgotten() -> None:
    ended, living = _made(word="a"), _made(word="b")
    keys = row_keys(session_key=str(ended.session_key))
    Session.objects.filter(pk__in=keys).update(expire_date=timezone.now() - timedelta(seconds=1))

    SessionStore.clear_expired()

    assert Session.objects.count() == 1
    assert living.exists(str(living.session_key))


@pytest.mark.parametrize("cookie", ["", "short", "x" * 5_000, "\ud800" * 20, "a\x00" * 9])
def test_a_cookie_that_is_no_key_is_nobody(cookie: str) -> None:
    assert person_of(session_key=cookie) is None


async def _used_without_blocking() -> tuple[dict[str, str], list[bool]]:
    session = SessionStore()
    session["word"] = "a"
    await session.acreate()
    key = str(session.session_key)
    held, there = await SessionStore(key).aload(), await session.aexists(key)
    await session.adelete(key)
    return held, [there, await session.aexists(key)]


def test_sessions_work_where_nothing_may_block() -> None:
    assert async_to_sync(_used_without_blocking)() == ({"word": "a"}, [True, False])


@pytest.mark.parametrize("ending", ["password", "account"])
def test_a_session_ends_with_the_password_and_with_the_account(member: User, ending: str) -> None:
    key = _signed_in(member)
    assert person_of(session_key=key) == member.pk
    if ending == "password":
        member.set_password("another, and as long")
    else:
        member.is_active = False
    member.save()

    assert person_of(session_key=key) is None
    assert person_of(session_key=str(_made(word="a").session_key)) is None
