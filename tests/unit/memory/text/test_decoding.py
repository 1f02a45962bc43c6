"""Bytes as text, whatever wrote them; binary files are told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text import decoding

TEXT = "Der Schlüssel läuft ab. “Quoted”"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_a_text_is_read_in_the_encoding_it_was_written_with(encoding: str) -> None:
    decoded = decoding.decode(data=TEXT.encode(encoding))

    assert (decoded.text, decoded.fault) == (TEXT, "")


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b"PK\x03\x04\x00",
        b"\x7fELF\x02\x01\x01\x00",
        bytes(range(32)) * 9,
        b"\xff\xfea",
        "a\x00b".encode("utf-16"),
    ],
)
def test_what_is_not_text_is_refused(data: bytes) -> None:
    decoded = decoding.decode(data=data)

    assert decoded.text == ""
    assert decoded.fault


@given(data=st.binary(max_size=400))
def test_whatever_is_read_can_be_stored(data: bytes) -> None:
    decoded = decoding.decode(data=data)

    assert "\x00" not in decoded.text
    assert decoded.text.encode().decode() == decoded.text
