"""Typed payloads: what `attributes` of six types may hold, as a table, and the check against it.

Empty attributes are always right: the payload refines a memory, its content stands alone. Once
something is given, the required fields must be there, the others are optional, and an unknown name
is refused, since it is mostly a misspelling. Types without a payload keep what they are given.
Spec 1.3, last paragraph.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from accounts.errors import FieldError
from accounts.messages import message
from memory.taxonomy import MemoryType


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadField:
    """One field of a payload: its name, whether it must be there, and what it holds."""

    name: str
    required: bool
    holds: str


def _fields(holds: str, *, required: str = "", optional: str = "") -> tuple[PayloadField, ...]:
    must = tuple(PayloadField(name=name, required=True, holds=holds) for name in required.split())
    may = tuple(PayloadField(name=name, required=False, holds=holds) for name in optional.split())
    return must + may


PAYLOADS: dict[MemoryType, tuple[PayloadField, ...]] = {
    MemoryType.WORKFLOW_RECIPE: (
        *_fields("text", required="task_pattern"),
        *_fields("steps", required="steps"),
        *_fields("moment", optional="last_validated_at"),
        *_fields("count", optional="success_count"),
    ),
    MemoryType.DEAD_END: _fields(
        "text", required="approach why_it_failed", optional="alternative context"
    ),
    MemoryType.PREFETCH_PATTERN: (
        *_fields("texts", required="always_read", optional="often_read"),
        *_fields("text", required="trigger_module"),
        *_fields("count", required="sessions"),
    ),
    MemoryType.TASK_CALIBRATION: (
        *_fields("text", required="module", optional="methodology"),
        *_fields("amount", required="planned actual ratio"),
        *_fields("count", required="samples"),
    ),
    MemoryType.WORK_UNIT_OUTCOME: (
        *_fields("flag", required="succeeded"),
        *_fields("count", optional="steps retries"),
    ),
    MemoryType.E2E_OBSERVATION: (
        *_fields("text", required="ui_behavior", optional="precondition timing tool_gotcha"),
        *_fields("texts", optional="test_sequence"),
    ),
}

_STEP_FIELDS = (
    *_fields("count", required="order", optional="line"),
    *_fields("text", required="description", optional="file"),
)


def check_attributes(
    *, type: MemoryType, attributes: Mapping[str, object]
) -> tuple[FieldError, ...]:
    """Find what is wrong with the payload of a type; an empty tuple means nothing is."""
    fields = PAYLOADS.get(type)
    if fields is None or not attributes:
        return ()
    return _check_fields(fields, attributes, at="/attributes")


def _check_fields(
    fields: tuple[PayloadField, ...], given: Mapping[str, object], *, at: str
) -> tuple[FieldError, ...]:
    known = {field.name for field in fields}
    missing = tuple(
        FieldError(pointer=f"{at}/{field.name}", detail="This field is required.", code="required")
        for field in fields
        if field.required and given.get(field.name) is None
    )
    unknown = tuple(
        FieldError(
            pointer=f"{at}/{name}",
            detail=message("Unknown field; known are {names}.", names=tuple(sorted(known))),
            code="unknown",
        )
        for name in given
        if name not in known
    )
    wrong = tuple(
        error
        for field in fields
        if given.get(field.name) is not None
        for error in _check_value(field.holds, given[field.name], at=f"{at}/{field.name}")
    )
    return missing + unknown + wrong


def _check_value(holds: str, value: object, *, at: str) -> tuple[FieldError, ...]:
    if holds == "steps":
        return _check_steps(value, at=at)
    is_right, expected = _CHECKS[holds]
    if is_right(value):
        return ()
    detail = message("Expected {what}.", what=expected)
    return (FieldError(pointer=at, detail=detail, code="wrong_type"),)


def _check_steps(value: object, *, at: str) -> tuple[FieldError, ...]:
    if not isinstance(value, list | tuple) or not value:
        detail = "Expected a list of at least one step."
        return (FieldError(pointer=at, detail=detail, code="wrong_type"),)
    errors: list[FieldError] = []
    for position, step in enumerate(value):
        where = f"{at}/{position}"
        if isinstance(step, Mapping):
            errors.extend(_check_fields(_STEP_FIELDS, step, at=where))
        else:
            detail = "Expected an object with order and description."
            errors.append(FieldError(pointer=where, detail=detail, code="wrong_type"))
    return tuple(errors)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(_is_text(entry) for entry in value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_amount(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= float(str(value)) < float("inf")


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_moment(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


_CHECKS: dict[str, tuple[Callable[[object], bool], str]] = {
    "text": (_is_text, message("a text that is not empty")),
    "texts": (_is_texts, message("a list of texts")),
    "count": (_is_count, message("a whole number of 0 or more")),
    "amount": (_is_amount, message("a number of 0 or more")),
    "flag": (_is_flag, message("true or false")),
    "moment": (_is_moment, message("an ISO 8601 moment with its time zone")),
}
