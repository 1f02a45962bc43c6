"""The word diff: what it shows, and that both texts can be read out of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.presenters import text_changes
from frontend.presenters.text_changes import Change, Piece


def _without(pieces: tuple[Piece, ...], change: Change) -> str:
    return "".join(piece.text for piece in pieces if piece.change is not change)


def test_replaced_word_is_removed_and_added() -> None:
    pieces = text_changes.words(old="fails when Redis is slow", new="fails when Redis is gone")

    assert [(piece.change.value, piece.text) for piece in pieces] == [
        ("same", "fails when Redis is "),
        ("removed", "slow"),
        ("added", "gone"),
    ]


def test_equal_texts_are_one_piece() -> None:
    assert text_changes.words(old="same", new="same") == (Piece(change=Change.SAME, text="same"),)


def test_nothing_differs_from_nothing() -> None:
    assert text_changes.words(old="", new="") == ()


def test_long_texts_are_replaced_whole() -> None:
    old = "word " * text_changes.LONGEST_COMPARED

    pieces = text_changes.words(old=old, new="short")

    assert [piece.change for piece in pieces] == [Change.REMOVED, Change.ADDED]


@given(old=st.text(max_size=200), new=st.text(max_size=200))
def test_both_texts_can_be_read_out(old: str, new: str) -> None:
    pieces = text_changes.words(old=old, new=new)

    assert _without(pieces, Change.ADDED) == old
    assert _without(pieces, Change.REMOVED) == new


@pytest.mark.parametrize("text", ["a\n\nb", "été naïf", "x=1;y=2", "日本語"])
def test_every_kind_of_text_is_kept(text: str) -> None:
    pieces = text_changes.words(old=text, new=f"{text}!")

    assert _without(pieces, Change.ADDED) == text
