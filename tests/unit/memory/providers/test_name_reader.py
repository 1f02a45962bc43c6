"""Which reader of names has read a memory is a number that grows with what it finds."""

import hashlib
from collections.abc import Iterator

import pytest

from memory.entities import accurate
from memory.entities.accurate import COMMON, SOFTWARE
from memory.providers import name_reader
from memory.providers.errors import ProviderInvalidAnswer
from memory.providers.weights import NAME_READER


def test_a_reader_that_reads_otherwise_has_another_number() -> None:
    patterns = (accurate._NAME, accurate._ABBREVIATION, accurate._HUMPED, accurate._PERIOD)
    tables = (accurate.KINDS, sorted(SOFTWARE), sorted(COMMON), sorted(accurate._COMPANY))
    files = tuple(file.sha256 for file in NAME_READER.files)
    parts = (tables, [one.pattern for one in patterns], files, name_reader.EVERYDAY)

    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:12]

    assert (name_reader.NUMBER, digest) == (1, "960d3e413fd4")  # change both together


def test_what_a_library_raises_over_a_text_is_said_in_our_words() -> None:
    class Stumbling:
        def pipe(self, texts: tuple[str, ...]) -> Iterator[object]:
            raise ValueError(texts)

    read = name_reader._reader(Stumbling(), frozenset())

    with pytest.raises(ProviderInvalidAnswer, match="failed on a text"):
        read(("Marco",))


def test_a_single_word_of_the_dictionary_is_everyday() -> None:
    words = frozenset({"teach", "key"})

    for text in ("Teach", "Keys", "Idempotency-Key"):
        assert name_reader._is_everyday(text, words), text
    for text in ("Marco", "Jean-Luc", "Teach Key", ""):
        assert not name_reader._is_everyday(text, words), text
