"""A query is understood without a model; a pattern is made for the database."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.errors import InvalidInput
from memory.search import lookups
from memory.search import query as queries
from memory.search.query import MOST_WORDS, wording_of


def test_kinds() -> None:
    kinds = {
        "getUserName": "identifier", "src/auth/token.py": "identifier",
        "shipment 02d77662-6526-429a-8e8b-e36ddb3e8782": "identifier",
        "what broke in 7ed2808": "identifier", "why was PAY-42 closed": "identifier",
        "patch for CVE-2024-31497": "identifier", "the defaced 1234567 facade": "semantic",
        "why utf-8 and not utf-16 here": "semantic", "what calls parseToken": "structural",
        "impact of changing the schema": "structural",
        "why did we leave MySQL for the queue of the importer": "semantic", "": "semantic",
    }  # fmt: skip

    assert {text: queries.understand(text=text).kind.value for text in kinds} == kinds


def test_a_query_is_normalized_and_widened_for_keywords() -> None:
    query = queries.understand(text="  fix\u200b  tokenStore\n")

    assert query.normalized == "fix tokenStore"
    assert query.keyword_text == "fix tokenStore\ntoken store"
    assert query.identifiers == {"tokenStore": "token store"}


def test_words_that_tell_something_are_counted() -> None:
    counts = {
        "How do we rotate the signing keys of our mobile app?": 5, "what is it": 3,
        "Comment restaurer la base de métadonnées ?": 3, "?!": 0, "": 0, "word " * 400: MOST_WORDS,
    }  # fmt: skip

    assert {text: wording_of(text=text).words for text in counts} == counts


def test_french_is_seen() -> None:
    french = (
        "Combien de jours un marchand peut-il rembourser un paiement ?",
        "le panier diffère entre le serveur et le navigateur",
    )
    others = (
        "Which decline must never be retried?", "E-4407", "the café of the office",
        "a cart on a page",
    )  # fmt: skip

    assert all(wording_of(text=text).is_french for text in french)
    assert not any(wording_of(text=text).is_french for text in others)


SIGNS = st.sampled_from(
    ["a", "b", "_", ".", r"\.", r"\d", "[ab]", "[^]a]", "é", "(ab)", "(a|b)", " "]
)
TIMES = st.sampled_from(["", "", "", "*", "+", "?", "{0,2}", "{1}"])
PATTERNS = st.lists(st.tuples(SIGNS, TIMES).map("".join), min_size=1, max_size=6).map("".join)
TEXTS = st.text(alphabet="abé_. 1", max_size=40)


def test_patterns_are_made_ready() -> None:
    for given_text, text, ignores_case in (
        ("Redis", "Redis", False),
        (r"\bredis\b", r"\yredis\y", True),
        (r"\Wredis\B", r"\Wredis\Y", True),
        (r"C:\\b", r"C:\\b", False),
    ):
        read = lookups.read_pattern(text=given_text)
        assert (read[0], read[2]) == (text, ignores_case)


def test_what_could_take_forever_is_refused() -> None:
    for text in ("", "a" * 201, r"(a)\1", "***=a"):
        with pytest.raises(InvalidInput) as refused:
            lookups.read_pattern(text=text)
        assert refused.value.errors[0].code == "broken_pattern"


def test_what_every_match_must_hold_is_found() -> None:
    literals = {
        "redis.*refused": "refused", r"parse_\w+\(lines\)": "(lines)", "colou?rs": "colo",
        "ab+c": "ab", "one|two": "", "(one|two) three": " three", "(?i)redis": "",
        "[[:alpha:]x]yy": "", "[abc]": "", "über": "ber",
    }  # fmt: skip

    assert {text: lookups.read_pattern(text=text)[1] for text in literals} == literals


@given(pattern=PATTERNS, text=TEXTS)
def test_a_text_without_it_is_no_match(pattern: str, text: str) -> None:
    _, literal, ignores_case = lookups.read_pattern(text=pattern)

    if re.search(pattern, text, re.IGNORECASE if ignores_case else 0):
        assert literal in text


def test_a_match_is_shown_with_what_stands_around_it() -> None:
    content = f"{'x' * 80} needle\nin {'y' * 80}"
    start = content.index("needle")

    shown = lookups.excerpt(content=content, start=start, end=start + 6)

    assert shown == f"…{'x' * 59} needle in {'y' * 56}…"
