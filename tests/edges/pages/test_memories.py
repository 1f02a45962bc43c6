"""The memory browser: the query box, verbs, correction, history; memories of no project too."""

from datetime import UTC, datetime

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from frontend.presenters import memory_list
from memory.index.models import EmbeddingModel
from memory.intake.actions.revise import revise
from memory.records.models import MemoryLink
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX, remembered, verb
from tests.edges.pages.session_pages import Pages

LIST = "/o/acme/p/shop/memories"


def _now(caller: Caller, memory: MemoryView) -> MemoryView:
    with entered(caller):
        return memories.get(caller=caller, memory_id=memory.id, now=datetime.now(UTC))


def test_a_search_tells_what_each_step_kept(pages: Pages, memory: MemoryView) -> None:
    bread, refresh = {"q": "bread refresh baking oven flour sugar butter"}, "token refresh redis"
    page, silent, open_ = (
        pages.owner.get(LIST, query).text
        for query in ({"q": refresh, "why": "1"}, bread, {**bread, "anyway": "1", "why": "1"})
    )
    with entered(pages.caller), tenancy.unit():
        EmbeddingModel.objects.update(key="gone/model")
    missing = pages.owner.get(LIST, {"q": refresh}).text

    for text in ("Why this order", "by words: 1 of 1", "1 of 1 shown", "shown from"):
        assert text in page
    for text in ("No results", "Show the closest match anyway"):
        assert text in silent
    for text in ("Token refresh", "row withheld", "Agents do not get it"):
        assert text in open_
    assert "keyword search only" in missing


def test_a_file_narrows_a_search_before_its_limit(
    pages: Pages, memory: MemoryView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_list, "SEARCH_SIZE", 1)
    other = "The oven of the bakery lets token refresh wait."
    remembered(pages.caller, other, related_files=("src/bakery/Oven.py",))

    page = pages.owner.get(LIST, {"q": "token refresh redis file:bakery/Ov", "anyway": "1"})

    assert "oven of the bakery" in page.text


def test_a_filter_that_is_none_says_what_would_be(pages: Pages, memory: MemoryView) -> None:
    for query, hint in (
        ("is:purple", "Use one of: active"),
        ("type:nothing", "Use one of: identity"),
        ("conf:>7", "Write conf:&gt;0.7"),
        ("tag:", "Write something after tag:"),
    ):
        response = pages.owner.get(LIST, {"q": query})
        assert response.status_code == 422
        assert hint in response.text
    for moment in ("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2024-01-01", "x"):
        response = pages.owner.get(LIST, {"after": f"{moment}~{memory.id}"})
        assert response.status_code == 200
        assert ("Token refresh" in response.text) == (moment != "2024-01-01")


def test_the_list_shows_text_that_the_filter_lets_through(pages: Pages, memory: MemoryView) -> None:
    remembered(
        pages.caller, "The banner <script>alert(1)</script> breaks in `Safari <16>` sometimes."
    )

    every = pages.owner.get(LIST).text
    some = pages.owner.get(LIST, {"q": "type:gotcha"}).text

    assert "<script>alert(1)" not in every
    assert "<code>Safari &lt;16&gt;</code>" in every
    assert ["Token refresh" in some, "Safari" in some, "1 memory" in some] == [True, False, True]
    for query in ("\x00", '"', "a" * 5_000, "is:stale" * 40, "%s{{ x }}", "😀"):
        assert pages.owner.get(LIST, {"q": query}).status_code in {200, 422}


def test_a_memory_is_peeked_at_given_and_compared(pages: Pages, memory: MemoryView) -> None:
    form = {"content": memory.content.replace("silently", "loudly")}

    page = pages.owner.get(LIST, {"peek": str(memory.id)}).text
    compared = pages.owner.post(verb(memory.id, "diff"), form).text

    assert f'data-memory="{memory.id}"' in page
    assert "split open" in page
    assert "<del>silently</del><ins>loudly</ins>" in compared
    assert pages.owner.get(f"{LIST}/{memory.id}.json").json()["content"] == memory.content
    assert memory.content in pages.owner.get(f"{LIST}/{memory.id}.md").text


def test_earlier_version_can_come_back(pages: Pages, memory: MemoryView) -> None:
    changes = {"content": "Token refresh fails when the moon is full."}
    now = datetime.now(UTC)
    with entered(pages.caller):
        revise(caller=pages.caller, memory_id=memory.id, changes=changes, if_version=1, now=now)

    pages.owner.post(verb(memory.id, "versions/1"))

    assert _now(pages.caller, memory).content == memory.content


def test_selection_is_confirmed_at_once(pages: Pages, memory: MemoryView) -> None:
    second = remembered(pages.caller, "Auth tests hang without a Redis address in the environment.")
    pages.owner.post(f"{LIST}/bulk", {"memory": [memory.id, second.id], "verb": "confirm"})

    assert {_now(pages.caller, one).confirmations for one in (memory, second)} == {1}


PAGES_OF_ONE = ("confirm", "pin", "unpin", "restore", "correct", "archive", "diff", "versions/1")


def test_memory_of_another_place_has_no_verbs_here(pages: Pages) -> None:
    elsewhere = remembered(pages.caller, project=None, scope="personal")
    form = {"content": "Token refresh fails silently when the cache is away.", "kind": "wrong"}

    for name in PAGES_OF_ONE:
        for headers in ({}, HTMX):
            response = pages.owner.post(verb(elsewhere.id, name), form, **headers)
            assert (name, response.status_code) == (name, 404)
    assert _now(pages.caller, elsewhere).updated_at == elsewhere.updated_at


def test_correcting_says_who_is_affected(pages: Pages, memory: MemoryView) -> None:
    second = remembered(pages.caller, "Auth tests hang without a Redis address in the environment.")
    with entered(pages.caller), tenancy.unit():
        MemoryLink.objects.create(source_id=second.id, target_id=memory.id, kind="derive")
    form = {"content": "Token refresh fails loudly when Redis is unreachable.", "kind": "wrong"}

    page = pages.owner.get(verb(memory.id, "correct"), **HTMX).text
    response = pages.owner.post(verb(memory.id, "correct"), form, **HTMX)

    for text in ("1 memory derives from it", second.citation, 'name="scope"'):
        assert text in page
    old = _now(pages.caller, memory)
    assert response.status_code == 200
    assert (old.status, old.content) == ("superseded", memory.content)


RULE = "Invoices are numbered by the ledger alone, whatever a shop would like."


@pytest.fixture
def rule(shop: str, caller: Caller) -> MemoryView:
    """A memory of the whole organization."""
    return remembered(
        caller, RULE, project=None, scope="organization", tags=("invoices",),
        related_files=("ledger/numbers.py",),
    )  # fmt: skip


@pytest.fixture
def rule_page(rule: MemoryView) -> str:
    """The address of its rule_page."""
    return f"/o/acme/memories/{rule.id}"


def test_its_one_page_is_reached_by_its_link_and_by_searches_of_a_project(
    pages: Pages, rule: MemoryView, rule_page: str, memory: MemoryView
) -> None:
    shown = pages.owner.get(rule_page).text
    listed = pages.owner.get(f"{LIST}?q=ledger+invoices").text
    peeked = pages.owner.get(f"{LIST}?peek={rule.id}").text

    assert pages.owner.get(f"/m/{rule.id}")["Location"] == rule_page
    for text in ("ledger/numbers.py", "invoices", f'href="{rule_page}.json"'):
        assert text in shown
    for text in (shown, peeked):
        assert f'action="{rule_page}/confirm"' in text
    assert f'href="{rule_page}"' in listed
    assert pages.owner.get(f"{LIST}/{rule.id}").status_code == 404
    assert pages.owner.get(f"/o/acme/memories/{memory.id}").status_code == 404


def test_its_verbs_work(pages: Pages, rule: MemoryView, rule_page: str) -> None:
    pages.owner.post(f"{rule_page}/confirm", **HTMX)
    pages.owner.post(f"{rule_page}/pin", **HTMX)
    confirmed = _now(pages.caller, rule)
    archived = pages.owner.post(f"{rule_page}/archive", {"reason": "an old rule"}, **HTMX)
    gone = _now(pages.caller, rule)
    pages.owner.post(f"{rule_page}/restore")
    back = _now(pages.caller, rule)
    dialog = pages.owner.get(f"{rule_page}/correct").text
    form = {"content": f"{RULE} Since May.", "kind": "outdated"}
    answer = pages.owner.post(f"{rule_page}/correct", form)

    assert (confirmed.confirmations, confirmed.pinned) == (1, True)
    assert f"{rule_page}/restore" in archived["HX-Trigger"]
    assert (gone.status, back.status) == ("archived", "active")
    assert f'action="{rule_page}/correct"' in dialog
    assert answer["Location"].startswith("/o/acme/memories/")
    assert "Since May." in pages.owner.get(answer["Location"]).text
