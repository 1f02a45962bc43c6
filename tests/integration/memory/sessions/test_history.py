"""What was said can be read turn by turn, and searched verbatim."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound
from memory.sessions import queries as sessions
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.sessions.queries import (
    HistoryHit,
    HistoryPage,
    HistoryPlace,
    HistoryQuestion,
    How,
    search_history,
    turns,
)

pytestmark = pytest.mark.usefixtures("in_organization")
TALK = (
    "Which lock keeps two carts of one customer apart?",
    "The advisory one: pg_advisory_xact_lock(cart_id), as Zoë proposed in spring.",
    "最初のカートはロックされています。",
)


def opened(caller: Caller, now: datetime, *texts: str, **given: Any) -> UUID:
    """Open a session in which something was said; return its id."""
    session = open_session(caller=caller, new=NewSession(**given), now=now).session
    said = tuple(
        NewTurn(role="user", text=text, at=now + timedelta(seconds=place))
        for place, text in enumerate(texts)
    )
    append_turns(caller=caller, session_id=session.id, turns=said, now=now)
    return session.id


def looked(
    caller: Caller,
    query: str,
    how: How = How.WORDS,
    after: HistoryPlace | None = None,
    **given: Any,
) -> HistoryPage:
    """Search what was said."""
    asked = HistoryQuestion(query=query, how=how, **given)
    return search_history(caller=caller, asked=asked, after=after, limit=2)


def found(caller: Caller, query: str, how: How = How.WORDS, **given: Any) -> list[int]:
    """Return the sequences of what was found."""
    return [one.sequence for one in looked(caller, query, how, **given).items]


def test_turns_are_read_in_their_order_page_by_page(agent: Caller, now: datetime) -> None:
    session = opened(agent, now, *TALK)

    first = turns(caller=agent, session_id=session, after=0, limit=2)
    rest = turns(caller=agent, session_id=session, after=first.next_after or 0, limit=2)

    assert [one.text for one in (*first.items, *rest.items)] == list(TALK)
    assert (first.next_after, rest.next_after) == (2, None)


def test_a_page_of_long_turns_is_full_early(agent: Caller, now: datetime) -> None:
    session = opened(agent, now, *("word " * 19_000 for _ in range(4)))
    for _ in range(3):
        texts = tuple(NewTurn(role="assistant", text="word " * 19_000) for _ in range(3))
        append_turns(caller=agent, session_id=session, turns=texts, now=now)

    page = turns(caller=agent, session_id=session, after=0, limit=200)

    assert page.next_after == len(page.items) == sessions.LARGEST_PAGE // 95_000


@pytest.mark.parametrize(
    ("query", "how", "sequences"),
    [
        ("lock", How.WORDS, [2, 1]),
        ("CARTS customer", How.WORDS, [1]),
        ("customer carts", How.EXACT, []),
        ("two CARTS of", How.EXACT, [1]),
        ("pg_advisory_xact_lock(cart_id)", How.EXACT, [2]),
        ("Zoe\u0308", How.EXACT, [2]),
        ("zoë", How.WORDS, [2]),
        ("ロック", How.EXACT, [3]),
        ("lo", How.WORDS, []),
        ("lock' OR 1=1 --", How.WORDS, []),
        ("100% {visible} %s", How.EXACT, []),
    ],
)
def test_what_was_said_is_found_verbatim(
    agent: Caller, now: datetime, query: str, how: How, sequences: list[int]
) -> None:
    opened(agent, now, *TALK)

    assert found(agent, query, how) == sequences


def test_a_thread_is_searched_over_its_sessions_newest_first(agent: Caller, now: datetime) -> None:
    first = opened(agent, now, TALK[0], thread="carts")
    last = opened(agent, now + timedelta(days=1), TALK[1], thread="carts")
    opened(agent, now, TALK[1], thread="other")

    page = looked(agent, "lock", thread="carts")

    assert [one.session_id for one in page.items] == [last, first]


def test_pages_neither_repeat_nor_leave_out(agent: Caller, now: datetime) -> None:
    opened(agent, now, *(f"The lock number {number}." for number in range(5)))

    first = looked(agent, "lock")
    second = looked(agent, "lock", after=first.next_place)
    third = looked(agent, "lock", after=second.next_place)

    seen = [one.sequence for page in (first, second, third) for one in page.items]
    assert (seen, third.next_place) == ([5, 4, 3, 2, 1], None)


def test_of_a_long_turn_the_piece_with_the_words_is_shown(agent: Caller, now: datetime) -> None:
    opened(agent, now, f"{'before ' * 2_000}the needle lies here {'after ' * 2_000}")

    piece: HistoryHit = looked(agent, "needle").items[0]

    assert "needle lies here" in piece.text
    assert (len(piece.text), piece.whole, piece.start) == (1_200, 26_021, 13_805)


@pytest.mark.parametrize("query", ["?!", "", "\x00lock"])
def test_a_question_without_a_word_is_refused(agent: Caller, query: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        looked(agent, query)

    assert refused.value.errors[0].pointer == "/query"


def test_what_others_said_for_themselves_is_not_found(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    session = opened(agent, now, *TALK, project=store, thread="carts")

    assert looked(caller, "lock").items == ()
    assert looked(caller, "lock", thread="carts", project=store) == looked(caller, "unsaid")
    with pytest.raises(NotFound):
        looked(caller, "lock", session_id=session)
    with pytest.raises(NotFound):
        turns(caller=caller, session_id=session, after=0, limit=1)


def test_what_is_shared_is_found_by_who_sees_it_alone(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    session = opened(caller, now, *TALK, project=store, shared=True)

    assert found(agent, "lock", session_id=session) == [2, 1]
    assert found(replace(agent, bound_projects=(uuid4(),)), "lock") == []


@pytest.mark.usefixtures("tables_of_its_own")
def test_words_are_looked_up_in_their_index() -> None:
    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN SELECT id FROM memory_turn WHERE words @> said_words('lock')")
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert "memory_turn_words" in plan
    assert "Index Cond: (words @>" in plan
