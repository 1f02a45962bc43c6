"""Every refusal has a stable code, a status, a title, and says what to do."""

import pytest

import graph.errors
import memory.errors
import teams.errors
from accounts.errors import CairnError

LOADED = (teams.errors, graph.errors, memory.errors)  # so that their classes are known


def _tree(root: type[CairnError]) -> list[type[CairnError]]:
    ours = [child for child in root.__subclasses__() if child.__module__.endswith(".errors")]
    return [root] + [below for child in ours for below in _tree(child)]


def test_codes_are_unique() -> None:
    codes = [error.code for error in _tree(CairnError)]

    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("error", _tree(CairnError), ids=lambda error: error.__name__)
def test_every_error_is_complete(error: type[CairnError]) -> None:
    assert error.code.replace("_", "").isalpha()
    assert 400 <= error.status < 600
    assert error.title
    assert error.__doc__


def test_the_drawing_names_every_class_of_its_module() -> None:
    defined = [error for error in _tree(CairnError) if error.__module__ == memory.errors.__name__]
    drawing = memory.errors.__doc__ or ""

    missing = [error.__name__ for error in defined if error.__name__ not in drawing]

    assert defined
    assert missing == []
