"""A session is deleted for good: nothing of what was said is left in any table."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db.models import F

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict, Forbidden, NotFound
from memory.erasure.actions.delete_session import Fate, Receipt, delete_session
from memory.index import queries as index_queries
from memory.records.models import Memory
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.sessions.models import GivenOut, Session
from teams.audit import every_entry
from tests.support import dump, memories
from tests.support.agent_runs import Run, Shop, counted, only_memory, update_memory

CANARY = "zyxquint"
SAID = (
    f"We decided to move {CANARY} from Redis 6 to Valkey because of the license.",
    f"{CANARY} was only ever said here.",
)
OTHER = UUID(int=9)


def hits(word: str = CANARY) -> set[str]:
    """Return in which tables of the organization a word stands."""
    return dump.tables_with(word=word)


@pytest.fixture
def run(shop: Shop) -> Run:
    """A personal session that was read: a memory came of it, and was given out."""
    run = shop.opened()
    run.says(*SAID)
    run.does({"sequence": 1, "kind": "reasoning", "text": f"{CANARY} is what it is about."})
    run.ends().consolidated()
    with tenancy.unit():
        index_queries.refresh_lexicon()
    request = SearchRequest(query=f"{CANARY} license", threshold=0.0)
    assert search(caller=shop.agent, request=request, now=shop.now).hits
    with tenancy.unit():
        index_queries.merge_access()
    return run


def delete(run: Run, by: Caller, fate: Fate = Fate.KEEP) -> Receipt:
    """Delete a session."""
    return delete_session(caller=by, session_id=run.id, memories=fate, now=run.now)


def test_nothing_is_left_of_it_and_of_its_memories(shop: Shop, run: Run) -> None:
    assert {"memory_turn", "memory_memory", "memory_lexeme", "teams_change"} <= hits()

    receipt = delete(run, shop.member, Fate.DELETE)

    assert hits() == set()
    assert hits(str(run.id)) == {"teams_auditentry"}
    assert (receipt.turns, receipt.events, receipt.memories_deleted) == (2, 1, 1)
    with tenancy.unit():
        *_, entry = every_entry()
    assert (entry.act, entry.object_id) == ("session.deleted", str(run.id))
    assert set(map(type, entry.details.values())) == {int}


def test_what_a_shared_session_taught_its_author_alone_goes_with_it(shop: Shop, run: Run) -> None:
    with tenancy.unit():
        Session.objects.filter(pk=run.id).update(audience=F("project_id"), scope="project")

    assert delete(run, shop.member, Fate.DELETE).memories_deleted == 1


def test_memories_that_are_kept_lose_where_they_came_from(shop: Shop, run: Run) -> None:
    with tenancy.unit():
        GivenOut.objects.update(session_id=run.id, at=shop.now)

    receipt = delete(run, shop.agent)

    row = only_memory()
    assert (row.session_id, row.source_uri, row.source_line) == (None, "", None)
    assert row.provenance_sessions == []
    assert (receipt.memories_deleted, receipt.memories_kept) == (0, 1)
    assert "memory_turn" not in hits()
    assert hits(str(run.id)) == {"teams_auditentry"}
    with tenancy.unit():  # that it was given out is known without the session
        given = list(GivenOut.objects.values_list("session_id", "at"))
    assert (given, receipt.given_back) == ([(None, shop.now)], 1)


def test_what_somebody_stands_for_or_another_session_has_said_is_kept(shop: Shop, run: Run) -> None:
    row = only_memory()
    stands: tuple[dict[str, Any], ...] = (
        {"user_verified": True},
        {"pinned": True},
        {"governance": 1},
        {"provenance_sessions": [run.id, OTHER]},
    )
    with tenancy.unit():
        for number, fields in enumerate(stands):
            copy = Memory.objects.get(pk=row.pk)
            copy.pk, copy.content, copy.content_hash = uuid4(), f"Copy {number}.", f"{number:064}"
            for name, value in fields.items():
                setattr(copy, name, value)
            copy.save(force_insert=True)

    receipt = delete(run, shop.member, Fate.DELETE)

    assert (receipt.memories_deleted, receipt.memories_kept) == (1, 4)
    with tenancy.unit():
        kept = Memory.objects.order_by("content").values_list("provenance_sessions", flat=True)
        assert list(kept) == [[], [], [], [OTHER]]


def test_an_agent_deletes_no_memories_and_a_token_no_rule(shop: Shop, run: Run) -> None:
    assert only_memory().governance == 2

    with pytest.raises(Forbidden, match="An agent cannot permanently delete memories"):
        delete(run, shop.agent, Fate.DELETE)

    decides = replace(shop.agent, scopes=shop.agent.scopes | {TokenScope.REVIEW})
    assert delete(run, decides, Fate.DELETE).memories_deleted == 0


def test_an_agent_deletes_its_session_and_memories_stay(shop: Shop, run: Run) -> None:
    writes = replace(shop.agent, scopes=frozenset({TokenScope.READ, TokenScope.WRITE}))

    assert delete(run, writes).memories_kept == 1


def test_what_it_had_replaced_says_why_it_is_gone(shop: Shop, run: Run) -> None:
    successor = only_memory(session_id=run.id)
    older = shop.remember(by=shop.agent, scope="personal")
    update_memory(older.id, status="superseded", superseded_by=successor)

    delete(run, shop.member, Fate.DELETE)

    row = only_memory()
    assert (row.status, row.archived_reason) == ("archived", "what replaced it was deleted")


def test_only_who_opened_it_deletes_it_unless_it_is_read(shop: Shop, run: Run) -> None:
    shared = shop.opened(shop.program, shared=True)

    for nobody in (shop.owner, replace(shop.agent, bound_projects=(uuid4(),))):
        with pytest.raises(NotFound):
            delete(run, nobody)
    for nobody in (shop.member, memories.as_role(shop.agent, Role.ADMIN)):
        with pytest.raises(Forbidden):
            delete(shared, nobody)

    shared.update(read_by=uuid4(), read_until=shop.at(minutes=1).now)
    admin = memories.as_role(shop.member, Role.ADMIN)
    with pytest.raises(Conflict, match="A job reads this session now"):
        delete(shared, admin)
    shared.update(read_by=None)
    assert delete(shared, admin).session_id == shared.id
    with tenancy.unit():
        assert [row.id for row in Session.objects.all()] == [run.id]


def test_the_sums_of_a_place_keep_what_they_are_about(shop: Shop) -> None:
    shop.ran()
    gone = shop.ran()

    delete(gone, shop.agent)

    files = counted("observed_file")
    assert files
    assert all(counts["notes"]["path"] == path for path, counts in files.items())
