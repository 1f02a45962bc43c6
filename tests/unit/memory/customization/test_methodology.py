"""The phase a caller means; a name that nothing knows is refused with those that would do."""

import pytest

from accounts.errors import InvalidInput
from memory.customization import phases
from memory.customization.phases import Phase

OWN = {"kanban": {"doing": Phase.IMPLEMENT, "validate": Phase.REFLECT}}


@pytest.mark.parametrize(
    ("of", "name", "phase"),
    [
        (None, None, None),
        (None, "refine", Phase.REFINE),
        (None, "coding", Phase.IMPLEMENT),
        ("native", "qa_review", Phase.VALIDATE),
        ("tdd", "red", Phase.DEFINE),
        ("bmad", "retrospective", Phase.REFLECT),
        ("kanban", "doing", Phase.IMPLEMENT),
        ("kanban", "validate", Phase.REFLECT),
        ("kanban", "explore", Phase.EXPLORE),
        ("kanban", None, None),
    ],
)
def test_phases_are_found_by_name(of: str | None, name: str | None, phase: Phase | None) -> None:
    assert phases.named_phase(methodology=of, name=name, own=OWN) is phase


@pytest.mark.parametrize(
    ("of", "name", "pointer", "hint"),
    [
        ("waterfall", None, "/methodology", "bmad, kanban, native, tdd"),
        ("waterfall", "define", "/methodology", "tdd"),
        ("tdd", "coding", "/phase", "green, implement, red"),
        (None, "lunch", "/phase", "coding, debugging, define"),
    ],
)
def test_unknown_names_are_refused(
    of: str | None, name: str | None, pointer: str, hint: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        phases.named_phase(methodology=of, name=name, own=OWN)

    assert refused.value.errors[0].pointer == pointer
    assert hint in refused.value.hint
