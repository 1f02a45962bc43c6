"""A session is deleted for good: nothing of what was said is left in any table."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict, Forbidden, NotFound
from memory.index.sql import search_rows
from memory.observer.actions.consolidate import consolidate
from memory.observer.actions.delete_session import Fate, Receipt, delete_session
from memory.records.models import Memory
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.models import GivenOut, Session, Statistic
from teams.audit import every_entry
from tests.integration.memory.sessions.test_finalize import ran
from tests.support import memories

pytestmark = pytest.mark.usefixtures("in_organization")
CANARY = "zyxquint"
SAID = (
    f"We decided to move {CANARY} from Redis 6 to Valkey because of the license.",
    f"{CANARY} was only ever said here.",
)
OTHER = UUID(int=9)
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"


def hits(word: str = CANARY) -> dict[str, int]:
    """Return in how many rows of which tables of the organization a word stands."""
    found: dict[str, int] = {}
    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute(TABLES)
        for (table,) in cursor.fetchall():
            cursor.execute(
                f"SELECT count(*) FROM {table} AS t WHERE t::text ILIKE %s", [f"%{word}%"]
            )
            if number := cursor.fetchone()[0]:
                found[table] = number
    return found


@pytest.fixture
def session(agent: Caller, store: str, now: datetime) -> UUID:
    """A personal session that was read: a memory came of it, and was given out."""
    made = open_session(caller=agent, new=NewSession(project=store), now=now).session.id
    said = tuple(NewTurn(role="user", text=text) for text in SAID)
    append_turns(caller=agent, session_id=made, turns=said, now=now)
    done = {"sequence": 1, "kind": "reasoning", "text": f"{CANARY} is what it is about."}
    append_events(caller=agent, session_id=made, events=(done,), now=now)
    end_session(caller=agent, session_id=made, now=now)
    consolidate(session_id=made, now=now, tell=lambda done, total: None)
    with tenancy.unit():
        search_rows.refresh_lexicon()
    request = SearchRequest(query=f"{CANARY} license", threshold=0.0)
    assert search(caller=agent, request=request, now=now).hits
    with tenancy.unit():
        search_rows.merge_access()
    return made


@pytest.fixture
def delete(now: datetime) -> Callable[..., Receipt]:
    """Delete a session."""

    def by(caller: Caller, session_id: UUID, fate: Fate = Fate.KEEP) -> Receipt:
        return delete_session(caller=caller, session_id=session_id, memories=fate, now=now)

    return by


def test_nothing_is_left_of_it_and_of_its_memories(
    member_caller: Caller, session: UUID, delete: Callable[..., Receipt]
) -> None:
    assert {"memory_turn", "memory_memory", "memory_lexeme", "teams_change"} <= set(hits())

    receipt = delete(member_caller, session, Fate.DELETE)

    assert hits() == {}
    assert set(hits(str(session))) == {"teams_auditentry"}
    assert (receipt.turns, receipt.events, receipt.memories_deleted) == (2, 1, 1)
    with tenancy.unit():
        *_, entry = every_entry()
    assert (entry.act, entry.object_id) == ("session.deleted", str(session))
    assert set(map(type, entry.details.values())) == {int}


def test_memories_that_are_kept_lose_where_they_came_from(
    agent: Caller, session: UUID, delete: Callable[..., Receipt]
) -> None:
    receipt = delete(agent, session)

    with tenancy.unit():
        row = Memory.objects.get()
    assert (row.session_id, row.source_uri, row.source_line) == (None, "", None)
    assert row.provenance_sessions == []
    assert (receipt.memories_deleted, receipt.memories_kept) == (0, 1)
    assert "memory_turn" not in hits()
    assert set(hits(str(session))) == {"teams_auditentry"}


@pytest.mark.parametrize(
    "stands", [{"user_verified": True}, {"pinned": True}, {"governance": 1}, {"others": [OTHER]}]
)
def test_what_somebody_stands_for_or_another_session_has_said_is_kept(
    member_caller: Caller, session: UUID, delete: Callable[..., Receipt], stands: dict[str, Any]
) -> None:
    others = stands.get("others", [])
    fields = {name: value for name, value in stands.items() if name != "others"}
    with tenancy.unit():
        Memory.objects.update(provenance_sessions=[session, *others], **fields)

    receipt = delete(member_caller, session, Fate.DELETE)

    with tenancy.unit():
        assert Memory.objects.get().provenance_sessions == others
    assert (receipt.memories_deleted, receipt.memories_kept) == (0, 1)


def test_a_token_deletes_no_rule_with_its_session(
    agent: Caller, session: UUID, delete: Callable[..., Receipt]
) -> None:
    with tenancy.unit():
        assert Memory.objects.get().governance == 2

    assert delete(agent, session, Fate.DELETE).memories_deleted == 0


def test_an_agent_deletes_no_memories_with_its_session(
    agent: Caller, session: UUID, delete: Callable[..., Receipt]
) -> None:
    writes = replace(agent, scopes=frozenset({TokenScope.READ, TokenScope.WRITE}))

    with pytest.raises(Forbidden, match="An agent cannot permanently delete memories"):
        delete(writes, session, Fate.DELETE)
    with tenancy.unit():
        assert Session.objects.filter(pk=session).exists()

    assert delete(writes, session).memories_kept == 1


def test_what_it_had_replaced_says_why_it_is_gone(
    agent: Caller,
    member_caller: Caller,
    store: str,
    session: UUID,
    delete: Callable[..., Receipt],
    now: datetime,
) -> None:
    older = memories.stored(agent, now, project=store, scope="personal")
    with tenancy.unit():
        successor = Memory.objects.get(session_id=session)
        rows = Memory.objects.filter(pk=older.id)
        rows.update(status="superseded", superseded_by=successor)

    delete(member_caller, session, Fate.DELETE)

    with tenancy.unit():
        row = Memory.objects.get()
    assert (row.status, row.archived_reason) == ("archived", "what replaced it was deleted")


def test_that_a_memory_was_given_out_is_known_without_the_session(
    agent: Caller, session: UUID, delete: Callable[..., Receipt], now: datetime
) -> None:
    with tenancy.unit():
        GivenOut.objects.update(session_id=session, at=now)

    receipt = delete(agent, session)

    with tenancy.unit():
        given = list(GivenOut.objects.values_list("session_id", "at"))
    assert (given, receipt.given_back) == ([(None, now)], 1)


def test_who_did_not_open_it_does_not_delete_it(
    agent: Caller, caller: Caller, member_caller: Caller, store: str, now: datetime,
    session: UUID, delete: Callable[..., Receipt],
) -> None:  # fmt: skip
    new = NewSession(project=store, shared=True)
    shared = open_session(caller=memories.as_agent(caller), new=new, now=now).session.id

    for nobody in (caller, replace(agent, bound_projects=(uuid4(),))):
        with pytest.raises(NotFound):
            delete(nobody, session)
    with pytest.raises(Forbidden):
        delete(member_caller, shared)
    with pytest.raises(Forbidden):
        delete(memories.as_role(agent, Role.ADMIN), shared)
    admin = memories.as_role(member_caller, Role.ADMIN)

    assert delete(admin, shared).session_id == shared
    with tenancy.unit():
        assert [row.id for row in Session.objects.all()] == [session]


def test_a_session_that_is_being_read_is_not_deleted(
    agent: Caller, session: UUID, delete: Callable[..., Receipt], now: datetime
) -> None:
    with tenancy.unit():
        until = now + timedelta(minutes=1)
        Session.objects.update(read_by=uuid4(), read_until=until)

    with pytest.raises(Conflict, match="A job reads this session now"):
        delete(agent, session)

    assert "memory_turn" in hits()


def test_the_sums_of_a_place_keep_what_they_are_about(
    agent: Caller, store: str, delete: Callable[..., Receipt], now: datetime
) -> None:
    left, gone = (ran(agent, now, project=store) for _ in range(2))

    delete(agent, gone.id)

    with tenancy.unit():
        files = Statistic.objects.filter(kind="observed_file")
        assert files
        assert all(row.counts["notes"]["path"] == row.key for row in files)
    assert left.id != gone.id
