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


def test_codes_are_unique_and_the_drawing_names_every_class_of_its_module() -> None:
    every = _tree(CairnError)
    drawn = [error for error in every if error.__module__ == memory.errors.__name__]

    assert len({error.code for error in every}) == len(every)
    assert drawn
    assert [e for e in drawn if e.__name__ not in (memory.errors.__doc__ or "")] == []


@pytest.mark.parametrize("error", _tree(CairnError), ids=lambda error: error.__name__)
def test_every_error_is_complete(error: type[CairnError]) -> None:
    assert error.code.replace("_", "").isalpha()
    assert 400 <= error.status < 600
    assert error.title
    assert error.__doc__
