"""An event as the row in which it is stored, and back, without loss.

What an event does not say is left out of its row. Rows are written after secrets were taken out of
what came, so a scratchpad that is rebuilt from them sees what the first one saw.
"""

from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

from memory.sessions.events import NO_ARGUMENTS, Arguments, Event, EventKind, Outcome

Row = Mapping[str, Any]

_EMPTY: Final = {
    field.name: field.default for field in fields(Event) if field.name not in {"sequence", "kind"}
}
_PARTS: Final = tuple(field.name for field in fields(Arguments))
_values: Final = attrgetter(*_EMPTY)
_parts: Final = attrgetter(*_PARTS)


def to_row(*, event: Event) -> dict[str, Any]:
    """Write an event without its sequence, which is a column of its own."""
    row: dict[str, Any] = {"kind": event.kind.value}
    values = zip(_EMPTY.items(), _values(event), strict=True)
    row |= {name: value for (name, empty), value in values if value != empty}
    if event.arguments is not NO_ARGUMENTS and event.arguments != NO_ARGUMENTS:
        parts = zip(_PARTS, _parts(event.arguments), strict=True)
        row["arguments"] = {part: value for part, value in parts if value}
    if event.outcome is not Outcome.UNKNOWN:
        row["outcome"] = event.outcome.value
    if event.files:
        row["files"] = list(event.files)
    return row


def from_row(*, sequence: int, row: Row) -> Event:
    """Read what `to_row` wrote. Raises ValueError or TypeError for anything else."""
    made = dict(row)
    made["kind"] = EventKind(str(made.get("kind")))
    if "arguments" in made:
        made["arguments"] = Arguments(**made["arguments"])
    if "outcome" in made:
        made["outcome"] = Outcome(made["outcome"])
    if "files" in made:
        made["files"] = tuple(made["files"])
    return Event(sequence=sequence, **made)
