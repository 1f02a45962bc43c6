"""Hostile input as one table: what a field, a body, a query, a path or a header may not break.

`payloads.toml` has the values. They are sent in every field of every write: over REST, to MCP tools
and in forms of pages. Those with a text are strange but can be stored, and then must come back as
they were sent; the rest is refused wherever it stands.
"""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

MARK: Final = "@@here@@"
SENTENCE: Final = "The importer of the partner feed met the name {} in March."


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One hostile value: `raw` as it stands in JSON, `text` where it is storable text."""

    name: str
    raw: bytes
    text: str | None = None


def _written(value: str | list[Any]) -> str:
    """Return a value of the file; a list repeats texts."""
    if isinstance(value, str):
        return value
    return "".join(unit * times for unit, times in zip(value[::2], value[1::2], strict=True))


_VALUES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
STORABLE: Final = tuple(
    Value(name=name, raw=json.dumps(_written(text)).encode(), text=_written(text))
    for name, text in _VALUES["storable"].items()
)
REFUSED, TYPES = (
    tuple(
        Value(name=name, raw=_written(value).encode("latin-1"))
        for name, value in _VALUES[kind].items()
    )
    for kind in ("refused", "types")
)
VALUES: Final = (*STORABLE, *REFUSED, *TYPES)
FORM_VALUES: Final = (  # as they stand in a form, percent-encoded where they are no text
    *((value.name, value.text) for value in STORABLE if value.text is not None),
    ("NUL", "a%00b"),
    ("invalid UTF-8", "%ff%fe"),
    ("surrogate in UTF-8", "%ed%a0%80"),
    ("overlong UTF-8", "%c0%af"),
    ("broken escape", "%zz%"),
    ("empty", ""),
    ("150,000 characters", "x" * 150_000),
)


def body_with(*, example: dict[str, Any], field: str, value: Value) -> bytes:
    """Return the JSON of a good body in which one field holds a hostile value."""
    written = json.dumps({**example, field: MARK}).encode()
    return written.replace(json.dumps(MARK).encode(), value.raw)
