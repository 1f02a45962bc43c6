"""The shape of a field that null takes away: beside the others, whose null means "as usual"."""

from dataclasses import dataclass
from typing import Any

from accounts.api.shapes import Shape
from accounts.errors import FieldError


@dataclass(frozen=True, slots=True, kw_only=True)
class Maybe:
    """What another shape checks, or null: for fields that are taken away by it."""

    of: Shape

    def read(self, value: Any, at: str, faults: list[FieldError]) -> Any:
        """Return the checked value, or None."""
        return None if value is None else self.of.read(value, at, faults)

    def reads_text(self, text: str) -> Any:
        """Return what the text means to the other shape."""
        return self.of.reads_text(text)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"anyOf": [self.of.schema(), {"type": "null"}]}
