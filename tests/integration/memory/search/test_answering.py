"""A question that an agent did not ask aloud is answered by words alone, and mostly not at all."""

from uuid import UUID

import pytest

from accounts import tenancy
from memory.index import queries as index_queries
from memory.index.models import Lexeme
from memory.search import lookups, queries
from memory.search.request import Work, work_fields
from memory.sessions.models import Session
from teams import visibility
from tests.support.reviewed import World

KNOWN = "The price cache of the cart has to be cleared before each test of its totals."
QUESTION = "price cache of the cart"


def found(world: World, question: str = QUESTION) -> tuple[UUID, ...]:
    """Return what answers a question in a session of the project."""
    session_id = world.session_of(world.owner)
    with tenancy.unit():
        project = Session.objects.get(pk=session_id).project_id
        views, _ = lookups.answer_by_words(
            caller=world.owner, project=project, question=question, work=Work(), now=world.now
        )
        return tuple(views)


def test_a_question_is_answered_by_its_rarest_words_until_that_has_ended(world: World) -> None:
    known = world.stored(KNOWN)
    other = "The queue drains in order once the worker is up."
    world.stored(other)

    assert found(world) == (known.id,)
    for question in ("replication of postgres slots before failover", "zyxomma", "of the", "%_'\\"):
        assert found(world, question) == ()
    world.archive(known.id)
    assert found(world) == ()


def test_words_of_too_many_answer_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        world.stored(f"{KNOWN} Written down for part {number}.")
    monkeypatch.setattr(queries, "FEW", 2)

    assert found(world) == ()


def test_one_word_that_is_common_is_not_even_looked_up(world: World) -> None:
    world.stored(KNOWN)
    with tenancy.unit():
        index_queries.refresh_lexicon()
        Lexeme.objects.filter(word="price").update(documents=10**6)

    assert found(world, "price") == ()


def test_what_is_somebody_elses_own_or_of_another_project_answers_nothing(world: World) -> None:
    world.make_project("other")
    world.stored(f"{KNOWN} Always.", project="other")
    assert found(world) == ()
    mine = world.theirs(KNOWN, scope="personal", project=None)

    with tenancy.unit():
        own, others = (
            queries.find_by_rarest_words(
                question=QUESTION,
                projects=(),
                work=work_fields(work=None, names=()),
                limit=20,
                sight=visibility.sight_of(caller=who),
            )
            for who in (world.member, world.owner)
        )

    assert [memory_id for memory_id, _ in own] == [mine.id]
    assert others == ()
    assert found(world) == ()
