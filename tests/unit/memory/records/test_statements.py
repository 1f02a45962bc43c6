"""What statements assert, are for, against and about, and where two differ."""

import pytest

from memory.records import assertions, statement_clauses
from memory.records.assertions import Difference


def test_words_of_withdrawal_are_known_and_two_negations_affirm() -> None:
    for text in ("We no longer use pip.", "The v1 API was removed."):
        assert assertions.marks_retraction(text=text)
    assert not assertions.is_negated(text="It is not true that the cache is not shared.")
    assert assertions.jaccard(left=frozenset(), right=frozenset()) == 1.0


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Use tabs in Makefiles.", "Never use tabs in Makefiles.", Difference.POLARITY),
        ("Requests time out after 30 s.", "Requests time out after 60 s.", Difference.VALUE),
        ("Prices come from the Adyen API.", "Prices come from the Klarna API.", Difference.VALUE),
        ("Use tabs in Makefiles.", "In Makefiles, use tabs.", Difference.NONE),
    ],
)
def test_a_restatement_has_the_same_values_names_and_sense(
    old: str, new: str, expected: Difference
) -> None:
    says = assertions.assertion(text=new)

    assert assertions.difference_of_restatement(old=old, new=says) is expected


def test_what_a_text_is_against_and_takes_away() -> None:
    against = {
        "Amounts are integers, never floats.": ["floats"],
        "We use Postgres instead of MySQL for orders.": ["MySQL for orders"],
        "Do not cache prices because they go stale.": ["cache prices"],
        "We chose Celery over RQ.": ["RQ"],
        "fetch is forbidden elsewhere": ["fetch"],
        "Ne pas utiliser Redis ici": ["utiliser Redis ici"],
        "Everything goes through the outbox.": [],
        "Settings go to app.yaml, not .env": [".env"],
        "Shallow clones are no longer supported.": ["supported", "Shallow clones"],
        "session.old isn't there, so one must not use it.": ["session.old isn't there"],
        "Orders must not be sent twice.": ["Orders sent twice"],
        "Les brouillons ne doivent pas être supprimés.": ["Les brouillons"],
    }
    away = {
        "Replace Celery with RQ": ["Celery"],
        "Remove the audit log": ["the audit log"],
        "Switch from Airflow to cron": ["Airflow"],
        "Add a cache": [],
    }

    for text, rejected in against.items():
        assert [one.what for one in statement_clauses.read(text=text).rejected] == rejected
    for text, taken in away.items():
        assert list(statement_clauses.read(text=text).taken) == taken


@pytest.mark.parametrize(
    ("text", "rejected"),
    [
        ("We chose Redis Streams over Kafka for the event bus.", ["Kafka"]),
        ("The project does not use Redis.", ["use Redis"]),
        ("The team doesn't merge on Fridays.", ["merge on Fridays"]),
        ("The cache does not allow keys over 250 bytes.", []),
        ("Don't forget to update the OpenAPI schema.", []),
        ("This does not affect MAX_RETRIES.", []),
        ("The bug was not in parse_header but in the proxy.", []),
        ("There is no UserFactory yet.", []),
        ("Not every URL needs a trailing slash.", []),
    ],
)
def test_what_says_not_is_only_at_times_a_prohibition(text: str, rejected: list[str]) -> None:
    assert [one.what for one in statement_clauses.read(text=text).rejected] == rejected


def test_an_exception_is_kept_apart_and_what_is_rejected_or_taken_away_is_not_proposed() -> None:
    never = "Never deploy on Fridays unless a manager agrees."
    (found,) = statement_clauses.read(text=never).rejected
    said = statement_clauses.read(
        text="Use an index, not a cache, and remove Redis without downtime."
    )

    removing, replacing, unmerged = (
        statement_clauses.read(text=text).rejected[0]
        for text in (
            "Never remove the outbox",
            "Do not replace moment with dayjs",
            "No patches that haven't been merged upstream.",
        )
    )

    assert (found.what, found.unless) == ("deploy on Fridays", "a manager agrees")
    assert (removing.what, removing.taken) == ("the outbox", "the outbox")
    assert (replacing.what, replacing.taken) == ("moment with dayjs", "moment")
    assert (unmerged.what, unmerged.unless) == ("patches", "merged upstream")
    assert said.affirmed.split() == ["Use", "an", "index,", "not", ",", "and", "remove", "."]


@pytest.mark.parametrize(
    ("content", "tried"),
    [
        (
            "We tried optimistic locking on accounts; four of five postings retried.",
            "optimistic locking on accounts",
        ),
        ("Caching prices in the browser failed: they were stale.", "Caching prices in the browser"),
        ("For “Faster prices”, running `npm ci` did not work.", "running `npm ci`"),
        ("Client-side fuzzy search was dropped: it froze phones.", "Client-side fuzzy search"),
        ("Skipping the warmup made the first request slow.", "Skipping the warmup"),
    ],
)
def test_what_a_dead_end_tried(content: str, tried: str) -> None:
    assert statement_clauses.approach(content=content) == tried


def test_names_of_code_have_one_spelling_and_are_met_whole() -> None:
    text = (
        "Read DB_SERVICE_ROLE, redis.keys() and isPainting; use KEYS, an .env file and plain words"
    )
    named = statement_clauses.identifiers(text=text)

    assert named == {"db_service_role", "redis.keys", "is_painting", "keys", "env"}
    for name, is_held in (("service_role", True), ("keys", True), ("role", False), ("key", False)):
        assert statement_clauses.holds_name(named=named, name=name) is is_held


@pytest.mark.parametrize(
    ("clause", "named"),
    [
        ("return raw SQL errors from db.session", {"db.session"}),
        ("call `KEYS` for carts", {"keys"}),
        ("use KEYS", {"keys"}),
        ("plain words", set()),
    ],
)
def test_a_word_in_capitals_names_code_only_as_code_or_alone(clause: str, named: set[str]) -> None:
    assert statement_clauses.code_names(clause=clause) == named


def test_what_a_sentence_is_for_is_read_without_its_reasons() -> None:
    text = "Guard it with isOpen, not open, because open may be stale. Other words."

    affirmed = statement_clauses.affirmed_beside(text=text, clause="open")

    assert "isOpen" in affirmed
    assert "stale" not in affirmed
    assert "Other" not in affirmed


def test_letters_that_are_not_english_do_not_split_a_word() -> None:
    assert statement_clauses.stems(text="combinación nœuds") == {"combinación", "nœud"}


def test_long_runs_of_spaces_are_read_as_one() -> None:
    assert statement_clauses.read(text=f"Use{' ' * 20_000}carts").affirmed == "Use carts"
    assert (
        statement_clauses.approach(content=f"Tried{' ' * 20_000}carts for all") == "carts for all"
    )


def test_words_of_one_family_have_one_stem() -> None:
    families = (
        "caching cache cached caches", "retries retry retried", "migrations migrate",
        "stopped stops", "queries query", "locking locks", "postgres postgresql",
    )  # fmt: skip
    for family in families:
        assert len({statement_clauses.stem(word=word) for word in family.split()}) == 1, family


def test_compounds_are_taken_apart_empty_words_left_out_and_names_are_tools_and_code() -> None:
    stems = statement_clauses.stems(text="Add the priceCache to use_cart")
    names = statement_clauses.names(text="Replace Celery in `run_jobs` tomorrow")

    assert stems == {"pric", "cach", "cart"}
    assert statement_clauses.stems(text="add and change it, then use 42") == frozenset()
    assert names >= {"celery", "job"}
    assert "tomorrow" not in names


def test_numbers_are_kept_by_their_unit() -> None:
    found = statement_clauses.quantities(text="retried 12 times in 3 days, 170 kB, 5 s and 30 %")

    assert found["day"] == {"3"}
    assert found["second"] == {"5"}
    assert found["%"] == {"30"}
    assert found[statement_clauses.stem(word="times")] == {"12"}
