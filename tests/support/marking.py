"""A reader of names that marks what it is told to, and one that is not there or altered."""

import re
from collections.abc import Callable
from pathlib import Path

from memory.providers.contracts import NameReader, ReadSpan
from memory.providers.errors import ProviderUnavailable
from memory.providers.name_reader import LIBRARY
from memory.providers.weights import NAME_READER

PEOPLE = {"Priya Raman": "PERSON", "Marco": "PERSON", "Globex": "ORG", "Lisbon": "GPE"}


def marks_of(text: str) -> tuple[ReadSpan, ...]:
    """Return marks of the names in `PEOPLE`, wherever they stand."""
    return tuple(
        ReadSpan(label=PEOPLE[found.group()], start=found.start(), end=found.end())
        for found in re.finditer("|".join(PEOPLE), text)
    )


def marking(
    *, heard: list[str] | None = None, meanwhile: Callable[[], object] = list
) -> NameReader:
    """Return a reader; it tells what it was given, and does something before it answers."""

    def read(texts: tuple[str, ...]) -> tuple[tuple[ReadSpan, ...], ...]:
        if heard is not None:
            heard.extend(texts)
        meanwhile()
        return tuple(marks_of(text) for text in texts)

    return read


def not_there() -> NameReader:
    """Open a reader that is not installed."""
    raise ProviderUnavailable(detail="It is not installed.", hint="Run: make ner")


def put_library(folder: Path) -> None:
    """Write a library of that name; whoever imports it stops."""
    folder.mkdir()
    (folder / f"{LIBRARY}.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")


def put_altered(folder: Path) -> Path:
    """Write the model's files with their sizes and other bytes; return the folder."""
    for file in NAME_READER.files:
        path = folder / NAME_READER.name / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * file.size_bytes)
    return folder
