"""What a text is for, against, and takes away."""

import pytest

from memory.records import statement_clauses


@pytest.mark.parametrize(
    ("text", "against"),
    [
        ("Amounts are integers, never floats.", ["floats"]),
        ("We use Postgres instead of MySQL for orders.", ["MySQL for orders"]),
        ("Do not cache prices because they go stale.", ["cache prices"]),
        ("We chose Celery over RQ.", ["RQ"]),
        ("fetch is forbidden elsewhere", ["fetch"]),
        ("Ne pas utiliser Redis ici", ["utiliser Redis ici"]),
        ("Everything goes through the outbox.", []),
    ],
)
def test_what_a_text_is_against(text: str, against: list[str]) -> None:
    assert [one.what for one in statement_clauses.read(text=text).rejected] == against


def test_an_exception_is_kept_apart() -> None:
    (found,) = statement_clauses.read(
        text="Never deploy on Fridays unless a manager agrees."
    ).rejected

    assert (found.what, found.unless) == ("deploy on Fridays", "a manager agrees")


@pytest.mark.parametrize(
    ("text", "away"),
    [
        ("Replace Celery with RQ", ["Celery"]),
        ("Remove the audit log", ["the audit log"]),
        ("Switch from Airflow to cron", ["Airflow"]),
        ("Add a cache", []),
    ],
)
def test_what_a_text_takes_away(text: str, away: list[str]) -> None:
    assert list(statement_clauses.read(text=text).taken) == away


def test_what_is_rejected_or_taken_away_is_not_proposed() -> None:
    said = statement_clauses.read(
        text="Use an index, not a cache, and remove Redis without downtime."
    )

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
    ],
)
def test_what_a_dead_end_tried(content: str, tried: str) -> None:
    assert statement_clauses.approach(content=content) == tried


def test_long_runs_of_spaces_are_read_as_one() -> None:
    assert statement_clauses.read(text=f"Use{' ' * 20_000}carts").affirmed == "Use carts"
    assert (
        statement_clauses.approach(content=f"Tried{' ' * 20_000}carts for all") == "carts for all"
    )
