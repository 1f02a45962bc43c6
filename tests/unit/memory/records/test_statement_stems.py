"""Stems are alike where words are of one family, and names are told from words."""

import pytest

from memory.records import statement_clauses


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("caching", "cache"),
        ("cached", "caches"),
        ("retries", "retry"),
        ("retried", "retry"),
        ("migrations", "migrate"),
        ("stopped", "stops"),
        ("queries", "query"),
        ("locking", "locks"),
        ("postgres", "postgresql"),
    ],
)
def test_words_of_one_family_have_one_stem(one: str, other: str) -> None:
    assert statement_clauses.stem(word=one) == statement_clauses.stem(word=other)


def test_compounds_are_taken_apart_and_empty_words_left_out() -> None:
    assert statement_clauses.stems(text="Add the priceCache to use_cart") == {
        "pric",
        "cach",
        "cart",
    }
    assert statement_clauses.stems(text="add and change it, then use 42") == frozenset()


def test_names_are_tools_and_code() -> None:
    assert statement_clauses.names(text="Replace Celery in `run_jobs` tomorrow") >= {
        "celery",
        "job",
    }
    assert "tomorrow" not in statement_clauses.names(text="Replace Celery tomorrow")


def test_numbers_are_kept_by_their_unit() -> None:
    found = statement_clauses.quantities(text="retried 12 times in 3 days, 170 kB, 5 s and 30 %")

    assert found["day"] == {"3"}
    assert found["second"] == {"5"}
    assert found["%"] == {"30"}
    assert found[statement_clauses.stem(word="times")] == {"12"}
