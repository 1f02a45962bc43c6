"""What is known of the readings of a text is never less than what is in each."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memory.secrets.secret_readings import LONG_LEAST, Readings, is_odd

HINTS = {"key": ("api key",), "=": (), "pass": ("password", "passwd")}
PARTS = st.sampled_from(
    ["api key", "Password", "pass", "=", "a" * LONG_LEAST, "b1_" * 8, "short", " ", "\n", "é"]
)
TEXTS = st.lists(st.lists(PARTS, max_size=8).map("".join), max_size=4)


@given(TEXTS)
def test_of_each_reading_all_hints_and_all_long_words_are_known(texts: list[str]) -> None:
    known = Readings(hints=HINTS)
    words: set[str] = set()

    for text in texts:
        known.read(text=text)
        words |= known.take_untried()

        asked = {hint for short, longer in HINTS.items() for hint in (short, *longer)}
        assert {hint for hint in asked if hint in text.lower()} <= known.hints
        assert {word for word in text.split() if len(word) >= LONG_LEAST} <= words
    assert known.take_undecoded() == words


def test_a_word_is_given_out_once() -> None:
    known = Readings()
    known.read(text=f"one {'a' * LONG_LEAST}")
    known.take_untried()

    known.read(text=f"two {'a' * LONG_LEAST} {'b' * LONG_LEAST}\nthree")

    assert known.take_untried() == {"b" * LONG_LEAST}


def test_every_letter_that_matches_an_ascii_one_of_another_case_is_odd() -> None:
    beyond = "".join(map(chr, range(0x80, 0x110000)))

    matching = re.findall("(?i)[a-z]", beyond)

    assert matching
    assert all(is_odd(text=one) for one in matching)
    assert not is_odd(text=re.sub("(?i)[a-z]", "", beyond))


def test_other_letters_stand_where_they_stood_once_they_are_small() -> None:
    beyond = "".join(one for one in map(chr, range(0x110000)) if not is_odd(text=one))

    assert all(len(one.lower()) == 1 for one in beyond)
