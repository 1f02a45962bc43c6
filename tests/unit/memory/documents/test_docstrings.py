"""Modules as statements: what they are for, and the reasons below."""

import pytest

from memory.documents import statements

SOURCE = '''"""The six gates, in
order.

The first that refuses ends the run, because later ones cost more. Pure.

Error
├── Refused
└── Known
"""

import os
'''


def test_the_first_paragraph_is_what_the_module_is_for() -> None:
    purpose = statements.read_docstring(source=SOURCE, path="intake/gates.py")[0]

    assert purpose.content == "intake/gates.py: The six gates, in order."
    assert (purpose.type.value, purpose.line) == ("module_insight", 1)


def test_reasons_are_decisions_and_drawings_keep_their_lines() -> None:
    _, reason = statements.read_docstring(source=SOURCE, path="intake/gates.py")

    assert (reason.type.value, reason.line) == ("decision", 4)
    assert reason.content.endswith("```\nError\n├── Refused\n└── Known\n```")


def test_a_changed_purpose_keeps_its_id() -> None:
    changed = SOURCE.replace("six", "seven")

    ids = {
        statements.read_docstring(source=text, path="a.py")[0].external_id
        for text in (SOURCE, changed)
    }

    assert len(ids) == 1


def test_a_module_without_docstring_says_nothing() -> None:
    assert statements.read_docstring(source="x = 1\n", path="a.py") == ()


def test_what_is_not_python_is_refused() -> None:
    with pytest.raises(SyntaxError):
        statements.read_docstring(source="def (", path="a.py")
