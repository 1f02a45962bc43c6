"""Which files and functions are tests, and of what, by the customs of each language."""

import re
from pathlib import PurePosixPath

from graph.code.languages import Language

_ECMA_FILE = re.compile(r"\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?)/")
_FILES = {
    Language.PYTHON: re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$|(?:^|/)tests?/"),
    Language.JAVASCRIPT: _ECMA_FILE,
    Language.TYPESCRIPT: _ECMA_FILE,
    Language.TSX: _ECMA_FILE,
    Language.GO: re.compile(r"_test\.go$"),
    Language.RUST: re.compile(r"(?:^|/)(?:tests|benches)/"),
}
_FUNCTIONS = {
    Language.PYTHON: re.compile(r"test"),
    Language.GO: re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])"),
}
_STEM = re.compile(r"^test_(?P<after>.+)$|^(?P<before>.+?)(?:_test|[.](?:test|spec))$")


def is_test_file(*, path: str, language: Language) -> bool:
    """Say whether a file holds tests, by its path."""
    return _FILES[language].search(path) is not None


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
