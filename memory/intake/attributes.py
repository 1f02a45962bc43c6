"""Typed payloads: what `attributes` of six types may hold, as a table, and the check against it.

Empty attributes are always right: the payload refines a memory, its content stands alone. Once
something is given, the required fields must be there, the others are optional, and an unknown name
is refused, since it is mostly a misspelling. Types without a payload keep what they are given.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from math import inf
from typing import Final

from accounts.errors import FieldError
from accounts.messages import message
from memory.taxonomy import MemoryType

Fields = Mapping[str, str]  # what each field holds, by its name

PAYLOADS: Final[Mapping[MemoryType, tuple[Fields, Fields]]] = {  # required, optional
    MemoryType.WORKFLOW_RECIPE: (
        {"task_pattern": "text", "steps": "steps"},
        {"last_validated_at": "timestamp", "success_count": "count"},
    ),
    MemoryType.DEAD_END: (
        {"approach": "text", "why_it_failed": "text"},
        {"alternative": "text", "context": "text"},
    ),
    MemoryType.PREFETCH_PATTERN: (
        {"always_read": "texts", "trigger_module": "text", "sessions": "count"},
        {"often_read": "texts"},
    ),
    MemoryType.TASK_CALIBRATION: (
        {
            "module": "text",
            "planned": "amount",
            "actual": "amount",
            "ratio": "amount",
            "samples": "count",
        },
        {"methodology": "text"},
    ),
    MemoryType.WORK_UNIT_OUTCOME: ({"succeeded": "flag"}, {"steps": "count", "retries": "count"}),
    MemoryType.E2E_OBSERVATION: (
        {"ui_behavior": "text"},
        {"precondition": "text", "timing": "text", "tool_gotcha": "text", "test_sequence": "texts"},
    ),
}
_STEP: Final[tuple[Fields, Fields]] = (
    {"order": "count", "description": "text"},
    {"line": "count", "file": "text"},
)


def check_attributes(
    *, type: MemoryType, attributes: Mapping[str, object]
) -> tuple[FieldError, ...]:
    """Find what is wrong with the payload of a type; an empty tuple means nothing is."""
    if type not in PAYLOADS or not attributes:
        return ()
    return tuple(_check_fields(*PAYLOADS[type], attributes, at="/attributes"))


def _check_fields(
    required: Fields, optional: Fields, given: Mapping[str, object], *, at: str
) -> list[FieldError]:
    fields = {**required, **optional}
    missing = [
        FieldError(pointer=f"{at}/{name}", detail="This field is required.", code="required")
        for name in required
        if given.get(name) is None
    ]
    unknown = [
        FieldError(
            pointer=f"{at}/{name}",
            detail=message("Unknown field; known are {names}.", names=tuple(sorted(fields))),
            code="unknown",
        )
        for name in given
        if name not in fields
    ]
    wrong = [
        error
        for name, holds in fields.items()
        if given.get(name) is not None
        for error in _check_value(holds, given[name], at=f"{at}/{name}")
    ]
    return missing + unknown + wrong


def _check_value(holds: str, value: object, *, at: str) -> list[FieldError]:
    if holds != "steps":
        is_right, expected = _CHECKS[holds]
        if is_right(value):
            return []
        detail: str = message("Expected {what}.", what=expected)
        return [FieldError(pointer=at, detail=detail, code="wrong_type")]
    if not isinstance(value, list | tuple) or not value:
        detail = "Expected a list of at least one step."
        return [FieldError(pointer=at, detail=detail, code="wrong_type")]
    errors: list[FieldError] = []
    for position, step in enumerate(value):
        where = f"{at}/{position}"
        if isinstance(step, Mapping):
            errors += _check_fields(*_STEP, step, at=where)
        else:
            detail = "Expected an object with order and description."
            errors.append(FieldError(pointer=where, detail=detail, code="wrong_type"))
    return errors


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


def _is_timestamp(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


_CHECKS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "text": (_is_text, message("a text that is not empty")),
    "texts": (
        lambda value: isinstance(value, list | tuple) and all(map(_is_text, value)),
        message("a list of texts"),
    ),
    "count": (
        lambda value: isinstance(value, int) and _is_amount(value),
        message("a whole number of 0 or more"),
    ),
    "amount": (_is_amount, message("a number of 0 or more")),
    "flag": (lambda value: isinstance(value, bool), message("true or false")),
    "timestamp": (_is_timestamp, message("an ISO 8601 moment with its time zone")),
}
