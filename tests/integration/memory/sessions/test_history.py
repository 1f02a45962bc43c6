"""What was said can be read turn by turn, and searched verbatim."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound
from memory.sessions import queries as sessions
from memory.sessions.actions.append_turns import NewTurn
from memory.sessions.queries import (
    HistoryHit,
    HistoryPlace,
    HistoryQuestion,
    How,
    Page,
    search_history,
    turns,
)
from tests.support.agent_runs import Shop

TALK = (
    "Which lock keeps two carts of one customer apart?",
    "The advisory one: pg_advisory_xact_lock(cart_id), as Zoë proposed in spring.",
    "最初のカートはロックされています。",
)


def said(shop: Shop, *texts: str, by: Caller | None = None, **new: Any) -> UUID:
    """Open a session in which something was said; return its id."""
    run = shop.opened(by, **{"project": None, **new})
    run.says(
        *(
            NewTurn(role="user", text=text, at=shop.now + timedelta(seconds=place))
            for place, text in enumerate(texts)
        )
    )
    return run.id


def looked(
    caller: Caller,
    query: str,
    how: How = How.WORDS,
    after: HistoryPlace | None = None,
    **given: Any,
) -> Page[HistoryHit, HistoryPlace]:
    """Search what was said."""
    asked = HistoryQuestion(query=query, how=how, **given)
    return search_history(caller=caller, asked=asked, after=after, limit=2)


def found(caller: Caller, query: str, how: How = How.WORDS, **given: Any) -> list[int]:
    """Return the sequences of what was found."""
    return [one.sequence for one in looked(caller, query, how, **given).items]


def test_turns_are_read_in_their_order_page_by_page(shop: Shop) -> None:
    session = said(shop, *TALK)

    first = turns(caller=shop.agent, session_id=session, after=0, limit=2)
    rest = turns(caller=shop.agent, session_id=session, after=first.next_place or 0, limit=2)

    assert [one.text for one in (*first.items, *rest.items)] == list(TALK)
    assert (first.next_place, rest.next_place) == (2, None)


def test_a_page_of_long_turns_is_full_early(shop: Shop) -> None:
    run = shop.opened()
    for _ in range(3):
        run.says(*("word " * 19_000 for _ in range(4)))

    page = turns(caller=shop.agent, session_id=run.id, after=0, limit=200)

    assert page.next_place == len(page.items) == sessions.LARGEST_PAGE // 95_000


def test_what_was_said_is_found_verbatim(shop: Shop) -> None:
    said(shop, *TALK)

    for query, how, sequences in (
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
    ):
        assert found(shop.agent, query, how) == sequences, query


def test_a_thread_is_searched_over_its_sessions_newest_first(shop: Shop) -> None:
    first = said(shop, TALK[0], thread="carts")
    last = said(shop.at(days=1), TALK[1], thread="carts")
    said(shop, TALK[1], thread="other")

    page = looked(shop.agent, "lock", thread="carts")

    assert [one.session_id for one in page.items] == [last, first]


def test_pages_neither_repeat_nor_leave_out(shop: Shop) -> None:
    said(shop, *(f"The lock number {number}." for number in range(5)))

    first = looked(shop.agent, "lock")
    second = looked(shop.agent, "lock", after=first.next_place)
    third = looked(shop.agent, "lock", after=second.next_place)

    seen = [one.sequence for page in (first, second, third) for one in page.items]
    assert (seen, third.next_place) == ([5, 4, 3, 2, 1], None)


def test_of_a_long_turn_the_piece_with_the_words_is_shown(shop: Shop) -> None:
    said(shop, f"{'before ' * 2_000}the needle lies here {'after ' * 2_000}")

    piece = looked(shop.agent, "needle").items[0]

    assert "needle lies here" in piece.text
    assert (len(piece.text), piece.whole, piece.start) == (1_200, 26_021, 13_805)


def test_a_question_without_a_word_is_refused(shop: Shop) -> None:
    for query in ("?!", "", "\x00lock"):
        with pytest.raises(InvalidInput) as refused:
            looked(shop.agent, query)

        assert refused.value.errors[0].pointer == "/query"


def test_what_others_said_for_themselves_is_not_found(shop: Shop) -> None:
    session = said(shop, *TALK, project=shop.slug, thread="carts")

    assert looked(shop.owner, "lock").items == ()
    assert looked(shop.owner, "lock", thread="carts", project=shop.slug) == looked(
        shop.owner, "unsaid"
    )
    with pytest.raises(NotFound):
        looked(shop.owner, "lock", session_id=session)
    with pytest.raises(NotFound):
        turns(caller=shop.owner, session_id=session, after=0, limit=1)


def test_what_is_shared_is_found_by_who_sees_it_alone(shop: Shop) -> None:
    session = said(shop, *TALK, by=shop.owner, project=shop.slug, shared=True)

    assert found(shop.agent, "lock", session_id=session) == [2, 1]
    assert found(replace(shop.agent, bound_projects=(uuid4(),)), "lock") == []


@pytest.mark.usefixtures("tables_of_its_own", "in_organization")
def test_words_are_looked_up_in_their_index() -> None:
    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN SELECT id FROM memory_turn WHERE words @> said_words('lock')")
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert "memory_turn_words" in plan
    assert "Index Cond: (words @>" in plan
