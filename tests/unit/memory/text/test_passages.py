"""Sentences: cut where one ends, not at abbreviations, not in code; long texts stay linear."""

import pytest

from memory.text import passages

ABBREVIATED = "We decided to use X because of Y. "


def test_a_text_of_abbreviations_is_one_sentence() -> None:
    text = ABBREVIATED * 600

    assert passages.split_sentences(text=text) == (text.strip(),)


def test_long_texts_stay_linear() -> None:
    assert len(passages.split_sentences(text=ABBREVIATED * 20_000)) == 1


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Use a cache, e.g. Redis. It is fast.", ("Use a cache, e.g. Redis.", "It is fast.")),
        ("See fig. 3. Done.", ("See fig. 3.", "Done.")),
        ("It is approx. Ten. So be it.", ("It is approx. Ten.", "So be it.")),
        ("Run `make x. Then y` once. Done.", ("Run `make x. Then y` once.", "Done.")),
        ("He said “no.” Then he left.", ("He said “no.”", "Then he left.")),
        ("A whirlpool etc.   Next.", ("A whirlpool etc.   Next.",)),
    ],
)
def test_sentences_are_cut_where_they_end(text: str, cut: tuple[str, ...]) -> None:
    assert passages.split_sentences(text=text) == cut
