"""Secrets are taken out before anything is sent; words, names and places stay."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.client import masking
from memory.client.transcripts import parsers
from tests.support import secret_kinds

DRAW = random.Random(8)


def test_value_is_taken_out_and_what_is_around_it_stays() -> None:
    value = secret_kinds.filled(form="{A12}7x{A12}", draw=DRAW)
    words = f"It looks for -----END {'PRIVATE'} KEY----- in the file."

    masked = masking.mask(text=f"before DB_PASSWORD={value} after")
    named = masking.mask(text="api_key=>tractor1token: Tractor!4711vio rest")

    assert masked.text == "before DB_PASSWORD=[redacted: assigned_secret] after"
    assert masked.kinds == ("assigned_secret",)
    assert named.text == "api_key=>[redacted: assigned_secret] [redacted: assigned_secret] rest"
    assert masking.mask(text=words).text == words


def _key(lines: int) -> str:
    body = "\n".join(secret_kinds.filled(form="{b64}", draw=DRAW) for _ in range(lines))
    return f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{body}\n-----END RSA {'PRIVATE'} KEY-----"


def test_private_key_that_begins_before_the_tail_of_a_cut_text_is_taken_out() -> None:
    key = _key(50)
    before = ("word " * 3_600)[: 18_000 - len(key) - 1_200]

    kept = parsers.masked(text=f"{before}{key}{' after' * 200}", most=12_000).text

    assert len(kept) == 12_000
    assert kept.endswith(" after")
    assert not [line for line in key.splitlines() if line in kept]


@pytest.mark.parametrize("between", ["\n", "\\n", "\n   12\u2192", '",\n  "'])
def test_private_key_without_its_beginning_is_taken_out(between: str) -> None:
    lines = _key(9).splitlines()[3:]
    short = [*lines[:-1], "aB3=", lines[-1]]

    masked = masking.mask(text=f"The rest is: {between.join(short)} and so on")

    assert masked.kinds == ("private_key",)
    assert masked.text.startswith("The rest is: ")
    assert masked.text.endswith(" and so on")
    assert not [line for line in short if line in masked.text]


def test_what_lies_behind_the_bound_is_dropped_with_half_a_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parsers, "SCANNED_MOST", 2_000)
    value = secret_kinds.filled(form="ghp_{A36}", draw=DRAW)

    kept = parsers.masked(text=f"{'word ' * 396}{value} {'more ' * 2_000}", most=1_900).text

    assert value[4:12] not in kept
    assert "more" not in kept


@given(before=st.integers(0, 3_000), length=st.integers(20, 60))
def test_no_half_of_a_secret_is_left_where_a_text_is_cut(before: int, length: int) -> None:
    value = secret_kinds.filled(form=f"ghp_{{A{length + 30}}}", draw=random.Random(length))
    text = f"{'word ' * (before // 5)}{value} {'word ' * 2_000}"

    kept = parsers.masked(text=text, most=1_000).text

    assert len(kept) <= 1_000
    assert value[4:24] not in kept


@given(text=st.text(max_size=300))
def test_masking_twice_is_masking_once(text: str) -> None:
    once = masking.mask(text=text).text

    assert masking.mask(text=once).text == once
