"""Pages of sessions: what was said and done, and how memories were learned."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import User
from frontend.views.sessions import LIVE
from memory.index import queries as index_queries
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.sessions.actions.lifecycle import forget
from memory.sessions.models import GivenOut
from tests.edges.pages.conftest import HTMX
from tests.edges.pages.session_pages import PageRun, Pages, toast_of
from tests.support import memories
from tests.support.agent_runs import DECISION, in_order
from tests.support.memories import CARTS, PARSER, REDIS
from tests.support.stories import ROOT, Story

PASSWORD = "hunter2Xq9!zLm4"
SECRET = f"The password of the mill is `{PASSWORD}`, <b>please</b> keep it."


def test_the_list_says_who_did_what_how_far_it_is_and_nothing_of_another_project(
    pages: Pages,
) -> None:
    pages.opened(DECISION, thread="licenses").finish()
    pages.opened(seconds=60)

    page = pages.text(f"{pages.shop}sessions")

    assert page.count("<tr><td>") == 2
    assert "licenses" in page
    assert "In progress" in page
    assert 'hx-trigger="every 10s"' in page
    assert "No session in this state" in pages.text(f"{pages.shop}sessions?state=ended")
    assert pages.owner.get(pages.opened(project=None).address).status_code == 404


def test_a_session_shows_what_was_said_without_secrets_and_what_was_remembered(
    pages: Pages,
) -> None:
    run = pages.opened(DECISION, SECRET)
    run.finish()

    page = pages.text(run.address)

    assert "hunter2" not in page
    assert "1 secret taken out" in page
    assert "&lt;b&gt;please&lt;/b&gt;" in page
    assert "1 remembered" in page
    assert page.count(DECISION) == 2
    assert 'href="?after=0#turn-1"' in page
    for place in ("x", "9" * 40, "-1"):
        assert DECISION in pages.text(f"{run.address}?after={place}"), place


def test_turns_are_shown_page_by_page(pages: Pages) -> None:
    run = pages.opened(*(f"Line {number}." for number in range(60)))

    first, rest, beyond = (
        pages.text(f"{run.address}{query}") for query in ("", "?after=50", "?after=60")
    )

    assert ("Line 49." in first, "Line 50." in first, "?after=50" in first) == (True, False, True)
    assert ("Line 50." in rest, "From the beginning" in rest) == (True, True)
    assert "There is nothing after that." in beyond


def test_who_opened_it_ends_it_and_who_may_not_delete_is_not_asked(pages: Pages) -> None:
    run = pages.opened(DECISION, shared=True)
    right = {"typed": run.id.hex[-8:]}

    seen = pages.text(run.address, pages.member)
    kept = [one.post(f"{run.address}/delete", right) for one in (pages.member, pages.viewer)]
    answers = [one.post(f"{run.address}/end").status_code for one in (pages.member, pages.owner)]

    assert "Only the person who opened it can end it." in seen
    assert "Delete for good" not in seen
    assert ([one.status_code for one in kept], answers) == ([403, 403], [403, 302])
    page = pages.text(run.address)
    assert "The session has ended; memories are being extracted." in page
    assert "Its job: Waiting" in page


def test_it_is_deleted_for_good_once_its_short_name_is_typed(pages: Pages) -> None:
    run = pages.opened(DECISION)
    run.finish()

    asked = pages.text(f"{run.address}/delete")
    wrong, done = (
        pages.owner.post(f"{run.address}/delete", {"typed": typed, "memories": "delete"})
        for typed in ("x", run.id.hex[-8:])
    )

    assert "1 memory was taken from it" in asked
    assert (wrong.status_code, done.status_code) == (422, 302)
    assert 'value="delete" checked' in wrong.text
    assert pages.owner.get(run.address).status_code == 404
    assert DECISION not in pages.text(f"{pages.shop}memories")


@pytest.fixture
def run(pages: Pages) -> PageRun:
    """A shared session of the owner's."""
    return pages.opened(shared=True)


def test_what_waits_stands_first_with_its_keys_and_the_inbox_leads_to_it(
    pages: Pages, run: PageRun
) -> None:
    pages.came(run, REDIS, CARTS)

    page, inbox = pages.text(run.address), pages.text(f"{pages.shop}inbox")

    assert "2 wait" in page
    assert page.count('data-key="y"') == page.count('data-key="n"') == 2
    assert "Save all confirmed" in page
    assert "Review later" in page
    assert f'href="{run.address}#summary"' in inbox
    assert "By session" in inbox


def test_one_memory_or_all_that_waits_is_kept_and_that_is_undone(
    pages: Pages, run: PageRun
) -> None:
    ids, decide = pages.came(run, REDIS, CARTS, PARSER), f"{run.address}/decide"

    kept = pages.owner.post(decide, {"verdict": "keep", "memory": str(ids[0])}, **HTMX)
    after, toast = pages.states(*ids), toast_of(kept)
    undone = pages.owner.post(toast["undo"], **HTMX)
    back = pages.states(*ids)
    fewer, done = (
        pages.owner.post(decide, {"verdict": "all", "count": count}, **HTMX) for count in "23"
    )
    of_all, toast_of_all = pages.states(*ids), toast_of(done)
    pages.owner.post(toast_of_all["undo"], **HTMX)

    waits, decided = ("active", True), ("active", False)
    assert (toast["text"], after) == ("Kept.", [decided, waits, waits])
    assert (kept["HX-Retarget"], undone["HX-Retarget"]) == ("#summary", "#summary")
    assert back == pages.states(*ids) == [waits] * 3
    assert "3 wait" in undone.text
    assert fewer.status_code == 409
    assert (toast_of_all["text"], of_all) == ("3 memories decided.", [decided] * 3)


def test_a_memory_is_corrected_in_a_dialog_and_the_correction_is_undone(
    pages: Pages, run: PageRun
) -> None:
    (first,) = pages.came(run, REDIS)
    address = f"{run.address}/decide"
    right = "Token refresh raises when Redis is unreachable, since auth/refresh.py catches it."

    asked = pages.text(f"{address}?memory={first}")
    empty, done = (
        pages.owner.post(
            address, {"verdict": "edit", "memory": str(first), "content": content}, **HTMX
        )
        for content in ("", right)
    )
    status = pages.states(first)[0][0]
    pages.owner.post(toast_of(done)["undo"], **HTMX)

    assert REDIS in asked
    assert (empty.status_code, done.status_code, status) == (422, 200, "superseded")
    assert pages.states(first) == [("active", True)]


def test_a_memory_that_one_may_not_see_is_neither_counted_nor_decided(
    pages: Pages, run: PageRun, owner: User
) -> None:
    first, second = pages.came(run, REDIS, CARTS)
    with entered(pages.caller), tenancy.unit():
        Memory.objects.filter(pk=second).update(audience=owner.pk)
    address = f"{run.address}/decide"

    page = pages.text(run.address, pages.member)
    refused = pages.member.post(address, {"verdict": "keep", "memory": str(second)})
    edited = pages.member.get(f"{address}?memory={second}")

    assert ("1 waits" in page, CARTS in page) == (True, False)
    assert (refused.status_code, edited.status_code) == (422, 404)
    assert pages.states(first, second) == [("active", True)] * 2


def test_the_inbox_names_no_session_of_somebody_else(pages: Pages, member_caller: Caller) -> None:
    own = pages.opened(by=member_caller, agent="their-own-agent")
    pages.came(own, REDIS)

    inbox = pages.text(f"{pages.shop}inbox")

    assert ("their-own-agent" in inbox, str(own.id) in inbox) == (False, False)
    assert REDIS.partition(";")[0] in inbox


LOCKED = "Carts are locked before they are priced."


def told(pages: Pages, story: Story | None = None, by: Caller | None = None, **new: Any) -> PageRun:
    """Open a session of the project and tell a story of it, two seconds an event.

    A read, an edit, a failing test, an approach that is given up, and another read.
    """
    if story is None:
        story = Story().read("cart.py").edit("cart.py", "a", "b").fails("pytest -q", "1 failed")
        story.say("Locks on a cart: this approach won't work.")
        story.read("basket.py", f"password: `{PASSWORD}`")
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
    assert PASSWORD not in last
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


BRANCH = "fix-the-token-refresh"
REST = {"sequence": 13, "step": 5, "file": "middleware/auth.ts", "line": 118}
HIDDEN = "One that is gone, or that you may not see"


def change(pages: Pages, memory: MemoryView, **fields: Any) -> None:
    """Set columns of a memory."""
    with entered(pages.caller), tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(**fields)
        index_queries.sync_filters(memory_ids=(memory.id,))


def learned(pages: Pages, memory: MemoryView, *, shared: bool, sign: str) -> PageRun:
    """Let a memory be learned in a session of the owner's, by a signal or in a turn."""
    run = pages.opened(branch=BRANCH, shared=shared)
    kept = {"key": "error_retry:x", "memory_id": str(memory.id), "sessions": 3, "evidence": [REST]}
    with entered(pages.caller):
        run.update(observed={"promoted": [kept]})
    source = f"session:{run.id}#{sign}"
    change(pages, memory, session_id=run.id, source_uri=source, source_line=2)
    return run


def page_of(pages: Pages, memory: MemoryView, client: Any = None) -> str:
    """Return the page of a memory."""
    return pages.text(f"{pages.shop}memories/{memory.id}", client)


def test_a_signal_is_told_with_its_session_events_and_lines(
    pages: Pages, memory: MemoryView
) -> None:
    run = learned(pages, memory, shared=True, sign="error_retry-1234")

    page = page_of(pages, memory, pages.viewer)

    assert f'href="{run.address}">claude-code</a>' in page
    assert BRANCH in page
    assert "An error and its fix" in page
    assert "3 sessions show it" in page
    assert f'href="{run.address}?event=13#steps">event 13</a>' in page
    assert "<code>middleware/auth.ts:118</code>" in page
    change(pages, memory, session_id=None)  # an origin that only names a session proves nothing
    page = page_of(pages, memory)
    assert (BRANCH in page, HIDDEN in page) == (False, True)


def test_a_turn_is_told_with_its_line_and_a_source_of_somebody_s_own_words_as_it_is(
    pages: Pages, memory: MemoryView
) -> None:
    run = learned(pages, memory, shared=False, sign="turn-4")

    page = page_of(pages, memory)

    assert f"{run.address}?after=3#turn-4" in page
    assert "line 2" in page
    assert "An error and its fix" not in page
    for source in ("session:notes from monday", "session:", "session:12#turn-4"):
        change(pages, memory, source_uri=source, source_line=None, session_id=None)

        assert f"<dt>Source</dt><dd><code>{source}</code></dd>" in page_of(pages, memory)


def test_page_and_inbox_tell_nothing_of_a_session_that_one_may_not_see(
    pages: Pages, memory: MemoryView
) -> None:
    change(pages, memory, needs_review=True)
    inbox = f"{pages.shop}inbox?peek={memory.id}"
    for sign in ("turn-4", "error_retry-1234"):
        run = learned(pages, memory, shared=False, sign=sign)

        for page in (page_of(pages, memory, pages.viewer), pages.text(inbox, pages.viewer)):
            assert HIDDEN in page
            hidden = (str(run.id), BRANCH, "An error and its fix", "event 13", "turn 4", ":118")
            assert [one for one in hidden if one in page] == []
    own = pages.text(inbox)
    for text in (f'href="{run.address}?event=13#steps">event 13</a>', "An error and its fix"):
        assert text in own


def test_a_dead_end_that_was_entered_again_is_named_by_the_session_and_counted_by_the_memory(
    pages: Pages,
) -> None:
    command = "npm audit fix --force"
    with entered(pages.caller):
        memory = memories.stored(
            pages.caller, pages.now - timedelta(days=1), f"Running `{command}` broke the lock.",
            project="shop", type="dead_end",
            attributes={"approach": f"running `{command}`", "why_it_failed": "The lock file."},
        )  # fmt: skip
    run = pages.opened(cwd="/home/ana/shop", shared=True)
    ran = {"kind": "tool_call", "name": "Bash", "args": {"command": command}}
    with entered(pages.caller):
        failed = {"kind": "tool_result", "name": "Bash", "is_error": True, "text": "ERR!"}
        run.does(*in_order(ran, failed, {"kind": "session_complete", "outcome": "success"}))
        run.finalized()

    page, counted = pages.text(run.address), page_of(pages, memory)

    assert "Known dead ends that were entered again" in page
    assert str(memory.id) in page
    assert "had not been told" in page
    assert "Entered again" in counted
    assert "by 1 session, 0 of them told before" in counted
