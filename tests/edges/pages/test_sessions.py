"""The pages of sessions: the list, one with what was said, and whom they tell what."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.models import Organization, User
from memory.observer.actions.consolidate import consolidate
from memory.records.models import Memory
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.end_session import end_session
from memory.sessions.actions.open_session import NewSession, open_session
from memory.sessions.queries.sessions import SessionView
from tests.support import people

DECISION = "We decided to move from Redis 6 to Valkey because of the license."
SECRET = "The password of the mill is `hunter2Xq9!zLm4`, <b>please</b> keep it."


def opened(caller: Caller, now: datetime, *texts: str, **given: object) -> SessionView:
    """Open a session of the project in which something was said."""
    new = NewSession(project="shop", agent="claude-code", **given)  # type: ignore[arg-type]
    with entered(caller):
        session = open_session(caller=caller, new=new, now=now).session
        said = tuple(NewTurn(role="user", text=text) for text in texts)
        if said:
            append_turns(caller=caller, session_id=session.id, turns=said, now=now)
    return session


def read(caller: Caller, session: SessionView, now: datetime) -> None:
    """End a session and take what is worth keeping."""
    with entered(caller):
        end_session(caller=caller, session_id=session.id, now=now)
        consolidate(session_id=session.id, now=now, tell=lambda done, total: None)


@pytest.fixture
def member_pages(
    organization: Organization, member: User, signed_in: Callable[[User], Client]
) -> Client:
    """The browser of a member."""
    return signed_in(member)


def test_without_sessions_the_list_says_how_to_get_one(owner_pages: Client, shop: str) -> None:
    page = owner_pages.get(f"{shop}sessions").content.decode()

    assert "No sessions yet" in page
    assert f'href="{shop}connections"' in page


def test_the_list_says_who_did_what_and_how_far_it_is(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    done = opened(caller, now, DECISION, thread="licenses")
    read(caller, done, now)
    opened(caller, now + timedelta(minutes=1))

    page = owner_pages.get(f"{shop}sessions").content.decode()
    ended = owner_pages.get(f"{shop}sessions?state=ended").content.decode()

    assert page.count("<tr><td>") == 2
    assert "licenses" in page
    assert "Going on" in page
    assert 'hx-trigger="every 10s"' in page
    assert "No session in this state" in ended


def test_a_session_shows_what_was_said_without_secrets_and_what_was_remembered(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    session = opened(caller, now, DECISION, SECRET)
    read(caller, session, now)

    page = owner_pages.get(f"{shop}sessions/{session.id}").content.decode()

    assert "hunter2" not in page
    assert "1 secret taken out" in page
    assert "&lt;b&gt;please&lt;/b&gt;" in page
    assert "1 remembered" in page
    assert page.count(DECISION) == 2
    assert 'href="?after=0#turn-1"' in page


def test_turns_are_shown_page_by_page(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    session = opened(caller, now, *(f"Line {number}." for number in range(60)))
    address = f"{shop}sessions/{session.id}"

    first = owner_pages.get(address).content.decode()
    rest = owner_pages.get(f"{address}?after=50").content.decode()
    beyond = owner_pages.get(f"{address}?after=60").content.decode()

    assert ("Line 49." in first, "Line 50." in first, "?after=50" in first) == (True, False, True)
    assert ("Line 50." in rest, "From the beginning" in rest) == (True, True)
    assert "There is nothing after that." in beyond


def test_who_opened_it_ends_it(
    owner_pages: Client, member_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    session = opened(caller, now, DECISION, shared=True)
    address = f"{shop}sessions/{session.id}"

    seen = member_pages.get(address).content.decode()
    refused = member_pages.post(f"{address}/end")
    done = owner_pages.post(f"{address}/end")

    assert "Who opened it can end it." in seen
    assert (refused.status_code, done.status_code) == (403, 302)
    page = owner_pages.get(address).content.decode()
    assert "It has ended; what is worth keeping is being taken." in page
    assert "Its job: Waiting" in page


def test_a_personal_session_is_told_to_its_person_alone(
    owner_pages: Client, member_pages: Client, shop: str, member_caller: Caller, now: datetime
) -> None:
    session = opened(member_caller, now, DECISION, thread="my-own-thread")

    assert "my-own-thread" in member_pages.get(f"{shop}sessions").content.decode()
    assert "my-own-thread" not in owner_pages.get(f"{shop}sessions").content.decode()
    for address in (f"{shop}sessions/{session.id}", f"{shop}sessions/{session.id}/end"):
        assert owner_pages.get(address).status_code in {404, 405}
    assert owner_pages.post(f"{shop}sessions/{session.id}/end").status_code == 404


def test_memories_of_it_that_one_may_not_see_are_not_told(
    owner_pages: Client, shop: str, organization: Organization, caller: Caller, now: datetime
) -> None:
    other = people.make_person(organization=organization, email="o@acme.test", role=Role.MEMBER)
    session = opened(caller, now, DECISION, shared=True)
    read(caller, session, now)
    with entered(caller), tenancy.unit():
        Memory.objects.filter(session_id=session.id).update(audience=other.id)

    page = owner_pages.get(f"{shop}sessions/{session.id}").content.decode()

    assert "Nothing that you may see." in page
    assert page.count(DECISION) == 1


@pytest.mark.parametrize(
    "after", ["x", "9" * 40, "-1", "2026-01-01~x", "2026-01-01T00:00:00~" + "0" * 32]
)
def test_an_odd_place_starts_at_the_beginning(
    owner_pages: Client, shop: str, caller: Caller, now: datetime, after: str
) -> None:
    session = opened(caller, now, DECISION)

    assert (
        DECISION in owner_pages.get(f"{shop}sessions/{session.id}?after={after}").content.decode()
    )
    assert "claude-code" in owner_pages.get(f"{shop}sessions?after={after}").content.decode()


def test_a_session_of_another_project_is_not_here(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    with entered(caller):
        elsewhere = open_session(caller=caller, new=NewSession(), now=now).session

    assert owner_pages.get(f"{shop}sessions/{elsewhere.id}").status_code == 404


def test_it_is_deleted_for_good_once_its_short_name_is_typed(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    session = opened(caller, now, DECISION)
    read(caller, session, now)
    address = f"{shop}sessions/{session.id}"

    asked = owner_pages.get(f"{address}/delete").content.decode()
    wrong = owner_pages.post(f"{address}/delete", {"typed": "x", "memories": "delete"})
    right = {"typed": session.id.hex[-8:], "memories": "delete"}
    done = owner_pages.post(f"{address}/delete", right)

    assert "1 memory was taken from it" in asked
    assert (wrong.status_code, done.status_code) == (422, 302)
    assert 'value="delete" checked' in wrong.content.decode()
    assert owner_pages.get(address).status_code == 404
    assert DECISION not in owner_pages.get(f"{shop}memories").content.decode()


def test_who_may_not_delete_is_not_asked(
    viewer_pages: Client, member_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    session = opened(caller, now, DECISION, shared=True)
    address = f"{shop}sessions/{session.id}"
    right = {"typed": session.id.hex[-8:]}

    assert "Delete for good" not in member_pages.get(address).content.decode()
    assert member_pages.post(f"{address}/delete", right).status_code == 403
    assert viewer_pages.post(f"{address}/delete", right).status_code == 403
