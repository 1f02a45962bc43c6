"""Patterns for the database: translated, the endless ones refused, and what a match must hold."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.errors import InvalidInput
from memory.search import lookups

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
        "redis.*refused": "refused",
        r"parse_\w+\(lines\)": "(lines)",
        "colou?rs": "colo",
        "ab+c": "ab",
        "one|two": "",
        "(one|two) three": " three",
        "(?i)redis": "",
        "[[:alpha:]x]yy": "",
        "[abc]": "",
        "über": "ber",
    }

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
