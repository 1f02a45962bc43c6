"""Typed payloads are checked field by field."""

import pytest

from memory.intake.validation import PAYLOADS, check_attributes
from memory.taxonomy import MemoryType

RIGHT: dict[MemoryType, dict[str, object]] = {
    MemoryType.WORKFLOW_RECIPE: {
        "task_pattern": "adding a new endpoint",
        "steps": [
            {"order": 1, "description": "Write the serializer.", "file": "api.py", "line": 3}
        ],
        "last_validated_at": "2026-03-01T10:00:00+00:00",
        "success_count": 4,
    },
    MemoryType.DEAD_END: {
        "approach": "mock the clock",
        "why_it_failed": "threads read the real one",
    },
    MemoryType.PREFETCH_PATTERN: {
        "always_read": ["auth.ts"],
        "often_read": [],
        "trigger_module": "auth",
        "sessions": 5,
    },
    MemoryType.TASK_CALIBRATION: {
        "module": "auth",
        "planned": 10,
        "actual": 15.5,
        "ratio": 1.55,
        "samples": 4,
    },
    MemoryType.WORK_UNIT_OUTCOME: {"succeeded": True, "steps": 12, "retries": 0},
    MemoryType.E2E_OBSERVATION: {"ui_behavior": "the dialog closes", "test_sequence": ["open"]},
}


def _codes(type: MemoryType, attributes: dict[str, object]) -> dict[str, str]:
    return {e.pointer: e.code for e in check_attributes(type=type, attributes=attributes)}


@pytest.mark.parametrize("type", list(PAYLOADS))
def test_a_payload_has_its_required_fields_or_none(type: MemoryType) -> None:
    assert _codes(type, RIGHT[type]) == _codes(type, {}) == {}
    for field in PAYLOADS[type][0]:
        without = {name: value for name, value in RIGHT[type].items() if name != field}

        assert not without or _codes(type, without) == {f"/attributes/{field}": "required"}


def test_a_misspelled_field_is_refused_with_the_known_names() -> None:
    attributes = {**RIGHT[MemoryType.DEAD_END], "aproach": "x"}

    (error,) = check_attributes(type=MemoryType.DEAD_END, attributes=attributes)

    assert error.pointer == "/attributes/aproach"
    assert "approach" in error.detail


@pytest.mark.parametrize(
    ("type", "field", "value"),
    [
        (MemoryType.DEAD_END, "approach", "  "),
        (MemoryType.DEAD_END, "context", 3),
        (MemoryType.WORK_UNIT_OUTCOME, "succeeded", 1),
        (MemoryType.WORK_UNIT_OUTCOME, "steps", True),
        (MemoryType.WORK_UNIT_OUTCOME, "retries", -1),
        (MemoryType.TASK_CALIBRATION, "ratio", float("nan")),
        (MemoryType.TASK_CALIBRATION, "ratio", float("inf")),
        (MemoryType.TASK_CALIBRATION, "planned", "10"),
        (MemoryType.PREFETCH_PATTERN, "always_read", "auth.ts"),
        (MemoryType.WORKFLOW_RECIPE, "last_validated_at", "2026-03-01T10:00:00"),
        (MemoryType.WORKFLOW_RECIPE, "last_validated_at", "yesterday"),
        (MemoryType.WORKFLOW_RECIPE, "last_validated_at", 20260301),
        (MemoryType.WORKFLOW_RECIPE, "steps", []),
    ],
)
def test_a_wrong_value_is_named(type: MemoryType, field: str, value: object) -> None:
    assert _codes(type, {**RIGHT[type], field: value}) == {f"/attributes/{field}": "wrong_type"}


def test_a_wrong_step_is_pointed_at() -> None:
    steps = [{"order": 1, "description": "ok"}, {"order": 2}, "third"]

    codes = _codes(MemoryType.WORKFLOW_RECIPE, {"task_pattern": "x", "steps": steps})

    assert codes == {
        "/attributes/steps/1/description": "required",
        "/attributes/steps/2": "wrong_type",
    }


def test_types_without_a_payload_keep_what_they_are_given() -> None:
    assert _codes(MemoryType.CONTEXT_COST, {"tokens": 1200}) == {}
