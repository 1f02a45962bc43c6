"""Words of a question: misspelled, in another form or spelling, French, and how rare they are."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from accounts import tenancy
from memory.index import queries as index_queries
from memory.index.models import Lexeme
from memory.intake.actions.remember import remember_all
from memory.search.fusion import FusedCandidate
from tests.support.crowds import by_words
from tests.support.memories import CARTS, PARSER, REDIS, new
from tests.support.reviewed import World

Known = dict[str, UUID]

pytestmark = pytest.mark.usefixtures("in_organization", "clean_cache")

CACHE = "Le cache Redis est vidé à chaque déploiement ; les jetons sont conservés dans la base."
CARDS = "Les numéros de carte ne sont jamais stockés par le service de paiement."
TOKENS = "AuthService keeps its tokens for an hour and asks k8s for new ones."
EXPORTS = "Nightly exports wait for the warehouse and give up after ten minutes."
QUESTION = "What did Caroline say about the kiosk?"
TURNS, KIOSKS = 60, 80
READ = """
    SELECT pg_stat_get_xact_tuples_returned(c.oid) + pg_stat_get_xact_tuples_fetched(c.oid)
    FROM pg_class AS c WHERE c.oid = 'memory_lexeme'::regclass
"""


@pytest.fixture
def known(world: World) -> Known:
    """English and French memories, their words counted."""
    texts = (REDIS, CARTS, PARSER, CACHE, CARDS)
    found = {text: world.stored(text).id for text in texts}
    with tenancy.unit():
        index_queries.refresh_lexicon()
    return found


def found_by(world: World, text: str) -> dict[UUID, FusedCandidate]:
    """Return what a text finds by its words."""
    return by_words(caller=world.owner, text=text)


NEAR = {
    "advisry": CARTS, "advisroy": CARTS, "adviisory": CARTS, "adbisory": CARTS,
    "Optimsitic": CARTS, "unreacheable": REDIS, "parse_invioce": PARSER,
}  # fmt: skip
FAR = ("advi", "adivsroy", "xyzzy", "E4O4X", "catr", "cakes", "bdvisory")


def test_one_letter_away_is_near_but_in_short_words_and_digits(world: World, known: Known) -> None:
    for text, meant in NEAR.items():
        assert known[meant] in found_by(world, text), text
    for text in FAR:
        assert found_by(world, text) == {}, text
    assert set(found_by(world, "billing/parser.py")) == {known[PARSER]}
    assert set(found_by(world, "ECONNREFUSED")) == {known[REDIS]}


def test_the_right_word_counts_for_more_also_among_many(world: World, known: Known) -> None:
    strange = " ".join(f"qwert{'abcdefghij'[number % 10]}yuiop{number}" for number in range(500))
    right = found_by(world, "advisory locks")[known[CARTS]]
    wrong = found_by(world, "advisroy locks")[known[CARTS]]
    among = found_by(world, f"{strange} advisory")[known[CARTS]]

    assert right.scores["keyword"] > wrong.scores["keyword"]
    assert right.matched == pytest.approx(1.0)
    assert 0.4 < wrong.matched < 1.0
    assert among.scores["keyword"] > 0


def test_a_known_word_or_a_new_one_is_not_read_as_another(world: World, known: Known) -> None:
    other = world.stored("The advisors meet on Mondays about the budget.").id
    with tenancy.unit():
        index_queries.refresh_lexicon()
    fresh = world.stored("Advisary is the name of the new billing vendor.").id

    found = found_by(world, "advisary")  # not counted yet

    assert set(found_by(world, "advisory")) == {known[CARTS]}
    assert set(found_by(world, "advisor")) == {other}
    assert found[fresh].scores["keyword"] > found[known[CARTS]].scores["keyword"]


@pytest.mark.usefixtures("tables_of_its_own")  # Postgres knows how full the shared ones once were
def test_few_of_many_words_are_read_before_they_are_known(world: World, known: Known) -> None:
    many = (
        Lexeme(word=f"word{number}", audience=world.owner.organization_id, documents=1)
        for number in range(5_000)
    )

    with tenancy.unit(), connection.cursor() as cursor:
        Lexeme.objects.bulk_create(many)
        cursor.execute(READ)
        before = cursor.fetchone()[0]
        assert found_by(world, "advisroy")
        cursor.execute(READ)

        assert cursor.fetchone()[0] - before < 1_000


FRENCH = {
    CACHE: True, "Pourquoi les signatures échouaient-elles ?": True,
    "l'erreur n'est pas attendue": True, CARTS: False, "redis": False, "": False,
    "Amélie owns the design system and decides about new tokens": False,
    "du -sh shows the size of the cache": False,
}  # fmt: skip
FORMS = {
    "vider les caches lors des déploiements": CACHE,
    "conserver un jeton dans la base": CACHE,
    "stockage des paiements par carte": CARDS,
}


def test_small_words_tell_french(in_organization: object) -> None:
    with tenancy.unit(), connection.cursor() as cursor:
        for text, is_french in FRENCH.items():
            cursor.execute("SELECT is_french(%s)", [text])
            assert cursor.fetchone() == (is_french,), text


def test_french_words_are_found_in_other_forms(world: World, known: Known) -> None:
    for text, meant in FORMS.items():
        found = found_by(world, text)
        first = max(found.values(), key=lambda one: one.scores["keyword"])
        assert first.memory_id == known[meant], text
    whole = found_by(world, "les jeton conservé dans la base")
    assert whole[known[CACHE]].matched == pytest.approx(1.0)
    assert known[CACHE] in found_by(world, "is the redis cache flushed")
    assert known[CARTS] in found_by(world, "pourquoi des verrous advisory dans postgres")
    same = found_by(world, "les numéros de carte sont stockés")  # stem of `carts` too
    assert same[known[CARDS]].scores["keyword"] > 5 * same[known[CARTS]].scores["keyword"]


def signs(world: World, question: str) -> dict[UUID, Mapping[str, Any]]:
    """Return the signs of relevance of every candidate."""
    hits = world.search(question, threshold=0.0).hits
    return {hit.memory.id: hit.explain["relevance"]["signs"] for hit in hits}


def test_another_spelling_or_name_of_a_thing_is_neither_missing_nor_unmatched(world: World) -> None:
    memory = world.stored(TOKENS)
    other = world.stored(EXPORTS)

    for written in ("auth_service", "`auth-service`", "authService", "AuthService"):
        found = signs(world, f"{written} tokens, exports")
        assert (found[memory.id]["missing"], found[other.id]["missing"]) == (0.0, 1.0), written
    for written in ("kubernetes", "Kube", "k8s"):
        found = signs(world, f"{written} tokens")
        assert found[memory.id]["matched"] == pytest.approx(1.0), written
    unknown = signs(world, "terraform tokens of token_store")[memory.id]
    assert unknown["matched"] < 0.5
    assert unknown["missing"] == 1.0


def fill(world: World, project: str, texts: tuple[str, ...]) -> tuple[UUID, ...]:
    """Store texts in a project of their own, and return their ids."""
    world.make_project(project)
    told = tuple(new(text, project=project) for text in texts)
    outcomes = remember_all(caller=world.owner, new=told, now=world.now)
    assert all(one.memory is not None for one in outcomes)
    return tuple(one.memory.id for one in outcomes if one.memory)


@pytest.fixture
def kiosk(world: World) -> UUID:
    """The only turn about a kiosk, of a project in which most begin with one name."""
    others = tuple(
        f"Caroline: the {number}. chapter of the manual is on its way to you."
        for number in range(TURNS)
    )
    first, *_ = fill(world, "talks", ("Mel: the kiosk opens at nine on Sundays.", *others))
    doors = tuple(f"Door {number} of the kiosk has a lock of its own." for number in range(KIOSKS))
    fill(world, "kiosks", doors)
    with tenancy.unit():
        index_queries.refresh_lexicon()
    return first


def best(world: World, project: str | None) -> UUID:
    """Return what words alone find first."""
    wanted = {"mode": "keyword", "threshold": 0.0, "project": project}
    return world.search(QUESTION, **wanted).hits[0].memory.id


def test_a_word_is_as_rare_as_in_its_grown_project(world: World, kiosk: UUID) -> None:
    texts = ("Caroline keeps the plan of the market.", "The kiosk keeps a plan of the market.")
    caroline, _ = fill(world, "new", texts)  # not counted yet

    assert best(world, "talks") == kiosk
    assert best(world, None) != kiosk
    assert best(world, "new") == caroline
