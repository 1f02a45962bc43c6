"""Tokens are counted on the high side, and counts of lines add up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text import tokens


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("cache", 1),
        ("refresh", 2),
        ("the cache", 2),
        ("the\ncache", 3),
        ("a    b", 3),
        ("auth/token.py:118", 8),
        ("mémoire", 4),
        ("日本", 4),
        ("🚀", 2),
    ],
)
def test_pieces_have_a_cost(text: str, count: int) -> None:
    assert tokens.count(text=text) == count


@given(one=st.text(), two=st.text())
def test_counts_of_lines_add_up(one: str, two: str) -> None:
    together = tokens.count(text=f"{one}\n{two}")

    assert together == tokens.count(text=f"{one}\n") + tokens.count(text=two)


@given(text=st.text(alphabet=st.characters(exclude_categories=("Cs", "Zs")), min_size=1))
def test_only_spaces_cost_nothing(text: str) -> None:
    assert 0 <= tokens.count(text=text) <= 2 * len(text)
    assert tokens.count(text=text) > 0 or text.isspace()
