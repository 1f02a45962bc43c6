"""A word that nobody wrote is read as the nearest that somebody did, for less than the right."""

from datetime import datetime
from uuid import UUID

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from memory.index.models import Lexeme
from memory.index.sql import search_rows
from tests.support.crowds import by_words
from tests.support.memories import CARTS, PARSER, REDIS, stored

pytestmark = pytest.mark.usefixtures("in_organization")

READ = """
    SELECT pg_stat_get_xact_tuples_returned(c.oid) + pg_stat_get_xact_tuples_fetched(c.oid)
    FROM pg_class AS c WHERE c.oid = 'memory_lexeme'::regclass
"""


@pytest.fixture
def known(caller: Caller, store: str, now: datetime) -> dict[str, UUID]:
    """Three memories, their words counted."""
    found = {text: stored(caller, now, text, project=store).id for text in (REDIS, CARTS, PARSER)}
    with tenancy.unit():
        search_rows.refresh_lexicon()
    return found


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("advisry", CARTS),
        ("advisroy", CARTS),
        ("adviisory", CARTS),
        ("adbisory", CARTS),
        ("Optimsitic", CARTS),
        ("unreacheable", REDIS),
        ("parse_invioce", PARSER),
    ],
)
def test_one_letter_away_is_near_enough(
    caller: Caller, known: dict[str, UUID], text: str, meant: str
) -> None:
    assert known[meant] in by_words(caller=caller, text=text)


@pytest.mark.parametrize(
    "text", ["advi", "adivsroy", "xyzzy", "E4O4X", "catr", "cakes", "bdvisory"]
)
def test_what_is_further_away_or_short_or_has_a_digit_is_left_alone(
    caller: Caller, known: dict[str, UUID], text: str
) -> None:
    assert by_words(caller=caller, text=text) == {}


def test_the_right_word_counts_for_more(caller: Caller, known: dict[str, UUID]) -> None:
    right = by_words(caller=caller, text="advisory locks")[known[CARTS]]
    wrong = by_words(caller=caller, text="advisroy locks")[known[CARTS]]

    assert right.scores["keyword"] > wrong.scores["keyword"]
    assert right.matched == pytest.approx(1.0)
    assert 0.4 < wrong.matched < 1.0


def test_a_known_word_is_never_read_as_another(
    caller: Caller, known: dict[str, UUID], store: str, now: datetime
) -> None:
    other = stored(caller, now, "The advisors meet on Mondays about the budget.", project=store).id
    with tenancy.unit():
        search_rows.refresh_lexicon()

    assert set(by_words(caller=caller, text="advisory")) == {known[CARTS]}
    assert set(by_words(caller=caller, text="advisor")) == {other}


def test_identifiers_paths_and_codes_are_still_hit_exactly(
    caller: Caller, known: dict[str, UUID]
) -> None:
    assert set(by_words(caller=caller, text="billing/parser.py")) == {known[PARSER]}
    assert set(by_words(caller=caller, text="ECONNREFUSED")) == {known[REDIS]}


def test_a_word_written_after_the_count_is_found_as_it_is(
    caller: Caller, known: dict[str, UUID], store: str, now: datetime
) -> None:
    fresh = stored(caller, now, "Advisary is the name of the new billing vendor.", project=store).id

    found = by_words(caller=caller, text="advisary")

    assert found[fresh].scores["keyword"] > found[known[CARTS]].scores["keyword"]


def test_a_query_of_very_many_strange_words_is_answered(
    caller: Caller, known: dict[str, UUID]
) -> None:
    strange = " ".join(f"qwert{'abcdefghij'[number % 10]}yuiop{number}" for number in range(2_000))

    assert by_words(caller=caller, text=f"{strange} advisory")[known[CARTS]].scores["keyword"] > 0


@pytest.mark.usefixtures("tables_of_its_own")  # Postgres knows how full the shared ones once were
def test_few_of_many_words_are_read_before_anything_is_known_of_them(
    caller: Caller, known: dict[str, UUID]
) -> None:
    many = (
        Lexeme(word=f"word{number}", audience=caller.organization_id, documents=1)
        for number in range(5_000)
    )

    with tenancy.unit(), connection.cursor() as cursor:
        Lexeme.objects.bulk_create(many)
        cursor.execute(READ)
        before = cursor.fetchone()[0]
        assert by_words(caller=caller, text="advisroy")
        cursor.execute(READ)

        assert cursor.fetchone()[0] - before < 1_000
