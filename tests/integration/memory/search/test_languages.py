"""French memories and queries: stems of both languages, and English ones as before."""

from datetime import datetime
from uuid import UUID

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from memory.index.sql import search_rows
from tests.support.crowds import by_words
from tests.support.memories import CARTS, stored

CACHE = "Le cache Redis est vidé à chaque déploiement ; les jetons sont conservés dans la base."
CARDS = "Les numéros de carte ne sont jamais stockés par le service de paiement."

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def known(caller: Caller, store: str, now: datetime) -> dict[str, UUID]:
    """Two French memories and an English one, their words counted."""
    found = {text: stored(caller, now, text, project=store).id for text in (CACHE, CARDS, CARTS)}
    with tenancy.unit():
        search_rows.refresh_lexicon()
    return found


@pytest.mark.parametrize(
    ("text", "is_french"),
    [
        (CACHE, True),
        ("Pourquoi les signatures échouaient-elles ?", True),
        ("l'erreur n'est pas attendue", True),
        (CARTS, False),
        ("Amélie owns the design system and decides about new tokens", False),
        ("du -sh shows the size of the cache", False),
        ("redis", False),
        ("", False),
    ],
)
def test_small_words_tell_french(caller: Caller, text: str, is_french: bool) -> None:
    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("SELECT is_french(%s)", [text])

        assert cursor.fetchone() == (is_french,)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("vider les caches lors des déploiements", CACHE),
        ("conserver un jeton dans la base", CACHE),
        ("stockage des paiements par carte", CARDS),
    ],
)
def test_another_form_of_a_french_word_is_found(
    caller: Caller, known: dict[str, UUID], text: str, meant: str
) -> None:
    found = by_words(caller=caller, text=text)

    assert max(found.values(), key=lambda one: one.scores["keyword"]).memory_id == known[meant]


def test_technical_words_are_found_across_languages(caller: Caller, known: dict[str, UUID]) -> None:
    assert known[CACHE] in by_words(caller=caller, text="is the redis cache flushed")
    assert known[CARTS] in by_words(
        caller=caller, text="pourquoi des verrous advisory dans postgres"
    )


def test_an_english_word_of_the_same_stem_counts_little(
    caller: Caller, known: dict[str, UUID]
) -> None:
    found = by_words(caller=caller, text="les numéros de carte sont stockés")

    assert found[known[CARDS]].scores["keyword"] > 5 * found[known[CARTS]].scores["keyword"]


def test_a_form_that_is_known_makes_a_full_match(caller: Caller, known: dict[str, UUID]) -> None:
    assert (
        by_words(caller=caller, text="les jeton conservé dans la base")[known[CACHE]].matched == 1.0
    )
