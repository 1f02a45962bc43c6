"""The same error has the same fingerprint when it happens again; another has another."""

import pytest

from memory.sessions import reducers

TRACE = """Traceback (most recent call last):
  File "/work/a.py", line {line}, in run
    raise KeyError(name)
KeyError: '{name}'
"""


def digest(text: str, program: str = "pytest") -> str:
    """Return the digest of an output."""
    return reducers.fingerprint_of(program=program, text=text)[0]


def test_numbers_paths_and_values_make_no_other_error() -> None:
    first, again = TRACE.format(line=3, name="a"), TRACE.format(line=99, name="b")

    assert digest(first) == digest(again)
    assert digest("No such file: /tmp/a1/x.py") == digest("No such file: /srv/b/y.py")


def test_another_error_or_another_program_is_another() -> None:
    assert digest("KeyError: 'a'") != digest("ValueError: 'a'")
    assert digest("permission denied", "git push") != digest("permission denied", "docker run")


def test_the_line_that_names_the_error_is_kept() -> None:
    found = reducers.fingerprint_of(program="python", text=TRACE.format(line=3, name="a"))

    assert found[1] == "KeyError: 'a'"


def test_long_outputs_stay_linear() -> None:
    assert digest("a." * 8_000) != digest("\n" * 16_000)


@pytest.mark.parametrize(
    ("text", "is_test", "fails"),
    [
        ("Exit code 1\nboom", False, True),
        ("Exit code 0", False, False),
        ("3 failed, 2 passed", True, True),
        ("0 failed, 2 passed", True, False),
        ("--- FAIL: TestMint", True, True),
        ("grep found: 3 failed", False, False),
    ],
)
def test_failure_is_told_by_exit_code_or_count(text: str, is_test: bool, fails: bool) -> None:
    assert reducers.says_failure(text=text, is_test=is_test) is fails
