"""The memory browser: the query box, verbs, correction, history; memories of no project too."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.test import Client

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

LIST = "/o/acme/p/shop/memories"


def _now(caller: Caller, memory: MemoryView) -> MemoryView:
    with entered(caller):
        return memories.get(caller=caller, memory_id=memory.id, now=datetime.now(UTC))


def test_list_shows_what_the_filter_lets_through(
    owner_pages: Client, memory: MemoryView, caller: Caller
) -> None:
    remembered(caller, "We decided to keep amounts as integers everywhere.", type="decision")

    page = owner_pages.get(LIST, {"q": "type:gotcha"}).content.decode()

    assert "Token refresh" in page
    assert "amounts as integers" not in page
    assert "1 memory" in page


def test_the_funnel_tells_what_each_step_kept(owner_pages: Client, memory: MemoryView) -> None:
    page = owner_pages.get(LIST, {"q": "token refresh redis", "why": "1"}).content.decode()

    assert "Why this order" in page
    assert "by words: 1 of 1" in page
    assert "1 of 1 shown" in page
    assert "shown from" in page


def test_what_is_kept_back_is_shown_when_asked_for(owner_pages: Client, memory: MemoryView) -> None:
    query = {"q": "bread refresh baking oven flour sugar butter"}

    silent = owner_pages.get(LIST, query).content.decode()
    open_ = owner_pages.get(LIST, {**query, "anyway": "1", "why": "1"}).content.decode()

    assert "No results" in silent
    assert "Show the closest match anyway" in silent
    assert "Token refresh" in open_
    assert "row withheld" in open_
    assert "Agents do not get it" in open_


def test_a_file_narrows_a_search_before_its_limit(
    owner_pages: Client, memory: MemoryView, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_list, "SEARCH_SIZE", 1)
    other = "The oven of the bakery lets token refresh wait."
    remembered(caller, other, related_files=("src/bakery/Oven.py",))

    page = owner_pages.get(LIST, {"q": "token refresh redis file:bakery/Ov", "anyway": "1"})

    assert "oven of the bakery" in page.content.decode()


def test_a_search_without_vectors_says_so(
    owner_pages: Client, memory: MemoryView, caller: Caller
) -> None:
    with entered(caller), tenancy.unit():
        EmbeddingModel.objects.update(key="gone/model")

    page = owner_pages.get(LIST, {"q": "token refresh redis"}).content.decode()

    assert "keyword search only" in page


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("is:purple", "Use one of: active"),
        ("type:nothing", "Use one of: identity"),
        ("conf:>7", "Write conf:&gt;0.7"),
        ("tag:", "Write something after tag:"),
    ],
)
def test_filter_that_is_none_says_what_would_be(
    owner_pages: Client, memory: MemoryView, query: str, hint: str
) -> None:
    response = owner_pages.get(LIST, {"q": query})

    assert response.status_code == 422
    assert hint in response.content.decode()


@pytest.mark.parametrize("query", ["\x00", '"', "a" * 5_000, "is:stale" * 40, "%s{{ x }}", "😀"])
def test_odd_query_never_breaks_the_page(
    owner_pages: Client, memory: MemoryView, query: str
) -> None:
    assert owner_pages.get(LIST, {"q": query}).status_code in {200, 422}


def test_statement_is_shown_as_text_whatever_it_contains(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    remembered(caller, "The banner <script>alert(1)</script> breaks in `Safari <16>` sometimes.")

    page = owner_pages.get(LIST).content.decode()

    assert "<script>alert(1)" not in page
    assert "<code>Safari &lt;16&gt;</code>" in page


def test_peek_stands_in_the_address(owner_pages: Client, memory: MemoryView) -> None:
    page = owner_pages.get(LIST, {"peek": str(memory.id)}).content.decode()

    assert f'data-memory="{memory.id}"' in page
    assert "split open" in page


def test_correcting_keeps_the_old_text_readable(
    owner_pages: Client, memory: MemoryView, caller: Caller
) -> None:
    form = {"content": "Token refresh fails loudly when Redis is unreachable.", "kind": "wrong"}

    response = owner_pages.post(verb(memory.id, "correct"), form, **HTMX)

    old = _now(caller, memory)
    assert response.status_code == 200
    assert (old.status, old.content) == ("superseded", memory.content)


def test_difference_marks_the_words(owner_pages: Client, memory: MemoryView) -> None:
    form = {"content": memory.content.replace("silently", "loudly")}

    page = owner_pages.post(verb(memory.id, "diff"), form).content.decode()

    assert "<del>silently</del><ins>loudly</ins>" in page


def test_earlier_version_can_come_back(
    owner_pages: Client, memory: MemoryView, caller: Caller
) -> None:
    changes = {"content": "Token refresh fails when the moon is full."}
    now = datetime.now(UTC)
    with entered(caller):
        revise(caller=caller, memory_id=memory.id, changes=changes, if_version=1, now=now)

    owner_pages.post(verb(memory.id, "versions/1"))

    assert _now(caller, memory).content == memory.content


def test_selection_is_confirmed_at_once(
    owner_pages: Client, memory: MemoryView, caller: Caller
) -> None:
    second = remembered(caller, "Auth tests hang without a Redis address in the environment.")

    owner_pages.post(f"{LIST}/bulk", {"memory": [memory.id, second.id], "verb": "confirm"})

    assert {_now(caller, one).confirmations for one in (memory, second)} == {1}


def test_selection_with_one_that_refuses_changes_none(
    owner_pages: Client, memory: MemoryView, caller: Caller
) -> None:
    chosen = [str(memory.id), str(uuid4())]

    response = owner_pages.post(f"{LIST}/bulk", {"memory": chosen, "verb": "confirm"})

    assert response.status_code == 404
    assert _now(caller, memory).confirmations == 0


@pytest.mark.parametrize(
    "form", [{"verb": "confirm"}, {"verb": "delete", "memory": "x"}, {"memory": ["no-id"]}]
)
def test_odd_selection_is_refused(
    owner_pages: Client, memory: MemoryView, form: dict[str, object]
) -> None:
    assert owner_pages.post(f"{LIST}/bulk", form).status_code == 422


def test_viewer_sees_the_verbs_disabled_and_is_refused(
    viewer_pages: Client, memory: MemoryView, caller: Caller
) -> None:
    page = viewer_pages.get(f"{LIST}/{memory.id}").content.decode()
    response = viewer_pages.post(verb(memory.id, "confirm"), **HTMX)

    assert "Viewers read" in page
    assert response.status_code == 403
    assert _now(caller, memory).confirmations == 0


def test_markdown_and_json_carry_the_statement(owner_pages: Client, memory: MemoryView) -> None:
    as_json = owner_pages.get(f"{LIST}/{memory.id}.json")
    as_markdown = owner_pages.get(f"{LIST}/{memory.id}.md")

    assert as_json.json()["content"] == memory.content
    assert memory.content in as_markdown.content.decode()


PAGES_OF_ONE = ("confirm", "pin", "unpin", "restore", "correct", "archive", "diff", "versions/1")


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
@pytest.mark.parametrize("name", PAGES_OF_ONE)
def test_memory_of_another_place_has_no_verbs_here(
    owner_pages: Client, shop: str, caller: Caller, name: str, headers: dict[str, str]
) -> None:
    elsewhere = remembered(caller, project=None, scope="personal")
    form = {"content": "Token refresh fails silently when the cache is away.", "kind": "wrong"}

    response = owner_pages.post(verb(elsewhere.id, name), form, **headers)

    assert response.status_code == 404
    assert _now(caller, elsewhere).updated_at == elsewhere.updated_at


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2024-01-01", "x"]
)
def test_cursor_that_is_no_moment_starts_at_the_beginning(
    owner_pages: Client, memory: MemoryView, moment: str
) -> None:
    response = owner_pages.get(LIST, {"after": f"{moment}~{memory.id}"})

    assert response.status_code == 200
    assert ("Token refresh" in response.content.decode()) == (moment != "2024-01-01")


def test_correcting_says_who_is_affected_and_who_sees_it(
    owner_pages: Client, memory: MemoryView, caller: Caller
) -> None:
    second = remembered(caller, "Auth tests hang without a Redis address in the environment.")
    with entered(caller), tenancy.unit():
        MemoryLink.objects.create(source_id=second.id, target_id=memory.id, kind="derive")

    page = owner_pages.get(verb(memory.id, "correct"), **HTMX).content.decode()

    assert "1 memory derives from it" in page
    assert second.citation in page
    assert 'name="scope"' in page


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


def test_its_link_leads_to_its_page(owner_pages: Client, rule: MemoryView, rule_page: str) -> None:
    assert owner_pages.get(f"/m/{rule.id}")["Location"] == rule_page
    shown = owner_pages.get(rule_page).content.decode()

    for text in (
        "ledger/numbers.py",
        "invoices",
        f'action="{rule_page}/confirm"',
        f'href="{rule_page}.json"',
    ):
        assert text in shown


def test_its_verbs_work(
    owner_pages: Client, rule: MemoryView, rule_page: str, caller: Caller
) -> None:
    owner_pages.post(f"{rule_page}/confirm", **HTMX)
    owner_pages.post(f"{rule_page}/pin", **HTMX)
    confirmed = _now(caller, rule)
    archived = owner_pages.post(f"{rule_page}/archive", {"reason": "an old rule"}, **HTMX)
    gone = _now(caller, rule)
    owner_pages.post(f"{rule_page}/restore")

    assert (confirmed.confirmations, confirmed.pinned) == (1, True)
    assert f"{rule_page}/restore" in archived["HX-Trigger"]
    assert (gone.status, _now(caller, rule).status) == ("archived", "active")


def test_it_is_corrected_on_its_page(owner_pages: Client, rule_page: str) -> None:
    assert (
        f'action="{rule_page}/correct"' in owner_pages.get(f"{rule_page}/correct").content.decode()
    )
    form = {"content": f"{RULE} Since May.", "kind": "outdated"}

    answer = owner_pages.post(f"{rule_page}/correct", form)

    assert answer["Location"].startswith("/o/acme/memories/")
    assert "Since May." in owner_pages.get(answer["Location"]).content.decode()


def test_searches_of_a_project_show_it_too(
    owner_pages: Client, rule: MemoryView, rule_page: str
) -> None:
    listed = owner_pages.get("/o/acme/p/shop/memories?q=ledger+invoices").content.decode()
    peeked = owner_pages.get(f"/o/acme/p/shop/memories?peek={rule.id}")

    assert f'href="{rule_page}"' in listed
    assert peeked.status_code == 200
    assert f'action="{rule_page}/confirm"' in peeked.content.decode()


def test_each_memory_has_one_address(
    owner_pages: Client, rule: MemoryView, memory: MemoryView
) -> None:
    assert owner_pages.get(f"/o/acme/p/shop/memories/{rule.id}").status_code == 404
    assert owner_pages.get(f"/o/acme/memories/{memory.id}").status_code == 404
