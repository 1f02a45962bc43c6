"""Every text of an event is looked at, with the name that says what it holds."""

from typing import Any

from memory.observer import masking


def masked(row: object) -> Any:
    """Mask a row with words that name the field they stood in."""
    return masking.masked(row=row, redact=lambda name, text: f"<{name}|{text}>")


def test_texts_are_looked_at_with_their_telling_names() -> None:
    row = {"kind": "tool_call", "args": {"password": "tractor", "list": ["one two"], "n": 7}}

    assert masked(row) == {
        "kind": "<|tool_call>",
        "args": {"password": "<password|tractor>", "list": ["<list|one two>"], "n": 7},
    }


def test_short_texts_and_other_values_are_as_they_were() -> None:
    assert masked({"a": "Read", "b": None, "c": 1.5, "d": True}) == {
        "a": "Read", "b": None, "c": 1.5, "d": True,
    }  # fmt: skip


def test_what_stands_too_deep_or_is_too_long_is_cut_off() -> None:
    deep: object = "a secret text"
    for _ in range(masking.DEEPEST + 2):
        deep = {"in": deep}

    assert "secret" not in str(masked(deep))
    assert len(masked(["longer"] * 900)) == masking.MOST


def test_what_is_no_object_is_returned() -> None:
    assert masked(7) == 7
