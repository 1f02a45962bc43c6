"""The pages of sessions: the list, one with what was said, and deciding about what it came to."""

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import User
from memory.records.models import Memory
from tests.edges.pages.session_pages import AS_HTMX, PageRun, Pages, toast_of
from tests.support.agent_runs import DECISION
from tests.support.memories import CARTS, PARSER, REDIS

SECRET = "The password of the mill is `hunter2Xq9!zLm4`, <b>please</b> keep it."


def test_the_list_says_who_did_what_and_how_far_it_is(pages: Pages) -> None:
    pages.opened(DECISION, thread="licenses").finish()
    pages.opened(seconds=60)

    page = pages.text(f"{pages.shop}sessions")

    assert page.count("<tr><td>") == 2
    assert "licenses" in page
    assert "In progress" in page
    assert 'hx-trigger="every 10s"' in page
    assert "No session in this state" in pages.text(f"{pages.shop}sessions?state=ended")


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


def test_who_opened_it_ends_it(pages: Pages) -> None:
    run = pages.opened(DECISION, shared=True)

    seen = pages.text(run.address, pages.member)
    answers = [one.post(f"{run.address}/end").status_code for one in (pages.member, pages.owner)]

    assert "Only the person who opened it can end it." in seen
    assert answers == [403, 302]
    page = pages.text(run.address)
    assert "The session has ended; memories are being extracted." in page
    assert "Its job: Waiting" in page


def test_a_session_of_another_project_is_not_here(pages: Pages) -> None:
    assert pages.owner.get(pages.opened(project=None).address).status_code == 404


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


def test_who_may_not_delete_is_not_asked(pages: Pages) -> None:
    run = pages.opened(DECISION, shared=True)
    right = {"typed": run.id.hex[-8:]}

    assert "Delete for good" not in pages.text(run.address, pages.member)
    for client in (pages.member, pages.viewer):
        assert client.post(f"{run.address}/delete", right).status_code == 403


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


def test_one_memory_is_kept_and_that_is_undone(pages: Pages, run: PageRun) -> None:
    first, second = pages.came(run, REDIS, CARTS)

    sent = {"verdict": "keep", "memory": str(first)}
    kept = pages.owner.post(f"{run.address}/decide", sent, **AS_HTMX)
    after, toast = pages.states(first, second), toast_of(kept)
    undone = pages.owner.post(toast["undo"], **AS_HTMX)

    assert (toast["text"], after) == ("Kept.", [("active", False), ("active", True)])
    assert (kept["HX-Retarget"], undone["HX-Retarget"]) == ("#summary", "#summary")
    assert pages.states(first) == [("active", True)]
    assert "2 wait" in undone.text


def test_a_memory_is_corrected_in_a_dialog_and_the_correction_is_undone(
    pages: Pages, run: PageRun
) -> None:
    (first,) = pages.came(run, REDIS)
    address = f"{run.address}/decide"
    right = "Token refresh raises when Redis is unreachable, since auth/refresh.py catches it."

    asked = pages.text(f"{address}?memory={first}")
    empty, done = (
        pages.owner.post(
            address, {"verdict": "edit", "memory": str(first), "content": content}, **AS_HTMX
        )
        for content in ("", right)
    )
    status = pages.states(first)[0][0]
    pages.owner.post(toast_of(done)["undo"], **AS_HTMX)

    assert REDIS in asked
    assert (empty.status_code, done.status_code, status) == (422, 200, "superseded")
    assert pages.states(first) == [("active", True)]


def test_all_that_waits_is_kept_and_undone_at_once(pages: Pages, run: PageRun) -> None:
    ids = pages.came(run, REDIS, CARTS, PARSER)

    fewer, done = (
        pages.owner.post(f"{run.address}/decide", {"verdict": "all", "count": count}, **AS_HTMX)
        for count in "23"
    )
    kept, toast = pages.states(*ids), toast_of(done)
    pages.owner.post(toast["undo"], **AS_HTMX)

    assert fewer.status_code == 409
    assert (toast["text"], kept) == ("3 memories decided.", [("active", False)] * 3)
    assert pages.states(*ids) == [("active", True)] * 3


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
