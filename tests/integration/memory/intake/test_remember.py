"""Remembering one thing: what becomes of a candidate, and that nothing else is left behind."""

import logging
from datetime import datetime
from uuid import uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.errors import GovernanceDenied
from memory.index.models import MemoryKeyword, MemoryUsage, MemoryVector
from memory.intake.actions.remember import remember, remember_all
from memory.records.actions import archive
from memory.records.models import Memory
from teams.models import AuditEntry, Change
from tests.support import memories
from tests.support.memories import CARTS, REDIS, sent, stored

SECRET = "The deploy uses AKIAQ3EGRXVZ7TPLMBWD with ghp_16C7e42F292c6912E7710c838347Ae178B4a."

pytestmark = pytest.mark.usefixtures("in_organization")


def test_a_new_statement_is_added_with_its_rows(caller: Caller, store: str, now: datetime) -> None:
    memory = stored(caller, now, project=store)

    with tenancy.unit():
        assert MemoryKeyword.objects.filter(memory_id=memory.id, live=True).exists()
        assert MemoryVector.objects.filter(memory_id=memory.id, live=True).exists()
        assert not MemoryUsage.objects.filter(memory_id=memory.id).exists()  # until it is used
        assert Change.objects.filter(kind="memory.created", object_id=memory.id).count() == 1
        assert AuditEntry.objects.filter(object_id=str(memory.id)).count() == 1


def test_the_view_says_where_it_came_from(agent: Caller, store: str, now: datetime) -> None:
    memory = stored(agent, now, project=store, source="agent_explicit", commit_sha="ab12")

    assert (memory.source, memory.source_interface) == ("agent_explicit", "claude-code")
    assert (memory.author_user, memory.author_agent) == (agent.user_id, "claude-code")
    assert (memory.scope, memory.version, memory.status) == ("project", 1, "active")
    assert memory.embedded


def test_a_secret_is_refused_and_reaches_neither_rows_nor_logs(
    caller: Caller, store: str, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    outcome = sent(caller, now, SECRET, project=store)

    told = f"{outcome!r} {caplog.text}"
    assert (outcome.outcome, outcome.gate, outcome.memory) == ("refused", "secrets", None)
    assert outcome.hint
    assert "AKIAQ3EGRXVZ7TPLMBWD" not in told
    assert "16C7e42F292c6912E7710c838347Ae178B4a" not in told
    with tenancy.unit():
        assert not Memory.objects.exists()
        assert not Change.objects.filter(kind__startswith="memory").exists()


def test_an_exact_duplicate_confirms_what_is_there(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    first = stored(caller, now, project=store)

    outcome = sent(agent, now, f"  {REDIS}\n", project=store)

    assert (outcome.outcome, outcome.gate) == ("confirmed", "exact_duplicate")
    assert outcome.memory is not None
    assert (outcome.memory.id, outcome.memory.confirmations) == (first.id, 1)


@pytest.mark.parametrize("at_once", [False, True])
def test_provenance_has_sessions(caller: Caller, store: str, now: datetime, at_once: bool) -> None:
    session = uuid4()
    known = memories.stored(caller, now, project=store)
    again = memories.new(project=store, source="qa_auto", session_id=session)

    for _ in range(2):
        if at_once:
            remember_all(caller=caller, new=(again,), now=now)
        else:
            remember(caller=caller, new=again, now=now)

    with tenancy.unit():
        row = Memory.objects.get(pk=known.id)
    assert (row.confirmations, row.provenance_sessions) == (2, [session])


def test_texts_and_external_ids_are_unique_in_their_place_alone(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    mine = stored(caller, now, scope="personal", external_id="note-1")
    theirs = stored(member_caller, now, scope="personal", external_id="note-1")
    ours = stored(caller, now, project=store)

    assert len({mine.id, theirs.id, ours.id}) == 3


def test_episodes_and_archived_texts_come_again(caller: Caller, store: str, now: datetime) -> None:
    first = stored(caller, now, project=store)
    archive(caller=caller, memory_id=first.id, reason="", if_version=None, now=now)

    again = [sent(caller, now, project=store)]
    again += [sent(caller, now, "ok", type="episode", project=store) for _ in range(2)]

    assert [one.outcome for one in again] == ["added"] * 3


@pytest.mark.parametrize(
    ("content", "ended", "version"), [(CARTS, "updated", 2), (REDIS, "confirmed", 1)]
)
def test_an_external_id_is_brought_up_to_date(
    caller: Caller, store: str, now: datetime, content: str, ended: str, version: int
) -> None:
    first = stored(caller, now, project=store, external_id="ticket-7")

    outcome = sent(caller, now, content, project=store, external_id="ticket-7")

    assert outcome.outcome == ended
    assert outcome.memory is not None
    assert (outcome.memory.id, outcome.memory.content) == (first.id, content)
    assert outcome.memory.version == version


def test_an_external_id_makes_no_two_the_same(caller: Caller, store: str, now: datetime) -> None:
    other = stored(caller, now, CARTS, project=store)
    stored(caller, now, project=store, external_id="ticket-7")

    outcome = sent(caller, now, CARTS, project=store, external_id="ticket-7")

    assert (outcome.outcome, outcome.gate) == ("refused", "exact_duplicate")
    assert str(other.id) in outcome.reason


@pytest.mark.django_db(transaction=True)
def test_nothing_is_half_stored_on_a_failure(caller: Caller, store: str, now: datetime) -> None:
    with connection.as_owner(), tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE teams_change ADD CHECK (kind <> 'memory.created')")

    with pytest.raises(Exception, match="check constraint"):
        sent(caller, now, project=store)

    with tenancy.unit():
        assert not Memory.objects.exists()
        assert not MemoryKeyword.objects.exists()
        assert not AuditEntry.objects.filter(object_type="memory").exists()
    assert not Job.objects.exists()


@pytest.mark.parametrize("given", [{"type": "identity"}, {"tags": ("chain_of_command",)}])
def test_neither_an_agent_nor_a_member_founds_a_constitution(
    caller: Caller, member_caller: Caller, store: str, now: datetime, given: dict[str, object]
) -> None:
    for sender in (memories.as_agent(caller), member_caller):
        with pytest.raises(GovernanceDenied):
            sent(sender, now, project=store, **given)

    assert stored(caller, now, project=store, **given).governance == 1


def test_long_names_do_not_hinder_storing(caller: Caller, store: str, now: datetime) -> None:
    path = "/".join(["deep"] * 200) + "/file.py"
    many = " ".join(f"src/pkg{n}/file{n}.py" for n in range(100))

    memory = stored(caller, now, f"These files matter: {path} and {many}", project=store)

    assert len(memory.related_files) <= 64
    assert all(len(file) <= 400 for file in memory.related_files)
