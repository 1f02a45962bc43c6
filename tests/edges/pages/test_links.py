"""Links of memories: one is taken back on the page and over REST, put back, and not told of."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.errors import Conflict, NotFound, RoleNotSufficient
from memory.records.models import Memory, MemoryLink
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.review.actions.verdict_undo import undo
from memory.review.actions.verdicts import MemoryEdge, unlink
from memory.review.queries import inbox
from memory.taxonomy import LinkKind
from teams.models import AuditEntry, Change
from tests.edges.pages.conftest import HTMX, remembered
from tests.edges.pages.session_pages import Pages
from tests.support.memories import as_role

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


def test_it_is_taken_back_on_the_page_and_put_back_as_it_was(pages: Pages, pair: Two) -> None:
    source, target = pair
    before, address = edges(pages.caller), f"/o/acme/p/shop/memories/{source.id}"
    form = {"other": str(target.id), "kind": "extend", "outgoing": "1"}

    page = pages.owner.get(address).text
    done = pages.owner.post(f"{address}/unlink", form, **HTMX)
    left = edges(pages.caller)
    pages.owner.post(json.loads(done["HX-Trigger"])["cairn:toast"]["undo"], **HTMX)

    assert f'action="{address}/unlink"' in page
    assert f"{address}/unlink" not in done.text.replace(f"{address}/unlink/", "")
    assert (left, edges(pages.caller)) == ([], before)


def test_from_its_other_end_it_is_the_same_link(pages: Pages, pair: Two) -> None:
    source, target = pair
    form = {"other": str(source.id), "kind": "extend", "outgoing": "0"}

    pages.owner.post(f"/o/acme/p/shop/memories/{target.id}/unlink", form, **HTMX)

    assert edges(pages.caller) == []


def test_neither_memory_changes_and_the_week_of_the_inbox_does_not_count_it(
    pages: Pages, pair: Two
) -> None:
    with entered(pages.caller):
        unlink(caller=pages.caller, memory_id=pair[0].id, edge=edge(pair[1]), now=NOW)
        versions = {one.version for one in memories_of(pages.caller, pair)}
        week = inbox.count_decided(caller=pages.caller, project="shop", now=NOW)

    assert (versions, week["total"]) == ({1}, 0)


def memories_of(caller: Caller, pair: Two) -> list[MemoryView]:
    return [memories.get(caller=caller, memory_id=one.id, now=NOW) for one in pair]


def test_it_is_not_put_back_to_a_memory_that_is_gone(pages: Pages, pair: Two) -> None:
    with entered(pages.caller):
        made = unlink(caller=pages.caller, memory_id=pair[0].id, edge=edge(pair[1]), now=NOW)
        with tenancy.unit():
            kept = {"older": pair[1].id, "newer": pair[0].id}
            Memory.objects.filter(pk=kept["older"]).delete()

        with pytest.raises(NotFound):
            undo(caller=pages.caller, review_id=made.review_id, now=NOW)


def test_what_replaces_or_contradicts_is_not_taken_back_alone_and_viewers_take_nothing_back(
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
    viewer_pages: Client,
    stranger_pages: Client,
    caller: Caller,
    member_caller: Caller,
    other_caller: Caller,
    shop: str,
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
    for pages in (viewer_pages, stranger_pages):
        form = {"other": str(mine.id), "kind": "extend", "outgoing": "0"}
        sent = pages.post(f"/o/acme/p/shop/memories/{shared.id}/unlink", form)
        assert sent.status_code in {403, 404}

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
