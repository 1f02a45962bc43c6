"""The pages of sessions: the list, one with what was said, and deciding about what it came to."""

import json
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import User
from memory.observer.actions.consolidate import consolidate
from memory.records.models import Memory
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.queries import SessionView
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, stored

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
    assert "In progress" in page
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

    assert "Only the person who opened it can end it." in seen
    assert (refused.status_code, done.status_code) == (403, 302)
    page = owner_pages.get(address).content.decode()
    assert "The session has ended; memories are being extracted." in page
    assert "Its job: Waiting" in page


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


AS_HTMX = {"headers": {"HX-Request": "true"}}


@pytest.fixture
def session(caller: Caller, shop: str, now: datetime) -> SessionView:
    """A shared session of the owner's."""
    with entered(caller):
        new = NewSession(project="shop", shared=True)
        return open_session(caller=caller, new=new, now=now).session


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

    kept = owner_pages.post(address, {"verdict": "keep", "memory": str(first)}, **AS_HTMX)
    after = states(caller, [first, second])
    toast = json.loads(kept["HX-Trigger"])["cairn:toast"]
    undone = owner_pages.post(toast["undo"], **AS_HTMX)

    assert (toast["text"], after) == ("Kept.", [("active", False), ("active", True)])
    assert (kept["HX-Retarget"], undone["HX-Retarget"]) == ("#summary", "#summary")
    assert states(caller, [first]) == [("active", True)]
    assert "2 wait" in undone.content.decode()


def test_a_memory_is_corrected_in_a_dialog_and_the_correction_is_taken_back(
    owner_pages: Client, shop: str, caller: Caller, session: SessionView, now: datetime
) -> None:
    (first,) = came(caller, session, now, REDIS)
    address = f"{shop}sessions/{session.id}/decide"
    right = "Token refresh raises when Redis is unreachable, since auth/refresh.py catches it."

    asked = owner_pages.get(f"{address}?memory={first}").content.decode()
    sent = {"verdict": "edit", "memory": str(first)}
    empty = owner_pages.post(address, {**sent, "content": ""}, **AS_HTMX)
    done = owner_pages.post(address, {**sent, "content": right}, **AS_HTMX)
    status = states(caller, [first])[0][0]
    owner_pages.post(json.loads(done["HX-Trigger"])["cairn:toast"]["undo"], **AS_HTMX)

    assert REDIS in asked
    assert (empty.status_code, done.status_code) == (422, 200)
    assert status == "superseded"
    assert states(caller, [first]) == [("active", True)]


def test_all_that_waits_is_kept_and_taken_back_at_once(
    owner_pages: Client, shop: str, caller: Caller, session: SessionView, now: datetime
) -> None:
    ids = came(caller, session, now, REDIS, CARTS, PARSER)
    address = f"{shop}sessions/{session.id}/decide"

    fewer = owner_pages.post(address, {"verdict": "all", "count": "2"}, **AS_HTMX)
    done = owner_pages.post(address, {"verdict": "all", "count": "3"}, **AS_HTMX)
    kept = states(caller, ids)
    toast = json.loads(done["HX-Trigger"])["cairn:toast"]
    owner_pages.post(toast["undo"], **AS_HTMX)

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
