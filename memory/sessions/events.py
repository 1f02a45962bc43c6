"""What an agent did, as one validated value an event, and as the row that stores it.

Events are ordered by their sequence number, which is unique in a session and begins at 1; the clock
of an event is only a hint. A field that does not belong to an event's kind is empty, and is left
out of its row. Rows are written after secrets were taken out, so a scratchpad that is rebuilt from
them sees what the first one saw.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final

TEXT_MOST: Final = 16_000  # characters kept of a text, its head and its tail; default, not measured
TARGET_MOST: Final = 400  # characters of a path, a pattern, an address; default, not measured
COMMAND_MOST: Final = TEXT_MOST  # of a command, from which taint is read
Row = Mapping[str, Any]


class EventKind(StrEnum):
    """What happened; commits and reports of QA are posted to a session as well."""

    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    REASONING = "reasoning"
    STEP_COMPLETE = "step_complete"
    SESSION_COMPLETE = "session_complete"
    PROMPT = "prompt"
    COMMIT = "commit"
    QA_REPORT = "qa_report"
    UNKNOWN = "unknown"


class Outcome(StrEnum):
    """How a session or a unit of work ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    ABANDONED = "abandoned"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What a tool was called with, as far as any signal asks.

    `before` and `after` are digests of the text an edit replaced and of what it put there.
    """

    path: str = ""
    pattern: str = ""
    command: str = ""
    url: str = ""
    before: str = ""
    after: str = ""
    line: int = 0


NO_ARGUMENTS: Final = Arguments()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event; `name` is the tool's, or what an unknown kind called itself.

    `call` pairs a result with its call, `agent` tells parallel agents of one session apart,
    `at_seconds` are seconds since 1970, `took_seconds` those of a call, None where its result does
    not say, `tokens` those of one step, `steps` those of the session. `commit` is the hash of one.
    """

    sequence: int
    kind: EventKind
    step: int = 0
    at_seconds: float | None = None
    agent: str = ""
    name: str = ""
    call: str = ""
    arguments: Arguments = NO_ARGUMENTS
    text: str = ""
    is_error: bool = False
    tokens: int = 0
    steps: int = 0
    outcome: Outcome = Outcome.UNKNOWN
    files: tuple[str, ...] = ()
    took_seconds: float | None = None
    commit: str = ""


_EMPTY: Final = {
    field.name: field.default for field in fields(Event) if field.name not in {"sequence", "kind"}
}
_PARTS: Final = tuple(field.name for field in fields(Arguments))
_values: Final = attrgetter(*_EMPTY)
_parts: Final = attrgetter(*_PARTS)


def to_row(*, event: Event) -> dict[str, Any]:
    """Return the row of an event without its sequence, which is a column of its own."""
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
