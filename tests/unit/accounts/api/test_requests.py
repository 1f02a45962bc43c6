"""A body about what others wrote is mended where it must be, and nowhere else."""

import json

import pytest

from accounts.api import requests


@pytest.mark.parametrize("written", [r"a\u0000b", r"a\ud800b", r"a\uDFFFb"])
def test_what_no_database_holds_is_replaced_in_keys_and_in_texts(written: str) -> None:
    raw = f'{{"{written}": ["{written}", {{"in": "{written}"}}], "é": "\\ud83d\\ude00"}}'

    read = requests.parse_lenient(raw=raw.encode())

    assert read == {"a\ufffdb": ["a\ufffdb", {"in": "a\ufffdb"}], "é": "😀"}


def test_what_only_looks_like_it_stays() -> None:
    sent = {"a": "\\u0000 and \\ud800 as code", "b": [1, 2.5, True, None, "日本"]}

    assert requests.parse_lenient(raw=json.dumps(sent).encode()) == sent
    assert requests.parse_lenient(raw=json.dumps(sent, ensure_ascii=False).encode()) == sent


def test_numbers_that_nobody_holds_and_what_is_too_deep_are_null() -> None:
    deep = "[" * 40 + "]" * 40
    raw = f'{{"a": NaN, "b": {10**30}, "c": 1e99, "d": {deep}}}'

    read = requests.parse_lenient(raw=raw.encode())

    assert (read["a"], read["b"], read["c"]) == (None, None, None)
    levels = 1
    while isinstance(read, dict | list):
        read, levels = (read["d"] if isinstance(read, dict) else read[0]), levels + 1
    assert (read, levels - 1) == (None, requests.DEEPEST)
