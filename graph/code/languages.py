"""The languages of code: their extensions, their tests by name, and what they bring along."""

import builtins
import re
import tomllib
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path, PurePosixPath
from posixpath import splitext
from typing import Final

_STEM = re.compile(r"^test_(?P<after>.+)$|^(?P<before>.+?)(?:_test|[.](?:test|spec))$")
_PYTHON_TYPES = (str, bytes, int, float, list, tuple, dict, set, frozenset, type(iter(())), object)


class Language(StrEnum):
    """The languages that are parsed."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"  # JSX is part of its grammar
    TYPESCRIPT = "typescript"
    TSX = "tsx"
    GO = "go"
    RUST = "rust"

    @property
    def family(self) -> "Language":
        """The language whose rules apply: JavaScript for TypeScript and TSX, else itself."""
        is_ecma = self in {Language.TYPESCRIPT, Language.TSX}
        return Language.JAVASCRIPT if is_ecma else self


_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
EXTENSIONS: Final = {
    extension: Language(name)
    for name, table in _TABLES.items()
    for extension in table["extensions"].split()
}


def language_of(*, path: str) -> Language | None:
    """Return the language of a file by its extension; none for one that is not parsed."""
    return EXTENSIONS.get(splitext(path)[1].lower())


_FILES = {  # this and what follows: by family
    Language.PYTHON: re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$|(?:^|/)tests?/"),
    Language.JAVASCRIPT: re.compile(r"\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?)/"),
    Language.GO: re.compile(r"_test\.go$"),
    Language.RUST: re.compile(r"(?:^|/)(?:tests|benches)/"),
}
_FUNCTIONS = {
    Language.PYTHON: re.compile(r"test"),
    Language.GO: re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])"),
}


def is_test_file(*, path: str, language: Language) -> bool:
    """Say whether a file holds tests, by its path."""
    return _FILES[language.family].search(path) is not None


def is_test_name(*, name: str, language: Language) -> bool:
    """Say whether a function of a file of tests is one, by its name alone."""
    pattern = _FUNCTIONS.get(language)
    return pattern is not None and pattern.match(name) is not None


def tested_name(*, path: str) -> str:
    """Return the name, without extension, of the file that a file of tests is about, or nothing.

    Only what the name itself says: `test_store.py`, `store_test.go` and `store.spec.ts` are about
    `store`.
    """
    found = _STEM.match(PurePosixPath(path).stem)
    return (found["after"] or found["before"]) if found else ""


def _brought_along(kind: str, python: Iterable[str]) -> dict[Language, frozenset[str]]:
    listed = {
        Language(name): frozenset(row[kind].split()) for name, row in _TABLES.items() if kind in row
    }
    return {Language.PYTHON: frozenset(python), **listed}


NAMES: Final = _brought_along("names", dir(builtins))
METHODS: Final = _brought_along("methods", (name for one in _PYTHON_TYPES for name in dir(one)))
