"""A query is understood without a model: its kind, its words, its language, its links."""

from memory.search import query as queries
from memory.search.query import MOST_WORDS, wording_of


def test_kinds() -> None:
    kinds = {
        "getUserName": "identifier",
        "src/auth/token.py": "identifier",
        "shipment 02d77662-6526-429a-8e8b-e36ddb3e8782": "identifier",
        "what broke in 7ed2808": "identifier",
        "why was PAY-42 closed": "identifier",
        "patch for CVE-2024-31497": "identifier",
        "the defaced 1234567 facade": "semantic",
        "why utf-8 and not utf-16 here": "semantic",
        "what calls parseToken": "structural",
        "impact of changing the schema": "structural",
        "why did we leave MySQL for the queue of the importer": "semantic",
        "": "semantic",
    }

    assert {text: queries.understand(text=text).kind.value for text in kinds} == kinds


def test_a_query_is_normalized_and_widened_for_keywords() -> None:
    query = queries.understand(text="  fix\u200b  tokenStore\n")

    assert query.normalized == "fix tokenStore"
    assert query.keyword_text == "fix tokenStore\ntoken store"
    assert query.identifiers == {"tokenStore": "token store"}


def test_words_that_tell_something_are_counted() -> None:
    counts = {
        "How do we rotate the signing keys of our mobile app?": 5,
        "what is it": 3,
        "Comment restaurer la base de métadonnées ?": 3,
        "?!": 0,
        "": 0,
        "word " * 400: MOST_WORDS,
    }

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
