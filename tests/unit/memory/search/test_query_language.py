"""How a query is worded: its telling words are counted, and French is seen."""

import pytest

from memory.search.query_language import MOST, wording_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("How do we rotate the signing keys of our mobile app?", 5),
        ("who must approve what", 1),
        ("what is it", 3),
        ("Comment restaurer la base de métadonnées ?", 3),
        ("src/cart.ts", 3),
        ("?!", 0),
        ("", 0),
        ("word " * 400, MOST),
    ],
)
def test_words_that_tell_something_are_counted(text: str, words: int) -> None:
    assert wording_of(text=text).words == words


@pytest.mark.parametrize(
    "text",
    [
        "Combien de jours un marchand peut-il rembourser un paiement ?",
        "gel des déploiements pendant les soldes de novembre",
        "Qui décide des nouvelles couleurs du design ?",
        "le panier diffère entre le serveur et le navigateur",
    ],
)
def test_french_is_seen(text: str) -> None:
    assert wording_of(text=text).is_french


@pytest.mark.parametrize(
    "text",
    [
        "Which decline must never be retried?",
        "webhook signature non ascii",
        "E-4407",
        "the café of the office",
        "a cart on a page",
    ],
)
def test_other_texts_are_not(text: str) -> None:
    assert not wording_of(text=text).is_french
