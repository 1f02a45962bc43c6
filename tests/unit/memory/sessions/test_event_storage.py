"""An event is the same after it was stored."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.sessions import event_parsing, events
from memory.sessions.events import Arguments, Event, EventKind, Outcome

FULL = Event(
    sequence=7,
    kind=EventKind.QA_REPORT,
    step=3,
    at_seconds=12.5,
    agent="second",
    name="pytest",
    call="c1",
    arguments=Arguments(path="a.py", before="x", after="y", line=4),
    text="3 failed",
    is_error=True,
    tokens=10,
    steps=2,
    outcome=Outcome.FAILURE,
    files=("a.py", "b.py"),
)


def again(event: Event) -> Event:
    """Store an event as JSON and read it back."""
    row = orjson.loads(orjson.dumps(events.to_row(event=event)))
    return events.from_row(sequence=event.sequence, row=row)


@pytest.mark.parametrize("event", [FULL, Event(sequence=1, kind=EventKind.UNKNOWN)])
def test_nothing_is_lost(event: Event) -> None:
    assert again(event) == event


@given(
    sequence=st.integers(1, 99),
    kind=st.sampled_from(EventKind),
    text=st.text(max_size=30),
    files=st.lists(st.text(max_size=9), max_size=3),
    args=st.dictionaries(st.sampled_from(("path", "command", "old_string", "line")), st.text()),
)
def test_whatever_is_read_is_stored_and_read_as_the_same(**row: object) -> None:
    event = event_parsing.read(row={**row, "name": "Edit", "kind": str(row["kind"])})

    assert isinstance(event, Event)
    assert again(event) == event


def test_what_is_not_said_takes_no_room() -> None:
    row = events.to_row(event=Event(sequence=1, kind=EventKind.REASONING, text="so"))

    assert row == {"kind": "reasoning", "text": "so"}
