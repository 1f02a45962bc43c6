"""What a session came to, on its page: decided one by one or all at once, and taken back."""

import json
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

import pytest
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import Organization, User
from memory.records.models import Memory
from memory.sessions.actions.open_session import NewSession, open_session
from memory.sessions.queries.sessions import SessionView
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, stored

HTMX = {"headers": {"HX-Request": "true"}}


@pytest.fixture
def session(caller: Caller, shop: str, now: datetime) -> SessionView:
    """A shared session of the owner's."""
    with entered(caller):
        new = NewSession(project="shop", shared=True)
        return open_session(caller=caller, new=new, now=now).session


@pytest.fixture
def member_pages(
    organization: Organization, member: User, signed_in: Callable[[User], Client]
) -> Client:
    """The browser of a member."""
    return signed_in(member)


def came(caller: Caller, session: SessionView, now: datetime, *texts: str) -> list[UUID]:
    """Let a session come to memories that its agent proposed and that wait."""
    made = []
    with entered(caller):
        for text in texts:
            memory = stored(as_agent(caller), now, text, project="shop", source="agent_explicit")
            made.append(memory.id)
        with tenancy.unit():
            rows = Memory.objects.filter(pk__in=made)
            rows.update(session_id=session.id, needs_review=True, author_user=None)
    return made


def states(caller: Caller, ids: list[UUID]) -> list[tuple[str, bool]]:
    """Return status and waiting of memories, in the order asked for."""
    with entered(caller), tenancy.unit():
        rows = {row.pk: row for row in Memory.objects.filter(pk__in=ids)}
        return [(rows[one].status, rows[one].needs_review) for one in ids]


def test_what_waits_stands_first_with_its_keys(
    owner_pages: Client, shop: str, caller: Caller, session: SessionView, now: datetime
) -> None:
    came(caller, session, now, REDIS, CARTS)

    page = owner_pages.get(f"{shop}sessions/{session.id}").content.decode()

    assert "2 wait" in page
    assert page.count('data-key="y"') == page.count('data-key="n"') == 2
    assert "Save all confirmed" in page
    assert "Review later" in page


def test_one_memory_is_kept_and_that_is_taken_back(
    owner_pages: Client, shop: str, caller: Caller, session: SessionView, now: datetime
) -> None:
    first, second = came(caller, session, now, REDIS, CARTS)
    address = f"{shop}sessions/{session.id}/decide"

    kept = owner_pages.post(address, {"verdict": "keep", "memory": str(first)}, **HTMX)
    after = states(caller, [first, second])
    toast = json.loads(kept["HX-Trigger"])["cairn:toast"]
    undone = owner_pages.post(toast["undo"], **HTMX)

    assert (toast["text"], after) == ("Kept.", [("active", False), ("active", True)])
    assert (kept["HX-Retarget"], undone["HX-Retarget"]) == ("#summary", "#summary")
    assert states(caller, [first]) == [("active", True)]
    assert "2 wait" in undone.content.decode()


def test_a_memory_is_rejected_or_put_off(
    owner_pages: Client, shop: str, caller: Caller, session: SessionView, now: datetime
) -> None:
    first, second = came(caller, session, now, REDIS, CARTS)
    address = f"{shop}sessions/{session.id}/decide"

    owner_pages.post(address, {"verdict": "reject", "memory": str(first)})
    later = owner_pages.post(address, {"verdict": "later", "memory": str(second)}, **HTMX)

    assert states(caller, [first, second]) == [("archived", True), ("active", True)]
    assert "Save all confirmed" not in later.content.decode()


def test_a_memory_is_corrected_in_a_dialog_and_the_correction_is_taken_back(
    owner_pages: Client, shop: str, caller: Caller, session: SessionView, now: datetime
) -> None:
    (first,) = came(caller, session, now, REDIS)
    address = f"{shop}sessions/{session.id}/decide"
    right = "Token refresh raises when Redis is unreachable, since auth/refresh.py catches it."

    asked = owner_pages.get(f"{address}?memory={first}").content.decode()
    sent = {"verdict": "edit", "memory": str(first)}
    empty = owner_pages.post(address, {**sent, "content": ""}, **HTMX)
    done = owner_pages.post(address, {**sent, "content": right}, **HTMX)
    status = states(caller, [first])[0][0]
    owner_pages.post(json.loads(done["HX-Trigger"])["cairn:toast"]["undo"], **HTMX)

    assert REDIS in asked
    assert (empty.status_code, done.status_code) == (422, 200)
    assert status == "superseded"
    assert states(caller, [first]) == [("active", True)]


def test_all_that_waits_is_kept_and_taken_back_at_once(
    owner_pages: Client, shop: str, caller: Caller, session: SessionView, now: datetime
) -> None:
    ids = came(caller, session, now, REDIS, CARTS, PARSER)
    address = f"{shop}sessions/{session.id}/decide"

    fewer = owner_pages.post(address, {"verdict": "all", "count": "2"}, **HTMX)
    done = owner_pages.post(address, {"verdict": "all", "count": "3"}, **HTMX)
    kept = states(caller, ids)
    toast = json.loads(done["HX-Trigger"])["cairn:toast"]
    owner_pages.post(toast["undo"], **HTMX)

    assert fewer.status_code == 409
    assert (toast["text"], kept) == ("3 memories decided.", [("active", False)] * 3)
    assert states(caller, ids) == [("active", True)] * 3


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"verdict": "nothing"},
        {"verdict": "keep"},
        {"verdict": "keep", "memory": "x"},
        {"verdict": "keep", "memory": "00000000-0000-4000-8000-00000000dead"},
        {"verdict": "all"},
        {"verdict": "all", "count": "٣"},
        {"verdict": "all", "count": "9" * 12},
    ],
)
def test_what_is_no_verdict_is_refused(
    owner_pages: Client, shop: str, session: SessionView, sent: dict[str, str]
) -> None:
    answer = owner_pages.post(f"{shop}sessions/{session.id}/decide", sent)

    assert answer.status_code == 422


def test_viewers_read_and_do_not_decide(
    viewer_pages: Client, shop: str, caller: Caller, session: SessionView, now: datetime
) -> None:
    (first,) = came(caller, session, now, REDIS)
    address = f"{shop}sessions/{session.id}"

    page = viewer_pages.get(address).content.decode()
    refused = viewer_pages.post(f"{address}/decide", {"verdict": "keep", "memory": str(first)})

    assert "Viewers read. Members and above decide." in page
    assert (refused.status_code, states(caller, [first])) == (403, [("active", True)])


def test_a_memory_that_one_may_not_see_is_neither_counted_nor_decided(
    member_pages: Client,
    shop: str,
    caller: Caller,
    session: SessionView,
    owner: User,
    now: datetime,
) -> None:
    first, second = came(caller, session, now, REDIS, CARTS)
    with entered(caller), tenancy.unit():
        Memory.objects.filter(pk=second).update(audience=owner.pk)
    address = f"{shop}sessions/{session.id}"

    page = member_pages.get(address).content.decode()
    refused = member_pages.post(f"{address}/decide", {"verdict": "keep", "memory": str(second)})
    edited = member_pages.get(f"{address}/decide?memory={second}")

    assert ("1 waits" in page, CARTS in page) == (True, False)
    assert (refused.status_code, edited.status_code) == (422, 404)
    assert states(caller, [first, second]) == [("active", True)] * 2


def test_nobody_decides_about_a_session_of_somebody_else(
    owner_pages: Client, shop: str, member_caller: Caller, now: datetime
) -> None:
    with entered(member_caller):
        own = open_session(caller=member_caller, new=NewSession(project="shop"), now=now).session

    answer = owner_pages.post(f"{shop}sessions/{own.id}/decide", {"verdict": "all", "count": "0"})

    assert answer.status_code == 404


def test_the_inbox_leads_to_sessions_of_which_something_waits(
    owner_pages: Client, shop: str, caller: Caller, session: SessionView, now: datetime
) -> None:
    came(caller, session, now, REDIS, CARTS)

    inbox = owner_pages.get(f"{shop}inbox").content.decode()

    assert f'href="{shop}sessions/{session.id}#summary"' in inbox
    assert "By session" in inbox


def test_the_inbox_names_no_session_of_somebody_else(
    owner_pages: Client, shop: str, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    with entered(member_caller):
        new = NewSession(project="shop", agent="their-own-agent")
        own = open_session(caller=member_caller, new=new, now=now).session
    came(caller, own, now, REDIS)

    inbox = owner_pages.get(f"{shop}inbox").content.decode()

    assert ("their-own-agent" in inbox, str(own.id) in inbox) == (False, False)
    assert REDIS.partition(";")[0] in inbox
