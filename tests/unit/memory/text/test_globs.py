"""Globs over paths, as LIKE patterns."""

import pytest

from memory.text import globs


@pytest.mark.parametrize(
    ("path", "bare"),
    [("./a/b.py", "a/b.py"), ("/a.py", "a.py"), ("../../a.py", "a.py"), (".env", ".env")],
)
def test_a_path_is_compared_from_its_first_name(path: str, bare: str) -> None:
    assert globs.bare(path=path) == bare


@pytest.mark.parametrize(("text", "said"), [("a/*", True), ("a?.py", True), ("a/b.py", False)])
def test_a_glob_has_a_sign_that_stands_for_others(text: str, said: bool) -> None:
    assert globs.is_glob(text=text) is said


@pytest.mark.parametrize(
    ("glob", "pattern"),
    [
        ("middleware/*", "%/middleware/%"),
        ("*.sql", "%/%.sql"),
        ("./a?c.py", "%/a_c.py"),
        ("100%_*", r"%/100\%\_%"),
        ("a\\*", "%/a\\\\%"),
    ],
)
def test_only_the_signs_of_a_glob_stand_for_others(glob: str, pattern: str) -> None:
    assert globs.like(glob=glob) == pattern
