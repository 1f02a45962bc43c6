"""Sentences that another process reads: they come back as they were, whatever they were made of."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.messages import Message, from_parts, join_messages, message, to_parts

VALUES = st.one_of(st.text(), st.integers(), st.tuples(st.text(), st.text()))
INNER = message("{count} memories.", count=3)


def kept(text: str) -> str:
    """Write a text down as a job does, and read it as a page does."""
    return from_parts(parts=json.loads(json.dumps(to_parts(text=text))), text=str(text))


@given(value=VALUES)
def test_a_value_comes_back_as_it_was(value: str | int | tuple[str, ...]) -> None:
    (one,) = kept(message("It is {value}.", value=value)).several  # type: ignore[attr-defined]

    assert isinstance(one, Message)
    assert (one.template, dict(one.values)) == ("It is {value}.", {"value": value})


@pytest.mark.parametrize(
    "text",
    [
        "The key was refused.",
        "50 % of {nothing} at all.",
        message("Choose one of: {names}.", names=("keep", "reject")),
        message("Refused: {why}", why=INNER),
        join_messages("Wrong key.", "", message("Wait {seconds} s.", seconds=30)),
    ],
)
def test_it_reads_the_same(text: str) -> None:
    assert kept(text) == str(text)


def test_a_sentence_in_a_sentence_stays_one() -> None:
    (one,) = kept(message("Refused: {why}", why=INNER)).several  # type: ignore[attr-defined]

    assert isinstance(one.values["why"], Message)
    assert one.values["why"].template == INNER.template


@pytest.mark.parametrize("parts", [None, []])
def test_what_was_kept_without_parts_is_just_its_text(parts: object) -> None:
    assert from_parts(parts=parts, text="Killed.") == "Killed."
