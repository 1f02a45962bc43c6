"""Which files and functions are tests, and of what."""

import pytest

from graph.code import languages
from graph.code.languages import Language, language_of


@pytest.mark.parametrize(
    ("path", "is_test", "tested"),
    [
        ("tests/unit/test_store.py", True, "store"),
        ("app/store_test.py", True, "store"),
        ("app/store.py", False, ""),
        ("app/contest.py", False, ""),
        ("store_test.go", True, "store"),
        ("test_store.go", False, "store"),
        ("src/store.spec.ts", True, "store"),
        ("src/__tests__/store.jsx", True, ""),
        ("tests/all.rs", True, ""),
        ("src/tests.rs", False, ""),
    ],
)
def test_files_of_tests_are_known_by_their_paths(path: str, is_test: bool, tested: str) -> None:
    language = language_of(path=path)

    assert language is not None
    assert languages.is_test_file(path=path, language=language) is is_test
    assert languages.tested_name(path=path) == tested


@pytest.mark.parametrize(
    ("language", "name", "is_test"),
    [
        (Language.PYTHON, "test_a", True),
        (Language.PYTHON, "a_test", False),
        (Language.GO, "TestA", True),
        (Language.GO, "Testify", False),
        (Language.GO, "BenchmarkA", True),
        (Language.RUST, "test_a", False),
    ],
)
def test_functions_of_tests_are_known_by_their_names(
    language: Language, name: str, is_test: bool
) -> None:
    assert languages.is_test_name(name=name, language=language) is is_test
