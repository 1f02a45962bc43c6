"""Fields and typed payloads are checked one by one; what is wrong is named by its place."""

from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.errors import InvalidInput
from memory.intake.validation import PAYLOADS, NewMemory, check_attributes, check_fields
from memory.taxonomy import MemoryType

NESTED: dict[str, Any] = {}
for _ in range(2_000):
    NESTED = {"a": NESTED}
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
    assert _codes(MemoryType.CONTEXT_COST, {"tokens": 1200}) == {}  # a type without a payload


def _faults(**given: Any) -> list[str]:
    fields = {"content": "Carts expire after a day of rest.", "source": "user_taught", **given}
    with pytest.raises(InvalidInput) as refused:
        check_fields(new=NewMemory(**fields))
    return [error.pointer for error in refused.value.errors]


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"content": "A NUL \x00 in the middle of a sentence."}, "/content"),
        ({"content": "A lone surrogate \ud800 in the middle."}, "/content"),
        ({"external_id": "x\x00"}, "/external_id"),
        ({"external_id": "x" * 201}, "/external_id"),
        ({"tags": ("fine", "")}, "/tags/1"),
        ({"tags": ("x" * 65,)}, "/tags/0"),
        ({"tags": ("x",) * 65}, "/tags"),
        ({"related_files": ("x" * 401,)}, "/related_files/0"),
        ({"related_files": tuple(f"own_type:t{number}" for number in range(65))}, "/related_files"),
        ({"related_modules": ("x" * 201,)}, "/related_modules/0"),
        ({"type": "nonsense"}, "/type"),
        ({"scope": "galaxy"}, "/scope"),
        ({"reach": "far"}, "/reach"),
        ({"source": "rumor"}, "/source"),
        ({"confidence": 1.5}, "/confidence"),
        ({"confidence": float("nan")}, "/confidence"),
        ({"source_line": -1}, "/source_line"),
        ({"source_line": 2**31}, "/source_line"),
        ({"source_uri": "x" * 501}, "/source_uri"),
        ({"source_uri": "x\x00"}, "/source_uri"),
        ({"phase": "x" * 21}, "/phase"),
        ({"methodology": "x" * 41}, "/methodology"),
        ({"commit_sha": "x" * 65}, "/commit_sha"),
        ({"project": "\x00"}, "/project"),
        ({"team": "\x00"}, "/team"),
        ({"event_at": datetime(2026, 1, 1)}, "/event_at"),  # noqa: DTZ001  that is what is wrong
        ({"event_at": datetime.fromisoformat("9999-12-31T23:59:59-05:00")}, "/event_at"),
        ({"event_at": datetime.fromisoformat("0001-01-01T00:00:00+14:00")}, "/event_at"),
        ({"event_at": datetime(1899, 12, 31, tzinfo=UTC)}, "/event_at"),
        ({"event_at": datetime(2201, 1, 1, tzinfo=UTC)}, "/event_at"),
        ({"attributes": {"n": float("nan")}}, "/attributes"),
        ({"attributes": {"n": {1, 2}}}, "/attributes"),
        ({"attributes": {"deep": NESTED}}, "/attributes"),
        ({"attributes": {"n": "x" * 20_001}}, "/attributes"),
        ({"attributes": {"n": {"m": ["\x00"]}}}, "/attributes/n/m/0"),
        ({"attributes": {"\x00": 1}}, "/attributes"),
        ({"type": "dead_end", "attributes": {"odd": 1}}, "/attributes/approach"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_field_is_named(given: dict[str, Any], pointer: str) -> None:
    assert _faults(**given)[0] == pointer


def test_several_faults_are_told_at_once() -> None:
    found = _faults(tags=("",), confidence=2.0, phase="x" * 21)

    assert set(found) == {"/tags/0", "/confidence", "/phase"}
