"""The memory browser: query box, verbs, correction, history, links, topics, names."""

from datetime import UTC, datetime
from urllib.parse import unquote_plus
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.errors import Conflict, NotFound, RoleNotSufficient
from frontend.presenters import memory_list
from memory.index.models import EmbeddingModel
from memory.intake.actions.revise import revise
from memory.records.models import Memory, MemoryLink
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import MemoryEdge, undo, unlink
from memory.review.queries import inbox
from memory.taxonomy import LinkKind
from memory.topics import queries as topics_queries
from memory.topics.actions import sort_topics
from teams.models import AuditEntry, Change
from tests.edges.pages.conftest import HTMX, remembered, verb
from tests.edges.pages.session_pages import Pages, toast_of
from tests.support.memories import as_role

LIST = "/o/acme/p/shop/memories"
HANGS = "Auth tests hang without a Redis address in the environment."


def test_a_search_tells_what_each_step_kept(pages: Pages, memory: MemoryView) -> None:
    bread, refresh = {"q": "bread refresh baking oven flour sugar butter"}, "token refresh redis"
    page, silent, open_ = (
        pages.owner.get(LIST, query).text
        for query in ({"q": refresh, "why": "1"}, bread, {**bread, "anyway": "1", "why": "1"})
    )
    with entered(pages.caller), tenancy.unit():
        EmbeddingModel.objects.update(key="gone/model")
    missing = pages.owner.get(LIST, {"q": refresh}).text

    for text in ("Why this order", "by words: 1 of 1", "1 of 1 shown", "relevant from"):
        assert text in page
    for text in ("No results", "Show the closest match anyway"):
        assert text in silent
    for text in ("Token refresh", "row withheld", "Agents do not get it"):
        assert text in open_
    assert "keyword search only" in missing


def test_a_memory_is_deleted_for_good_by_who_types_its_name(
    pages: Pages, memory: MemoryView
) -> None:
    address = verb(memory.id, "erase")
    wrong = pages.owner.post(address, {"typed": "something"}, **HTMX)
    still_there = pages.owner.get(f"{LIST}/{memory.id}").status_code

    done = pages.owner.post(address, {"typed": memory.id.hex[-8:].upper()}, **HTMX)

    assert (wrong.status_code, still_there, done.status_code) == (422, 200, 200)
    assert f'action="{LIST}"' in done.text
    assert pages.owner.get(f"{LIST}/{memory.id}").status_code == 404


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


def test_earlier_version_can_come_back_and_a_selection_is_confirmed_at_once(
    pages: Pages, memory: MemoryView
) -> None:
    second = remembered(pages.caller, HANGS)
    changes = {"content": "Token refresh fails when the moon is full."}
    now = datetime.now(UTC)
    with entered(pages.caller):
        revise(caller=pages.caller, memory_id=memory.id, changes=changes, if_version=1, now=now)

    pages.owner.post(verb(memory.id, "versions/1"))
    back = pages.newest(memory)
    pages.owner.post(f"{LIST}/bulk", {"memory": [memory.id, second.id], "verb": "confirm"})

    assert (back.content, back.confirmations) == (memory.content, 0)
    assert {pages.newest(one).confirmations for one in (memory, second)} == {1}


PAGES_OF_ONE = ("confirm", "pin", "unpin", "restore", "correct", "archive", "diff", "versions/1")


def test_memory_of_another_place_has_no_verbs_here(pages: Pages) -> None:
    elsewhere = remembered(pages.caller, project=None, scope="personal")
    form = {"content": "Token refresh fails silently when the cache is away.", "kind": "wrong"}

    for name in PAGES_OF_ONE:
        for headers in ({}, HTMX):
            response = pages.owner.post(verb(elsewhere.id, name), form, **headers)
            assert (name, response.status_code) == (name, 404)
    assert pages.newest(elsewhere).updated_at == elsewhere.updated_at


def test_correcting_says_who_is_affected(pages: Pages, memory: MemoryView) -> None:
    second = remembered(pages.caller, HANGS)
    with entered(pages.caller), tenancy.unit():
        MemoryLink.objects.create(source_id=second.id, target_id=memory.id, kind="derive")
    form = {"content": "Token refresh fails loudly when Redis is unreachable.", "kind": "wrong"}

    page = pages.owner.get(verb(memory.id, "correct"), **HTMX).text
    response = pages.owner.post(verb(memory.id, "correct"), form, **HTMX)

    for text in ("1 memory derives from it", second.citation, 'name="scope"'):
        assert text in page
    old = pages.newest(memory)
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


def test_its_one_page_is_reached_by_its_link_and_by_searches_of_a_project(
    pages: Pages, rule: MemoryView, memory: MemoryView
) -> None:
    rule_page = f"/o/acme/memories/{rule.id}"
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


def test_its_verbs_work(pages: Pages, rule: MemoryView) -> None:
    rule_page = f"/o/acme/memories/{rule.id}"
    pages.owner.post(f"{rule_page}/confirm", **HTMX)
    pages.owner.post(f"{rule_page}/pin", **HTMX)
    confirmed = pages.newest(rule)
    archived = pages.owner.post(f"{rule_page}/archive", {"reason": "an old rule"}, **HTMX)
    gone = pages.newest(rule)
    pages.owner.post(f"{rule_page}/restore")
    back = pages.newest(rule)
    dialog = pages.owner.get(f"{rule_page}/correct").text
    form = {"content": f"{RULE} Since May.", "kind": "outdated"}
    answer = pages.owner.post(f"{rule_page}/correct", form)

    assert (confirmed.confirmations, confirmed.pinned) == (1, True)
    assert f"{rule_page}/restore" in archived["HX-Trigger"]
    assert (gone.status, back.status) == ("archived", "active")
    assert f'action="{rule_page}/correct"' in dialog
    assert answer["Location"].startswith("/o/acme/memories/")
    assert "Since May." in pages.owner.get(answer["Location"]).text


OTHER = "We chose Postgres advisory locks for merging carts instead of optimistic retries."
NOW = datetime.now(UTC)
Two = tuple[MemoryView, MemoryView]


def linked(caller: Caller, source: MemoryView, target: MemoryView, **given: object) -> None:
    """Let a judge have found that one memory extends another."""
    fields = {"kind": "extend", "automatic": True, "confidence": 0.7, "cosine": 0.8, **given}
    with entered(caller), tenancy.unit():
        MemoryLink.objects.create(
            source_id=source.id, target_id=target.id, description="It adds a case.", **fields
        )


def edges(caller: Caller) -> list[dict[str, object]]:
    """Return every link with all of its fields but the id."""
    with entered(caller), tenancy.unit():
        found = list(MemoryLink.objects.order_by("kind", "id").values())
    return [{name: value for name, value in one.items() if name != "id"} for one in found]


def edge(other: MemoryView, kind: LinkKind = LinkKind.EXTEND) -> MemoryEdge:
    return MemoryEdge(other_id=other.id, kind=kind, outgoing=True)


@pytest.fixture
def pair(shop: str, caller: Caller) -> Two:
    """Two memories of which one extends the other."""
    both = (remembered(caller), remembered(caller, OTHER))
    linked(caller, *both)
    return both


def test_a_link_is_taken_back_on_the_page_from_either_end_and_put_back_as_it_was(
    pages: Pages, pair: Two
) -> None:
    source, target = pair
    before, address = edges(pages.caller), f"{LIST}/{source.id}"
    form = {"other": str(target.id), "kind": "extend", "outgoing": "1"}

    page = pages.owner.get(address).text
    done = pages.owner.post(f"{address}/unlink", form, **HTMX)
    left = edges(pages.caller)
    pages.owner.post(toast_of(done)["undo"], **HTMX)

    assert f'action="{address}/unlink"' in page
    assert f"{address}/unlink" not in done.text.replace(f"{address}/unlink/", "")
    assert (left, edges(pages.caller)) == ([], before)
    back = {"other": str(source.id), "kind": "extend", "outgoing": "0"}  # from its other end
    pages.owner.post(f"{LIST}/{target.id}/unlink", back, **HTMX)
    assert edges(pages.caller) == []


def test_neither_memory_nor_the_week_changes_and_nothing_is_put_back_to_one_that_is_gone(
    pages: Pages, pair: Two
) -> None:
    with entered(pages.caller):
        made = unlink(caller=pages.caller, memory_id=pair[0].id, edge=edge(pair[1]), now=NOW)
        week = inbox.count_decided(caller=pages.caller, project="shop", now=NOW)
    versions = {pages.newest(one).version for one in pair}
    with entered(pages.caller):
        with tenancy.unit():
            Memory.objects.filter(pk=pair[1].id).delete()

        with pytest.raises(NotFound):
            undo(caller=pages.caller, review_id=made.review_id, now=NOW)

    assert (versions, week["total"]) == ({1}, 0)


def test_a_link_that_replaces_or_contradicts_is_not_taken_back_alone_and_viewers_take_nothing_back(
    pages: Pages, member_caller: Caller, pair: Two
) -> None:
    viewer, asked = as_role(member_caller, Role.VIEWER), {"memory_id": pair[0].id, "now": NOW}
    kinds = ("supersedes", "contradicts", "conflicts_with")
    for kind in kinds:
        linked(pages.caller, *pair, kind=kind)

    for kind in kinds:
        with entered(pages.caller), pytest.raises(Conflict):
            unlink(caller=pages.caller, edge=edge(pair[1], LinkKind(kind)), **asked)
    with entered(viewer), pytest.raises(RoleNotSufficient):
        unlink(caller=viewer, edge=edge(pair[1]), **asked)

    assert len(edges(pages.caller)) == 4


def test_nobody_is_told_of_a_link_to_a_memory_that_they_do_not_see(
    pages: Pages, caller: Caller, member_caller: Caller, other_caller: Caller
) -> None:
    mine, shared = remembered(caller, scope="personal"), remembered(caller, OTHER)
    linked(caller, mine, shared)
    back, nowhere = (
        MemoryEdge(other_id=one, kind=LinkKind.EXTEND, outgoing=False) for one in (mine.id, uuid4())
    )

    said = set()
    for each in (back, nowhere):
        with entered(member_caller), pytest.raises(NotFound) as refused:
            unlink(caller=member_caller, memory_id=shared.id, edge=each, now=NOW)
        said.add(refused.value.detail)
    with entered(other_caller), pytest.raises(NotFound):
        unlink(caller=other_caller, memory_id=shared.id, edge=back, now=NOW)
    with entered(member_caller):
        assert memories.links(caller=member_caller, memory_id=shared.id) == ()
    for other in (pages.viewer, pages.stranger):
        form = {"other": str(mine.id), "kind": "extend", "outgoing": "0"}
        assert other.post(f"{LIST}/{shared.id}/unlink", form).status_code in {403, 404}

    assert (len(said), len(edges(caller))) == (1, 1)


def test_no_log_or_feed_says_what_a_personal_memory_was_linked_to(pages: Pages) -> None:
    mine, shared = remembered(pages.caller, scope="personal"), remembered(pages.caller, OTHER)
    linked(pages.caller, mine, shared)

    with entered(pages.caller):
        unlink(caller=pages.caller, memory_id=mine.id, edge=edge(shared), now=NOW)
        with tenancy.unit():
            entry = AuditEntry.objects.filter(act="memory.unlinked").get()
            told = Change.objects.filter(kind="memory.changed").get()
            personal = Memory.objects.get(pk=mine.id).audience

    assert (entry.object_id, entry.details) == (str(mine.id), {"link": "extend"})
    assert (told.object_id, told.audience) == (mine.id, personal)


CARTS = (
    "Carts are merged under an advisory lock of Postgres in shop/carts.py.",
    "The merge of two carts in shop/carts.py keeps the older coupon.",
    "A cart without lines is dropped by the merge job in shop/carts.py.",
)


def test_topics_are_listed_and_show_their_memories(pages: Pages) -> None:
    caller = pages.caller
    for text in CARTS:
        remembered(caller, text)
    with entered(caller):
        sort_topics(now=pages.now, tell=lambda done, total: None)
        found = topics_queries.topics(caller=caller, project="shop", after=None, limit=9)
    (carts,) = found.items
    listed = pages.owner.get(f"{pages.shop}topics").text
    page = pages.owner.get(f"{pages.shop}topics/{carts.id}").text

    assert carts.label in listed
    assert f'href="{pages.shop}topics/{carts.id}"' in listed
    assert carts.memories == 3
    assert all(text in page for text in CARTS)
    assert f'topic:"{carts.label}"' in unquote_plus(page).replace("&quot;", '"')
    for place in ("x", "1~x", "-1~", f"{10**20}~{'0' * 32}", f"{10**9}~{'f' * 32}"):
        assert carts.label in pages.owner.get(f"{pages.shop}topics?after={place}").text, place


LOGIN = "LoginGate keeps its tokens in Redis and never in a cookie of the browser."
PORTAL = "The EntryPortal is restarted by hand after every change of Postgres."
NAMES = "/o/acme/p/shop/entities"


def test_names_are_listed_narrowed_each_with_its_memories_joined_and_taken_apart_again(
    pages: Pages,
) -> None:
    for text in (LOGIN, PORTAL):
        remembered(pages.caller, text)
    every, some, none = (
        pages.owner.get(NAMES, asked).text
        for asked in ({}, {"q": "login", "kind": "system"}, {"kind": "person"})
    )
    page = pages.owner.get(f"{NAMES}/about", {"name": "login gate"}).text

    for text in (every, some):
        assert "LoginGate" in text
    assert ["EntryPortal" in text for text in (every, some, page)] == [True, False, False]
    assert "No names found" in none
    for text in ("From its memories", "LoginGate keeps its tokens in Redis", ">Redis</a>"):
        assert text in page
    address = f"{NAMES}/about?name=LoginGate"
    pages.owner.post(address, {"same_as": "EntryPortal", "scope": "project"})
    joined = pages.owner.get(address).text
    take_apart = joined.partition(f'action="{NAMES}/merges/')[2].partition('"')[0]
    pages.owner.post(f"{NAMES}/merges/{take_apart}")
    apart = pages.owner.get(address).text
    assert (PORTAL in joined, "are one thing" in joined, PORTAL in apart) == (True, True, False)


def test_a_close_name_is_suggested_and_joined_with_one_press(pages: Pages) -> None:
    for text in ("The `ConnectionBroker` waits.", "The `ConectionBroker` is slow at night."):
        remembered(pages.caller, text)
    about = f"{pages.shop}entities/about?name=ConnectionBroker&kind=system"

    before = pages.owner.get(about).text
    seen = pages.viewer.get(about).text
    pressed = pages.owner.post(about, {"same_as": "ConectionBroker", "scope": "organization"})
    after = pages.owner.get(about).text

    assert "Possibly the same" in before
    assert "one letter apart" in before
    assert "The same, for me" not in seen
    assert pressed.status_code == 302
    assert "Possibly the same" not in after
    assert "Separate" in after
