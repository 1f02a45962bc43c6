"""The steps of a session on its page: the ribbon, one bar of it, and whom they are told."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from frontend.views.sessions import LIVE
from memory.observer.actions.consolidate import consolidate
from memory.observer.actions.finalize import finalize
from memory.sessions.actions import lifecycle
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.models import GivenOut
from memory.sessions.queries import SessionView
from tests.support.memories import stored
from tests.support.stories import ROOT, Story

SECRET = "hunter2Xq9!zLm4"


def told(caller: Caller, now: datetime, story: Story, **given: Any) -> SessionView:
    """Open a session of the project and tell a story of it, two seconds an event."""
    new = NewSession(project="shop", agent="claude-code", cwd=ROOT, **given)
    began = float(str(story.rows[0]["at"]))
    rows = [{**row, "at": now.timestamp() + float(str(row["at"])) - began} for row in story.rows]
    with entered(caller):
        session = open_session(caller=caller, new=new, now=now).session
        append_events(caller=caller, session_id=session.id, events=tuple(rows), now=now)
    return session


def a_story() -> Story:
    """A read, an edit, a failing test, an approach that is given up, and another read."""
    story = Story().read("cart.py").edit("cart.py", "a", "b").fails("pytest -q", "1 failed")
    return story.say("This approach won't work.").read("basket.py", f"password: `{SECRET}`")


def give(session: SessionView, caller: Caller, content: str, at: datetime) -> None:
    """Note that a memory was given to a session behind its fourth event."""
    with entered(caller):
        memory = stored(caller, at, content)
        with tenancy.unit():
            GivenOut.objects.create(
                person=caller.user_id,
                memory_id=memory.id,
                at=at,
                session_id=session.id,
                point="tool_result",
                tokens=31,
                after_event=4,
            )


def finish(caller: Caller, session: SessionView, now: datetime) -> None:
    """End a session and decide about it."""
    with entered(caller):
        end_session(caller=caller, session_id=session.id, now=now)
        finalize(session_id=session.id, now=now)
        consolidate(session_id=session.id, now=now, tell=lambda done, total: None)


def test_each_step_is_a_bar_in_words_and_a_line_of_the_table(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    session = told(caller, now, a_story())

    page = owner_pages.get(f"{shop}sessions/{session.id}").content.decode()

    assert page.count('class="open bar"') == 4
    assert 'aria-label="Step 1: 1 read"' in page
    assert 'aria-label="Step 3: 1 test run, 1 error, 1 dead end"' in page
    assert page.count('<tr><th scope="row">') == 4
    assert f'data-session="{session.id}"' in page


def test_a_live_page_that_asks_for_its_head_computes_no_ribbon(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    session = told(caller, now, a_story())
    address = f"{shop}sessions/{session.id}"

    with CaptureQueriesContext(connection) as whole:
        owner_pages.get(address)
    with CaptureQueriesContext(connection) as around:
        told_again = owner_pages.get(address, headers={"HX-Request": "true", "HX-Target": LIVE})

    page = told_again.content.decode()
    assert [page.count(f'id="{one}"') for one in (LIVE, "summary", "session-turns")] == [1, 1, 1]
    assert 'id="steps"' not in page
    assert len(around) < len(whole)


def test_a_bar_shows_its_events_without_secrets_and_what_was_given_there(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    session = told(caller, now, a_story())
    give(session, caller, "Carts are locked before they are priced.", now + timedelta(seconds=8))

    ribbon = owner_pages.get(f"{shop}sessions/{session.id}/steps").content.decode()
    second = owner_pages.get(f"{shop}sessions/{session.id}/steps?event=4").content.decode()
    last = owner_pages.get(f"{shop}sessions/{session.id}/steps?event=11").content.decode()

    assert 'aria-label="Step 2: 1 edit, 1 memory given"' in ribbon
    assert "Carts are locked before they are priced." in second
    assert "after a tool · 31 tokens" in second
    assert "<code>Edit</code>" in second
    assert "basket.py" in last
    assert "Carts are locked" not in last
    assert SECRET not in last
    assert "1 secret taken out" in last


def test_a_memory_that_a_subagent_was_told_too_is_one_and_says_to_whom(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    session = told(caller, now, a_story())
    give(session, caller, "Carts are locked before they are priced.", now + timedelta(seconds=8))
    with entered(caller), tenancy.unit():
        row = GivenOut.objects.get(session_id=session.id)
        row.pk, row.agent = None, "explore-1"
        row.save()

    ribbon = owner_pages.get(f"{shop}sessions/{session.id}/steps").content.decode()
    second = owner_pages.get(f"{shop}sessions/{session.id}/steps?event=4").content.decode()

    assert 'aria-label="Step 2: 1 edit, 1 memory given"' in ribbon
    assert second.count("Carts are locked before they are priced.") == 2
    assert second.count('<span class="chip">explore-1</span>') == 1


def test_a_long_bar_is_shown_page_by_page(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    story = Story()
    for number in range(30):
        story.event("tool_call", name="Read", call=str(number), args={"file_path": f"{number}.py"})
        story.event("tool_result", name="Read", call=str(number), text="…")
    session = told(caller, now, story)
    address = f"{shop}sessions/{session.id}/steps"

    first = owner_pages.get(f"{address}?event=1").content.decode()
    rest = owner_pages.get(f"{address}?event=41").content.decode()

    assert ('id="event-40"' in first, 'id="event-41"' in first) == (True, False)
    assert "?event=41" in first
    assert ('id="event-60"' in rest, "What was done next" in rest) == (True, False)


@pytest.mark.parametrize("event", ["x", "-1", "0", "9" * 40, "99999", "٣"])
def test_a_number_that_no_event_has_opens_no_bar(
    owner_pages: Client, shop: str, caller: Caller, now: datetime, event: str
) -> None:
    session = told(caller, now, a_story())

    page = owner_pages.get(f"{shop}sessions/{session.id}?event={event}")

    assert page.status_code == 200
    assert "Select a step to see its details." in page.content.decode()


def test_the_ribbon_outlives_its_events(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    session = told(caller, now, a_story())
    before = owner_pages.get(f"{shop}sessions/{session.id}/steps").content.decode()
    finish(caller, session, now)

    with entered(caller):
        lifecycle.forget(now=now + timedelta(days=settings.KEEP_TURNS_DAYS + 1))
    page = owner_pages.get(f"{shop}sessions/{session.id}?event=4").content.decode()

    assert before.count('class="open bar"') == page.count('class="open bar"') == 4
    assert 'aria-label="Step 3: 1 test run, 1 error, 1 dead end"' in page
    assert "Only the timeline is left" in page
    assert "The details of this step are no longer stored." in page


def test_steps_of_a_personal_session_are_told_to_its_person_alone(
    owner_pages: Client, member_pages: Client, shop: str, member_caller: Caller, now: datetime
) -> None:
    session = told(member_caller, now, a_story())
    address = f"{shop}sessions/{session.id}/steps"

    assert member_pages.get(address).status_code == 200
    for asked in (address, f"{address}?event=1", f"{address}?event=11"):
        refused = owner_pages.get(asked)
        assert (refused.status_code, b"basket.py" in refused.content) == (404, False)


def test_a_memory_that_one_may_not_see_is_not_counted_among_what_was_given(
    owner_pages: Client, member_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    session = told(caller, now, a_story(), shared=True)
    with entered(caller):
        memory = stored(caller, now, "My own note about carts.", scope="personal")
        with tenancy.unit():
            GivenOut.objects.create(
                person=caller.user_id, memory_id=memory.id, at=now, session_id=session.id, tokens=9
            )
    address = f"{shop}sessions/{session.id}/steps"

    own = owner_pages.get(address).content.decode()
    foreign = member_pages.get(address).content.decode()
    opened = member_pages.get(f"{address}?event=1").content.decode()

    assert "1 memory given" in own
    assert "memory given" not in foreign + opened
    assert "My own note" not in foreign + opened
