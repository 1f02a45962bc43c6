"""Sentences that another process reads: they come back as they were, whatever they were made of."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.sentences import Sentence, of_parts, parts_of, sentence, together

VALUES = st.one_of(st.text(), st.integers(), st.tuples(st.text(), st.text()))
INNER = sentence("{count} memories.", count=3)


def kept(text: str) -> str:
    """Write a text down as a job does, and read it as a page does."""
    return of_parts(parts=json.loads(json.dumps(parts_of(text=text))), text=str(text))


@given(value=VALUES)
def test_a_value_comes_back_as_it_was(value: str | int | tuple[str, ...]) -> None:
    (one,) = kept(sentence("It is {value}.", value=value)).several  # type: ignore[attr-defined]

    assert isinstance(one, Sentence)
    assert (one.template, dict(one.values)) == ("It is {value}.", {"value": value})


@pytest.mark.parametrize(
    "text",
    [
        "The key was refused.",
        "50 % of {nothing} at all.",
        sentence("Choose one of: {names}.", names=("keep", "reject")),
        sentence("Refused: {why}", why=INNER),
        together("Wrong key.", "", sentence("Wait {seconds} s.", seconds=30)),
    ],
)
def test_it_reads_the_same(text: str) -> None:
    assert kept(text) == str(text)


def test_a_sentence_in_a_sentence_stays_one() -> None:
    (one,) = kept(sentence("Refused: {why}", why=INNER)).several  # type: ignore[attr-defined]

    assert isinstance(one.values["why"], Sentence)
    assert one.values["why"].template == INNER.template


@pytest.mark.parametrize("parts", [None, []])
def test_what_was_kept_without_parts_is_just_its_text(parts: object) -> None:
    assert of_parts(parts=parts, text="Killed.") == "Killed."
