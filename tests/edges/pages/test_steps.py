"""The steps of a session on its page: the ribbon, one bar of it, and whom they are told."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from frontend.views.sessions import LIVE
from memory.sessions.actions.lifecycle import forget
from memory.sessions.models import GivenOut
from tests.edges.pages.session_pages import PageRun, Pages
from tests.support.stories import ROOT, Story

SECRET = "hunter2Xq9!zLm4"
LOCKED = "Carts are locked before they are priced."


def told(pages: Pages, story: Story | None = None, by: Caller | None = None, **new: Any) -> PageRun:
    """Open a session of the project and tell a story of it, two seconds an event.

    A read, an edit, a failing test, an approach that is given up, and another read.
    """
    if story is None:
        story = Story().read("cart.py").edit("cart.py", "a", "b").fails("pytest -q", "1 failed")
        story.say("This approach won't work.").read("basket.py", f"password: `{SECRET}`")
    run = pages.opened(by=by, cwd=ROOT, **new)
    began = float(str(story.rows[0]["at"]))
    shift = run.now.timestamp() - began
    with entered(run.caller):
        run.does(*({**row, "at": float(str(row["at"])) + shift} for row in story.rows))
    return run


def test_each_step_is_a_bar_in_words_and_a_line_of_the_table(pages: Pages) -> None:
    run = told(pages)

    page = pages.text(run.address)

    assert page.count('class="open bar"') == 4
    assert 'aria-label="Step 1: 1 read"' in page
    assert 'aria-label="Step 3: 1 test run, 1 error, 1 dead end"' in page
    assert page.count('<tr><th scope="row">') == 4
    assert f'data-session="{run.id}"' in page
    for event in ("x", "-1", "0", "9" * 40, "99999", "٣"):  # that opens no bar
        shown = pages.text(f"{run.address}?event={event}")
        assert "Select a step to see its details." in shown, event


def test_a_live_page_that_asks_for_its_head_computes_no_ribbon(pages: Pages) -> None:
    run = told(pages)

    with CaptureQueriesContext(connection) as whole:
        pages.owner.get(run.address)
    with CaptureQueriesContext(connection) as around:
        page = pages.text(run.address, headers={"HX-Request": "true", "HX-Target": LIVE})

    assert [page.count(f'id="{one}"') for one in (LIVE, "summary", "session-turns")] == [1, 1, 1]
    assert 'id="steps"' not in page
    assert len(around) < len(whole)


def test_a_bar_shows_its_events_without_secrets_and_what_was_given_there(pages: Pages) -> None:
    run = told(pages)
    pages.give(run, LOCKED, seconds=8)
    with entered(pages.caller), tenancy.unit():  # to a subagent too, which is no other memory
        row = GivenOut.objects.get(session_id=run.id)
        row.pk, row.agent = None, "explore-1"
        row.save()

    ribbon, second, last = (
        pages.text(f"{run.address}/steps{query}") for query in ("", "?event=4", "?event=11")
    )

    assert 'aria-label="Step 2: 1 edit, 1 memory given"' in ribbon
    assert second.count(LOCKED) == 2
    assert second.count('<span class="chip">explore-1</span>') == 1
    assert "after a tool · 31 tokens" in second
    assert "<code>Edit</code>" in second
    assert "basket.py" in last
    assert "Carts are locked" not in last
    assert SECRET not in last
    assert "1 secret taken out" in last


def test_a_long_bar_is_shown_page_by_page(pages: Pages) -> None:
    story = Story()
    for number in range(30):
        story.event("tool_call", name="Read", call=str(number), args={"file_path": f"{number}.py"})
        story.event("tool_result", name="Read", call=str(number), text="…")
    run = told(pages, story)

    first, rest = (pages.text(f"{run.address}/steps?event={number}") for number in (1, 41))

    assert ('id="event-40"' in first, 'id="event-41"' in first) == (True, False)
    assert "?event=41" in first
    assert ('id="event-60"' in rest, "What was done next" in rest) == (True, False)


def test_the_ribbon_outlives_its_events(pages: Pages) -> None:
    run = told(pages)
    before = pages.text(f"{run.address}/steps")
    run.finish()

    with entered(run.caller):
        forget(now=run.now + timedelta(days=settings.KEEP_TURNS_DAYS + 1))
    page = pages.text(f"{run.address}?event=4")

    assert before.count('class="open bar"') == page.count('class="open bar"') == 4
    assert 'aria-label="Step 3: 1 test run, 1 error, 1 dead end"' in page
    assert "Only the timeline is left" in page
    assert "The details of this step are no longer stored." in page


def test_steps_of_a_personal_session_are_told_to_its_person_alone(
    pages: Pages, member_caller: Caller
) -> None:
    address = f"{told(pages, by=member_caller).address}/steps"

    assert pages.member.get(address).status_code == 200
    for asked in (address, f"{address}?event=1", f"{address}?event=11"):
        refused = pages.owner.get(asked)
        assert (refused.status_code, b"basket.py" in refused.content) == (404, False)


def test_a_memory_that_one_may_not_see_is_not_counted_among_what_was_given(pages: Pages) -> None:
    run = told(pages, shared=True)
    pages.give(run, "My own note about carts.", scope="personal")
    address = f"{run.address}/steps"

    own, foreign = pages.text(address), pages.text(address, pages.member)
    opened = pages.text(f"{address}?event=4", pages.member)

    assert "1 memory given" in own
    assert "memory given" not in foreign + opened
    assert "My own note" not in foreign + opened
