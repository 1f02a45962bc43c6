"""A message reads as its English text everywhere and keeps what it was made of."""

import copy
import json
import pickle

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.errors import NotFound, RateLimited
from accounts.messages import Message, from_parts, join_messages, message, to_parts

TAKEN = "The address {slug} is taken."
VALUES = st.one_of(st.text(), st.integers(), st.tuples(st.text(), st.text()))
INNER = message("{count} memories.", count=3)


def test_message_is_its_english_text_and_keeps_template_and_values() -> None:
    said = message(TAKEN, slug="acme")

    assert said == "The address acme is taken."
    assert (said.template, said.values) == (TAKEN, {"slug": "acme"})
    assert json.loads(json.dumps(said)) == orjson.loads(orjson.dumps(said)) == str(said)
    assert f"{said} Again." == "The address acme is taken. Again."
    with pytest.raises(KeyError):
        message(TAKEN, name="acme")


def test_values_are_written_as_the_template_says() -> None:
    said = message("{most:,} of {names}, not {other!r}.", most=12_000, names=("a", "b"), other="c")
    inner = message("it has {length} characters", length=3)

    assert said == "12,000 of a, b, not 'c'."
    assert message("Not usable: {why}.", why=inner) == "Not usable: it has 3 characters."
    assert message("Put a backslash before { and }.") == "Put a backslash before { and }."
    assert message("{other} is none.", other="{slug}") == "{slug} is none."


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_is_the_same_message(copied: object) -> None:
    again = copied(message(TAKEN, slug="acme"))  # type: ignore[operator]

    assert isinstance(again, Message)
    assert (again, again.values) == ("The address acme is taken.", {"slug": "acme"})


def test_a_refusal_keeps_its_message_and_says_how_long_to_wait() -> None:
    error = NotFound(detail=message(TAKEN, slug="acme"), hint="Choose another one.")

    assert isinstance(error.detail, Message)
    assert str(error) == "The address acme is taken."
    assert RateLimited(detail="Too many.", retry_after_seconds=7).hint == "Try again in 7 s."


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


def test_a_message_in_a_message_stays_one() -> None:
    (one,) = kept(message("Refused: {why}", why=INNER)).several  # type: ignore[attr-defined]

    assert isinstance(one.values["why"], Message)
    assert one.values["why"].template == INNER.template


def test_what_was_kept_without_parts_is_just_its_text() -> None:
    assert from_parts(parts=None, text="Killed.") == "Killed."
    assert from_parts(parts=[], text="Killed.") == "Killed."
