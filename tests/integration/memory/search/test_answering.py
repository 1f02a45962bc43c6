"""A question that an agent did not ask aloud is answered by words alone, and mostly not at all."""

from datetime import datetime
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.index import queries as index_queries
from memory.index.models import Lexeme
from memory.records.actions import archive
from memory.search import lookups, queries
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.sessions.models import Session
from teams import visibility
from teams.actions import create_project
from tests.support import memories

KNOWN = "The price cache of the cart has to be cleared before each test of its totals."
QUESTION = "price cache of the cart"

pytestmark = pytest.mark.usefixtures("store")


def found(caller: Caller, now: datetime, question: str) -> tuple[UUID, ...]:
    """Return what answers a question in a session of the project."""
    opened = open_session(caller=caller, new=NewSession(project="store"), now=now)
    with tenancy.unit():
        row = Session.objects.get(pk=opened.session.id)
        views, _ = lookups.answer_by_words(
            caller=caller, project=row.project_id, question=question, now=now
        )
        return tuple(views)


def test_a_question_is_answered_by_its_rarest_words_until_that_has_ended(
    caller: Caller, now: datetime
) -> None:
    known = memories.stored(caller, now, KNOWN, project="store")
    other = "The queue drains in order once the worker is up."
    memories.stored(caller, now, other, project="store")

    assert found(caller, now, QUESTION) == (known.id,)
    for question in ("replication of postgres slots before failover", "zyxomma", "of the", "%_'\\"):
        assert found(caller, now, question) == ()
    archive(caller=caller, memory_id=known.id, reason="", if_version=None, now=now)
    assert found(caller, now, QUESTION) == ()


def test_words_that_more_memories_hold_than_are_looked_at_answer_nothing(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        memories.stored(caller, now, f"{KNOWN} Written down for part {number}.", project="store")

    monkeypatch.setattr(queries, "FEW", 2)

    assert found(caller, now, QUESTION) == ()


def test_one_word_that_is_common_is_not_even_looked_up(caller: Caller, now: datetime) -> None:
    memories.stored(caller, now, KNOWN, project="store")
    with tenancy.unit():
        index_queries.refresh_lexicon()
        Lexeme.objects.filter(word="price").update(documents=10**6)

    assert found(caller, now, "price") == ()


def test_what_is_somebody_elses_own_or_of_another_project_answers_nothing(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    create_project(caller=caller, slug="other", name="Other", now=now)
    memories.stored(caller, now, f"{KNOWN} Always.", project="other")
    assert found(caller, now, QUESTION) == ()
    mine = memories.stored(member_caller, now, KNOWN, scope="personal")

    with tenancy.unit():
        own, others = (
            queries.find_by_rarest_words(
                question=QUESTION, projects=(), limit=20, sight=visibility.sight_of(caller=who)
            )
            for who in (member_caller, caller)
        )

    assert [memory_id for memory_id, _ in own] == [mine.id]
    assert others == ()
    assert found(caller, now, QUESTION) == ()
