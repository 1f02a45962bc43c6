"""Events of a hook as rows for the observer.

Of what a tool returned only the first lines are stored: signals need an error or names of files. A
line that does not fit is left out, so that no text is cut within a word.
"""

from typing import Final

from memory.injection.harnesses.adapters import Meaning
from memory.injection.harnesses.payloads import HookEvent, ToolCall
from memory.sessions import event_parsing

RESULT_MOST: Final = 4_000  # characters of what a tool returned; default, not measured

Row = dict[str, object]


def rows_of(*, event: HookEvent) -> tuple[Row, ...]:
    """Return rows of events numbered from 1; a call comes with its result."""
    rows: list[Row] = []
    if event.meaning is Meaning.PROMPTED and event.prompt.strip():
        rows = [{"kind": "prompt", "text": event.prompt}]
    elif event.meaning is Meaning.REPLIED and event.message.strip():
        rows = [{"kind": "reasoning", "text": event.message}]
    elif event.meaning is Meaning.ANSWERED:
        rows = [row for call in event.calls for row in _rows_of_call(call)]
    agent: Row = {"agent": event.agent} if event.agent else {}
    return tuple({"sequence": place, **agent, **row} for place, row in enumerate(rows, start=1))


def _rows_of_call(call: ToolCall) -> tuple[Row, Row]:
    same: Row = {"name": call.tool, "call": call.id}
    files: Row = {"files": list(call.patched)} if call.patched else {}
    took: Row = {} if call.took_ms is None else {"duration_ms": call.took_ms}
    lines: list[str] = []
    room = RESULT_MOST
    for line in call.result.splitlines():
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return (
        {"kind": "tool_call", **same, **files, "args": event_parsing.taken(given=call.arguments)},
        {
            "kind": "tool_result",
            **same,
            **took,
            "text": "\n".join(lines),
            "is_error": call.is_error,
        },
    )
