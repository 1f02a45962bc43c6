"""The shapes of input: each checks a value strictly and describes itself as JSON Schema.

Nothing is converted on the way: "7" is not 7, and a field that is not known is refused, because a
misspelled field that is ignored is a loss nobody sees. All faults of a body are reported together,
each with its JSON pointer. Query parameters are text, so `reads_text` turns them first.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import UUID

from accounts.errors import FieldError, InvalidInput

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
LARGEST_ECHO = 60  # characters of a wrong value that an answer repeats
WHOLE = re.compile(r"-?[0-9]{1,18}\Z")
CANONICAL = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")  # RFC 9562
TRUTH = {"true": True, "1": True, "false": False, "0": False}


class Shape(Protocol):
    """Something that checks a value and describes itself."""

    def read(self, value: Any, at: str, faults: list[FieldError]) -> Any:
        """Return the checked value, or add to `faults`."""

    def reads_text(self, text: str) -> Any:
        """Return the value that this text of a query parameter means, or the text itself."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Text of so many characters; `choices` when only some are right.

    `form` is a regular expression of whole texts for the document, where an action behind refuses
    what does not have it, in better words than this could. With choices, it is what others than
    those look like: which of them are known, only the action can say.
    """

    largest: int
    smallest: int = 0
    choices: tuple[str, ...] = ()
    form: str = ""

    def read(self, value: Any, at: str, faults: list[FieldError]) -> Any:
        """Return the text."""
        if not isinstance(value, str):
            return _wrong(faults, at, "type", f"This must be text, not {_kind(value)}.")
        if UNSTORABLE.search(value):
            return _wrong(faults, at, "unstorable_text", "The text holds NUL or half a character.")
        if self.choices and value not in self.choices and not self._is_other(value):
            listed = ", ".join(self.choices)
            return _wrong(faults, at, "choice", f"{_echo(value)} is not one of: {listed}.")
        if self.smallest and value.isspace():
            return _wrong(faults, at, "blank", "This must not be blank.")
        if not self.smallest <= len(value) <= self.largest:
            bounds = f"{self.smallest} to {self.largest:,} characters"
            return _wrong(faults, at, "length", f"This must have {bounds}, not {len(value):,}.")
        return value

    def reads_text(self, text: str) -> Any:
        """Return the text."""
        return text

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        bounds = {"minLength": self.smallest, "maxLength": self.largest}
        formed = {**bounds, **({"pattern": f"^{self.form}$"} if self.form else {})}
        if not self.choices:
            return {"type": "string", **formed}
        chosen = {"enum": list(self.choices)}
        return {"type": "string", **({"anyOf": [chosen, formed]} if self.form else chosen)}

    def _is_other(self, value: str) -> bool:
        return bool(self.form) and re.fullmatch(self.form, value) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A whole number between two bounds, both possible."""

    smallest: int
    largest: int

    def read(self, value: Any, at: str, faults: list[FieldError]) -> Any:
        """Return the number; 7.0 is whole too, as in JSON Schema."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            return _wrong(faults, at, "type", f"This must be a whole number, not {_kind(value)}.")
        if not self.smallest <= value <= self.largest:
            bounds = f"between {self.smallest} and {self.largest}"
            return _wrong(faults, at, "range", f"This must be {bounds}.")
        return value

    def reads_text(self, text: str) -> Any:
        """Return the number written in the text; too many digits are simply too large."""
        if WHOLE.match(text):
            return int(text)
        return self.largest + 1 if re.fullmatch(r"[0-9]{19,}", text) else text

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "integer", "minimum": self.smallest, "maximum": self.largest}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fraction:
    """A number between two bounds, both possible."""

    smallest: float = 0.0
    largest: float = 1.0

    def read(self, value: Any, at: str, faults: list[FieldError]) -> Any:
        """Return the number as a float."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return _wrong(faults, at, "type", f"This must be a number, not {_kind(value)}.")
        if not self.smallest <= value <= self.largest:
            bounds = f"between {self.smallest:g} and {self.largest:g}"
            return _wrong(faults, at, "range", f"This must be {bounds}.")
        return float(value)

    def reads_text(self, text: str) -> Any:
        """Return the number written in the text."""
        try:
            return float(text[:40])
        except ValueError:
            return text

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "number", "minimum": self.smallest, "maximum": self.largest}


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """True or false."""

    def read(self, value: Any, at: str, faults: list[FieldError]) -> Any:
        """Return the truth value."""
        if not isinstance(value, bool):
            return _wrong(faults, at, "type", f"This must be true or false, not {_kind(value)}.")
        return value

    def reads_text(self, text: str) -> Any:
        """Return true or false for their names."""
        return TRUTH.get(text.lower(), text)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A point in time with its offset (RFC 3339)."""

    def read(self, value: Any, at: str, faults: list[FieldError]) -> Any:
        """Return the moment in UTC."""
        try:
            moment = datetime.fromisoformat(value) if isinstance(value, str) else None
            if moment is not None and moment.tzinfo is not None:
                return moment.astimezone(UTC)
        except (ValueError, OverflowError):
            return _wrong(faults, at, "moment", f"{_echo(value)} is not a date and time.")
        return _wrong(faults, at, "moment", "Write a date and time like 2026-11-20T12:00:00Z.")

    def reads_text(self, text: str) -> Any:
        """Return the text; a plus sign that the query turned into a space is put back."""
        return text.replace(" ", "+") if "T" in text else text

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "string", "format": "date-time"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """A UUID."""

    def read(self, value: Any, at: str, faults: list[FieldError]) -> Any:
        """Return the UUID."""
        found = identifier(text=value) if isinstance(value, str) else None
        return found or _wrong(faults, at, "identifier", "This must be an id (a UUID).")

    def reads_text(self, text: str) -> Any:
        """Return the text."""
        return text

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "string", "format": "uuid"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Several:
    """A list of at most so many; in a query, separated by commas."""

    of: Shape
    largest: int
    smallest: int = 0

    def read(self, value: Any, at: str, faults: list[FieldError]) -> Any:
        """Return the checked elements as a tuple."""
        if not isinstance(value, list):
            return _wrong(faults, at, "type", f"This must be a list, not {_kind(value)}.")
        if not self.smallest <= len(value) <= self.largest:
            bounds = f"{self.smallest} to {self.largest:,} elements"
            return _wrong(faults, at, "length", f"This must have {bounds}, not {len(value):,}.")
        return tuple(self.of.read(one, f"{at}/{n}", faults) for n, one in enumerate(value))

    def reads_text(self, text: str) -> Any:
        """Return the parts between commas; an empty part stays, for its shape to refuse."""
        return [self.of.reads_text(part) for part in text.split(",")]

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {
            "type": "array",
            "items": self.of.schema(),
            "minItems": self.smallest,
            "maxItems": self.largest,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Free:
    """A JSON object of the caller's own making, at most so many bytes when written.

    `form` says more of it in the document, where an action behind refuses what does not have it.
    """

    largest: int = 20_000
    form: Mapping[str, Any] | None = None

    def read(self, value: Any, at: str, faults: list[FieldError]) -> Any:
        """Return the object."""
        if not isinstance(value, dict):
            return _wrong(faults, at, "type", f"This must be an object, not {_kind(value)}.")
        if len(repr(value)) > self.largest:
            return _wrong(faults, at, "length", f"At most {self.largest:,} characters of JSON.")
        return value

    def reads_text(self, text: str) -> Any:
        """Return the text."""
        return text

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "object", "additionalProperties": True, **(self.form or {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A named part of a record; one that is not required may also be null, which is its default."""

    name: str
    shape: Shape
    says: str
    required: bool = False
    default: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An object with known fields. `partial` keeps only the fields that were sent.

    An `open` one is of somebody else's making: all that it holds is kept, and nothing is checked.
    """

    name: str
    fields: tuple[Field, ...]
    partial: bool = False
    open: bool = False

    def read(self, value: Any, at: str, faults: list[FieldError]) -> Any:
        """Return a value per field."""
        if not isinstance(value, dict):
            return _wrong(faults, at, "type", f"This must be an object, not {_kind(value)}.")
        if self.open:
            return value
        known = {part.name: part for part in self.fields}
        for name in value:
            if name not in known:
                allowed = ", ".join(known) or "none"
                _wrong(
                    faults, f"{at}/{name[:80]}", "unknown", f"No such field; there are: {allowed}."
                )
        kept = {part.name: part for part in self.fields if not self.partial or part.name in value}
        return {name: self._part(part, value, at, faults) for name, part in kept.items()}

    def _part(
        self, part: Field, value: Mapping[str, Any], at: str, faults: list[FieldError]
    ) -> Any:
        here = f"{at}/{part.name}"
        if part.name not in value:
            return (
                _wrong(faults, here, "required", "This is missing.")
                if part.required
                else part.default
            )
        given = value[part.name]
        if given is None and not part.required and not self.partial:
            return part.default
        return part.shape.read(given, here, faults)

    def reads_text(self, text: str) -> Any:
        """Return the text."""
        return text

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        required = [part.name for part in self.fields if part.required]
        described: dict[str, Any] = {
            "type": "object",
            "properties": {part.name: self._described(part) for part in self.fields},
            "additionalProperties": self.open,
        }
        if self.partial:
            described["minProperties"] = 1
        return {**described, "required": required} if required else described

    def _described(self, part: Field) -> dict[str, Any]:
        schema = describe(field=part)
        if part.required or self.partial:
            return schema
        said = {"description", "default"}
        inner = {name: value for name, value in schema.items() if name not in said}
        outer = {name: value for name, value in schema.items() if name in said}
        return {"anyOf": [inner, {"type": "null"}], **outer}


def describe(*, field: Field) -> dict[str, Any]:
    """Return the JSON Schema of a field with what it says and its default."""
    described = {**field.shape.schema(), "description": field.says}
    return described if field.default in (None, ()) else {**described, "default": field.default}


def check(*, shape: Shape, value: Any) -> Any:
    """Return the checked value. Raises InvalidInput with every fault."""
    faults: list[FieldError] = []
    checked = shape.read(value, "", faults)
    refuse(faults=faults)
    return checked


def check_query(*, fields: tuple[Field, ...], query: Mapping[str, str]) -> dict[str, Any]:
    """Return the checked query parameters. Raises InvalidInput with every fault."""
    known = {field.name: field for field in fields}
    value = {
        name: known[name].shape.reads_text(text) if name in known else text
        for name, text in query.items()
    }
    return dict(check(shape=Record(name="Query", fields=fields), value=value))


def refuse(*, faults: list[FieldError]) -> None:
    """Raise InvalidInput when there are faults; the first one stands in the sentence."""
    if faults:
        first = faults[0]
        where = first.pointer or "the body"
        raise InvalidInput(
            detail=f"{where}: {first.detail}",
            hint="Correct what `errors` points at and send it again.",
            errors=tuple(faults),
        )


def identifier(*, text: str) -> UUID | None:
    """Return the UUID written in the text, None when it is none."""
    return UUID(text) if CANONICAL.match(text) else None


def _wrong(faults: list[FieldError], at: str, code: str, detail: str) -> Any:
    pointer = UNSTORABLE.sub("\ufffd", at)
    faults.append(FieldError(pointer=pointer, detail=detail, code=code))
    return None


def _echo(value: Any) -> str:
    return repr(str(value)[:LARGEST_ECHO])


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}
    return names.get(type(value), "an object")
