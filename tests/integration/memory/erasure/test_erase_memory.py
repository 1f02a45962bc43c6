"""A memory is deleted for good: its words stand in no table, and the receipt says where else."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict, Forbidden, NotFound, PreconditionFailed
from memory.erasure.actions.erase_memory import ErasureReceipt, erase_memory
from memory.index import queries as index_queries
from memory.intake.actions.revise import revise
from memory.records.models import Memory, MemoryLink
from memory.records.queries.views import MemoryView
from memory.review.actions import verdicts
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.taxonomy import LinkKind
from teams import idempotency
from teams.audit import every_entry
from teams.models import Change
from tests.support import dump, memories
from tests.support.agent_runs import Shop
from tests.support.reviewed import World
from tests.support.taking_in import run, upload

CANARY = "zyxquint"
TEXT = f"The {CANARY} importer keeps a lock for two minutes, so start one at a time."


def erase(world: World, memory_id: UUID, by: Caller | None = None, **given: int) -> ErasureReceipt:
    """Delete a memory."""
    if_version = given.get("if_version")
    by = by or world.owner
    return erase_memory(caller=by, memory_id=memory_id, if_version=if_version, now=world.now)


def link(source: MemoryView, target: MemoryView, kind: LinkKind) -> None:
    """Link two memories."""
    with tenancy.unit():
        MemoryLink.objects.create(source_id=source.id, target_id=target.id, kind=kind.value)


@pytest.fixture
def memory(world: World) -> MemoryView:
    """A memory that was changed, found, given out, and answered to a request that may repeat."""
    memory = world.stored(TEXT, tags=("locks",))
    changes = {"content": TEXT.replace("two", "five")}
    revise(caller=world.owner, memory_id=memory.id, changes=changes, if_version=1, now=world.now)
    with tenancy.unit():
        index_queries.refresh_lexicon()
    request = SearchRequest(query=f"{CANARY} lock", threshold=0.0)
    assert search(caller=world.owner, request=request, now=world.now).hits
    with tenancy.unit():
        index_queries.merge_access()
    idempotency.begin(caller=world.owner, key="once", fingerprint="f")
    answer = f'{{"memory": {{"id": "{memory.id}", "content": "{TEXT}"}}}}'.encode()
    idempotency.finish(caller=world.owner, key="once", status=201, headers={}, body=answer)
    return memory


def test_nothing_of_it_is_left_in_any_table(world: World, memory: MemoryView) -> None:
    assert {
        "memory_memory", "memory_memoryversion", "memory_lexeme", "memory_memorykeyword",
        "teams_change", "teams_idempotencykey",
    } <= dump.tables_with(word=CANARY)  # fmt: skip

    receipt = erase(world, memory.id)

    assert dump.tables_with(word=CANARY) == set()
    assert (receipt.versions, receipt.copies) == (1, 1)
    assert dump.tables_with(word=str(memory.id)) <= {
        "teams_auditentry", "teams_change", "memory_actionlog",
    }  # fmt: skip


def test_the_feed_the_log_and_a_repeated_request_say_that_it_is_gone(
    world: World, memory: MemoryView
) -> None:
    erase(world, memory.id)

    kept = idempotency.begin(caller=world.owner, key="once", fingerprint="f")
    with tenancy.unit():
        *_, entry = every_entry()
        last = Change.objects.order_by("-id").first()
    assert kept.status == 410
    assert (entry.act, entry.object_id) == ("memory.erased", str(memory.id))
    assert set(map(type, entry.details.values())) == {int}
    assert last is not None
    assert (last.kind, last.object_id, last.summary) == ("memory.erased", memory.id, {})


def test_what_an_import_was_given_of_it_is_gone_too(world: World) -> None:
    rules = f"- {TEXT}\n- Invoices are rounded at the end, never a line.\n"
    run(world.owner, upload(rules), world.now)
    with tenancy.unit():
        memory = Memory.objects.get(content__contains=CANARY)

    erase(world, memory.id)

    assert dump.tables_with(word=CANARY) == set()


def test_what_it_replaced_is_archived_and_what_derives_from_it_waits(world: World) -> None:
    origin = world.stored(TEXT)
    derived = world.stored("Importers are started by the night's job alone.")
    older = world.stored("The mill is fed by the northern weir.")
    link(derived, origin, LinkKind.DERIVE)
    with tenancy.unit():
        Memory.objects.filter(pk=older.id).update(status="superseded", superseded_by=origin.id)

    receipt = erase(world, origin.id)

    assert (receipt.archived, receipt.derived) == (1, 1)
    with tenancy.unit():
        rows = {row.id: row for row in Memory.objects.all()}
    assert rows[older.id].status == "archived"
    assert rows[derived.id].stale_at == world.now
    assert rows[derived.id].archived_reason == "what it derives from was deleted"


def test_the_receipt_counts_no_memory_that_its_reader_may_not_see(world: World) -> None:
    origin = world.stored(TEXT)
    hidden = world.stored("Importers of mine start at night.", by=world.member, scope="personal")
    link(hidden, origin, LinkKind.DERIVE)

    receipt = erase(world, origin.id)

    assert (receipt.derived, receipt.links) == (0, 0)
    with tenancy.unit():
        row = Memory.objects.get(pk=hidden.id)
        told = Change.objects.filter(object_id=hidden.id, kind="memory.changed")
        assert [one.audience for one in told] == [row.audience]
    assert (row.stale_at, row.version) == (world.now, hidden.version + 1)


def test_a_verdict_that_touched_it_keeps_nothing_of_it_and_is_not_undone(world: World) -> None:
    agent = memories.as_agent(world.member)
    kept = world.stored(TEXT, tags=(CANARY,))
    waits = world.stored("Start one importer at a time.", by=agent, needs_review=True)
    merged = verdicts.merge(caller=world.owner, memory_id=waits.id, into=kept.id, now=world.now)

    erase(world, kept.id)

    assert dump.tables_with(word=CANARY) == set()
    with pytest.raises((Conflict, NotFound)):
        verdicts.undo(caller=world.owner, review_id=merged.review_id, now=world.now)


def test_the_receipt_names_the_sessions_in_which_it_was_said(shop: Shop, world: World) -> None:
    said = shop.opened()
    said.says(f"We decided that the {CANARY} importer runs alone because it keeps a lock.")
    said.ends().consolidated()
    with tenancy.unit():
        (memory,) = Memory.objects.all()

    receipt = erase(world, memory.id, by=shop.member)

    assert receipt.said_in == (said.id,)
    assert dump.tables_with(word=CANARY) == {"memory_turn"}


def test_who_may_delete_for_good(world: World) -> None:
    mine = world.stored(TEXT, by=world.member)
    agent = memories.as_agent(world.member)
    with pytest.raises(Forbidden, match="An agent cannot permanently delete memories"):
        erase(world, mine.id, by=agent)
    with pytest.raises(Forbidden, match="Only who added a memory"):
        erase(world, mine.id, by=replace(world.member, user_id=uuid4()))
    with pytest.raises(Forbidden, match="Only who added a memory"):
        erase(world, mine.id, by=world.steward)
    with pytest.raises(PreconditionFailed):
        erase(world, mine.id, by=world.member, if_version=7)
    with pytest.raises(NotFound):
        erase(world, uuid4())

    decides = replace(agent, scopes=agent.scopes | {TokenScope.REVIEW})
    assert erase(world, mine.id, by=decides).memory_id == mine.id
    theirs = world.stored(TEXT, by=world.member)
    admin = replace(world.owner, role=Role.ADMIN)
    assert erase(world, theirs.id, by=admin).memory_id == theirs.id


def test_a_memory_of_somebody_else_alone_is_not_found(world: World) -> None:
    personal = world.stored(TEXT, by=world.member, scope="personal")

    with pytest.raises(NotFound):
        erase(world, personal.id)
