"""Paths that a `use` of Rust names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.code import references


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a::b", {"a::b": "b"}),
        ("a::b as c", {"a::b": "c"}),
        ("a::*", {"a::*": "*"}),
        ("a::{b, c::{self, d as e,}, f::*}", {
            "a::b": "b", "a::c": "c", "a::c::d": "e", "a::f::*": "*",
        }),
        ("{a, b::{c::{d}}, e}", {"a": "a", "b::c::d": "d", "e": "e"}),
        ("a::{}", {}),
        ("r#type::b", {"r#type::b": "b"}),
        ("}}{,{", {}),
    ],
)  # fmt: skip
def test_a_tree_is_unfolded(text: str, paths: dict[str, str]) -> None:
    found = references.unfold(text=text)

    assert {"::".join(segments): local for segments, local in found} == paths


@given(st.text(alphabet="ab:{},* as", max_size=80))
def test_any_text_is_unfolded(text: str) -> None:
    assert all(segments for segments, _ in references.unfold(text=text))


def test_a_tree_is_not_unfolded_for_ever() -> None:
    assert len(references.unfold(text="a::{" + "b, " * 5_000 + "}")) == references.MOST_PATHS
