"""What was heard of an agent as rows of events, for the observer.

Of what a tool returned only the first lines are kept: signals ask for an error or for names of
files. A line that is longer than that is left out, so that no text is cut within a word.
"""

from typing import Final

from memory.injection.harnesses.adapters import Meaning
from memory.injection.harnesses.payloads import Call, Hearing
from memory.sessions import event_parsing

RESULT_MOST: Final = 4_000  # characters of what a tool returned, ours

Row = dict[str, object]


def rows_of(*, hearing: Hearing) -> tuple[Row, ...]:
    """Return rows of events numbered from 1; a call is told with its result."""
    who: Row = {"agent": hearing.agent} if hearing.agent else {}
    return tuple(
        {"sequence": place, **who, **row} for place, row in enumerate(_rows(hearing), start=1)
    )


def _rows(hearing: Hearing) -> list[Row]:
    if hearing.meaning is Meaning.PROMPTED and hearing.prompt.strip():
        return [{"kind": "prompt", "text": hearing.prompt}]
    if hearing.meaning is Meaning.REPLIED and hearing.message.strip():
        return [{"kind": "reasoning", "text": hearing.message}]
    if hearing.meaning is not Meaning.ANSWERED:
        return []
    return [row for call in hearing.calls for row in _of_call(call)]


def _of_call(call: Call) -> tuple[Row, Row]:
    same: Row = {"name": call.tool, "call": call.id}
    files: Row = {"files": list(call.patched)} if call.patched else {}
    took: Row = {} if call.took_ms is None else {"duration_ms": call.took_ms}
    return (
        {"kind": "tool_call", **same, **files, "args": event_parsing.taken(given=call.arguments)},
        {
            "kind": "tool_result",
            **same,
            **took,
            "text": _first_lines(call.result),
            "is_error": call.is_error,
        },
    )


def _first_lines(text: str) -> str:
    kept: list[str] = []
    room = RESULT_MOST
    for line in text.splitlines():
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)
