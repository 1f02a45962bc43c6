"""Every text of an event is looked at, with the name that says what it holds."""

from typing import Any

import pytest

from memory.secrets import findings, scanner
from memory.secrets.readings import readings
from memory.sessions import event_parsing
from memory.sessions.events import Event

KEY = "api_key = 'q8Zr2Lk0VwX5nTb7YdJ3'"


def masked(row: object) -> Any:
    """Mask a row with words that name the field they stood in."""
    return findings.mask_texts(row=row, redact=lambda name, text: f"<{name}|{text}>")


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
    for _ in range(findings.DEEPEST + 2):
        deep = {"in": deep}

    assert "secret" not in str(masked(deep))
    assert len(masked(["longer"] * 900)) == findings.MOST


def test_what_is_no_object_is_returned() -> None:
    assert masked(7) == 7


def without(text: str) -> str:
    """Take out what our own rules find."""
    found = scanner.find(every=readings(text=text, is_spoken=True), catalog=scanner.no_catalog)
    return findings.redact(text=text, findings=found)


def told(text: str, redact: findings.Redact) -> str:
    """Return what an event keeps of a text after it was masked."""
    row = findings.mask_texts(row={"kind": "reasoning", "sequence": 1, "text": text}, redact=redact)
    read = event_parsing.read(row=row)
    assert isinstance(read, Event)
    return read.text


@pytest.mark.parametrize("length", [36_001, 40_000, 120_000])
@pytest.mark.parametrize(
    "at", [0, 5_000, 11_880, 11_930, 11_990, 21_950, 21_990, 30_000, -4_020, -3_990, -14_020, -40]
)
def test_of_a_long_text_the_same_is_kept_as_of_all_of_it(length: int, at: int) -> None:
    place = at % length
    words = "the cart is locked by the price job\n" * (length // 36 + 1)
    text = f"{words[:place]}\n{KEY}\n{words[place:]}"[:length]

    kept = told(text, lambda _, part: without(part))

    whole = told(without(text), lambda _, part: part)
    assert "q8Zr2Lk0VwX5nTb7YdJ3" not in kept
    assert (kept[:11_000], kept[-3_900:]) == (whole[:11_000], whole[-3_900:])


def test_of_the_longest_text_a_bounded_part_is_looked_through() -> None:
    seen: list[int] = []

    def look(_name: str, text: str) -> str:
        seen.append(len(text))
        return text

    clean: Any = findings.mask_texts(row={"text": "x" * 8_000_000}, redact=look)

    assert sum(seen) == findings.HEAD + findings.TAIL
    assert len(clean["text"]) == 8_000_000


def test_texts_that_differ_in_their_middle_are_told_apart() -> None:
    first, second = (f"{'x' * 50_000}{middle}{'x' * 50_000}" for middle in ("one", "two"))

    assert masked({"after": first}) != masked({"after": second})
    assert masked({"after": first}) == masked({"after": first})


def test_a_secret_that_is_halved_by_the_cut_is_not_kept() -> None:
    halved = findings.HEAD - 12
    text = f"{'w ' * (halved // 2)}{KEY}{' w' * 20_000}"

    clean: Any = findings.mask_texts(row={"text": text}, redact=lambda _, part: without(part))

    assert "q8Zr" not in clean["text"]
