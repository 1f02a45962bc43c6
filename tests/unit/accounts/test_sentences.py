"""A sentence reads as its English text everywhere and keeps what it was made of."""

import copy
import json
import pickle

import orjson
import pytest

from accounts.errors import NotFound, RateLimited
from accounts.messages import Message, message

TAKEN = "The address {slug} is taken."


def test_sentence_is_its_english_text() -> None:
    said = message(TAKEN, slug="acme")

    assert said == "The address acme is taken."
    assert json.loads(json.dumps(said)) == orjson.loads(orjson.dumps(said)) == str(said)
    assert f"{said} Again." == "The address acme is taken. Again."


def test_sentence_keeps_template_and_values() -> None:
    said = message(TAKEN, slug="acme")

    assert (said.template, said.values) == (TAKEN, {"slug": "acme"})


def test_lists_are_joined_and_figures_are_written_as_the_template_says() -> None:
    said = message("{most:,} of {names}, not {given!r}.", most=12_000, names=("a", "b"), given="c")

    assert said == "12,000 of a, b, not 'c'."


def test_sentence_may_hold_another() -> None:
    inner = message("it has {length} characters", length=3)

    assert message("Not usable: {why}.", why=inner) == "Not usable: it has 3 characters."


def test_braces_are_places_only_where_there_are_values() -> None:
    assert message("Put a backslash before { and }.") == "Put a backslash before { and }."
    assert message("{given} is none.", given="{slug}") == "{slug} is none."


def test_place_without_a_value_is_a_fault_at_once() -> None:
    with pytest.raises(KeyError):
        message(TAKEN, name="acme")


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_is_the_same_sentence(copied: object) -> None:
    again = copied(message(TAKEN, slug="acme"))  # type: ignore[operator]

    assert isinstance(again, Message)
    assert (again, again.values) == ("The address acme is taken.", {"slug": "acme"})


def test_a_refusal_keeps_the_sentence_it_was_given() -> None:
    error = NotFound(detail=message(TAKEN, slug="acme"), hint="Choose another one.")

    assert isinstance(error.detail, Message)
    assert str(error) == "The address acme is taken."


def test_too_fast_says_how_long_to_wait() -> None:
    error = RateLimited(detail="Too many tries.", retry_after_seconds=7)

    assert error.hint == "Try again in 7 s."
