"""What an agent did, as one validated value an event, and as the row that stores it.

Events are ordered by their sequence number, which is unique in a session and begins at 1; the clock
of an event is only a hint. A field that does not belong to an event's kind is empty, and is left
out of its row. Rows are written after secrets were taken out, so a scratchpad that is rebuilt from
them sees what the first one saw.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from pydantic import TypeAdapter

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

    `before` and `after` are digests of the text an edit replaced and of what it put there, `added`
    are the few lines that it put there and that did not stand there before.
    """

    path: str = ""
    pattern: str = ""
    command: str = ""
    url: str = ""
    before: str = ""
    after: str = ""
    added: str = ""
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


_ROWS: Final = TypeAdapter(Event)


def to_row(*, event: Event) -> dict[str, Any]:
    """Return the row of an event without its sequence, which is a column of its own."""
    row: dict[str, Any] = _ROWS.dump_python(
        event, mode="json", exclude={"sequence"}, exclude_defaults=True
    )
    return row


def from_row(*, sequence: int, row: Row) -> Event:
    """Read what `to_row` wrote. Raises ValueError for anything else."""
    return _ROWS.validate_python({**row, "sequence": sequence})
