"""Events from JSON: lenient about what is new, strict about what would mislead."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.sessions import event_parsing, events
from memory.sessions.event_parsing import Reason, Refused
from memory.sessions.events import TEXT_MOST, Arguments, Event, EventKind, Outcome

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JSON = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(max_size=8), SCALARS)
FIELDS = ("sequence", "kind", "type", "step", "at", "args", "text", "name", "tokens", "outcome")


def event(**row: object) -> Event:
    """Read a row that must be an event."""
    read = event_parsing.read(row={"sequence": 1, "kind": "tool_call", "name": "Read", **row})
    assert isinstance(read, Event), read
    return read


def test_a_call_keeps_what_signals_ask_for_and_nothing_else() -> None:
    read = event(args={"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2", "z": []})

    assert read.arguments.path == "a.py"
    assert len(read.arguments.before) == 16
    assert read.arguments.before != read.arguments.after


def test_an_unknown_kind_is_kept_and_counted() -> None:
    read = event(kind="telepathy", name="")

    assert (read.kind, read.name) == (EventKind.UNKNOWN, "telepathy")


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        (None, "", Reason.NOT_AN_OBJECT),
        ([1], "", Reason.NOT_AN_OBJECT),
        ({"kind": "reasoning"}, "sequence", Reason.BAD_SEQUENCE),
        ({"sequence": 0, "kind": "reasoning"}, "sequence", Reason.BAD_SEQUENCE),
        ({"sequence": True, "kind": "reasoning"}, "sequence", Reason.BAD_SEQUENCE),
        ({"sequence": 10**20, "kind": "reasoning"}, "sequence", Reason.BAD_SEQUENCE),
        ({"sequence": 1.0, "kind": "reasoning"}, "sequence", Reason.BAD_SEQUENCE),
        ({"sequence": 1}, "kind", Reason.NO_KIND),
        ({"sequence": 1, "kind": ["tool_call"]}, "kind", Reason.NO_KIND),
        ({"sequence": 1, "kind": "tool_call"}, "name", Reason.NO_TOOL_NAME),
        ({"sequence": 1, "kind": "reasoning", "step": -1}, "step", Reason.BAD_STEP),
        ({"sequence": 1, "kind": "reasoning", "text": {"a": 1}}, "text", Reason.BAD_TEXT),
        ({"sequence": 1, "kind": "step_complete", "tokens": "9"}, "tokens", Reason.BAD_COUNT),
    ],
)
def test_what_would_mislead_is_refused_with_its_field(
    row: object, field: str, reason: Reason
) -> None:
    assert event_parsing.read(row=row) == Refused(position=0, field=field, reason=reason)


def test_texts_are_cut_and_storable() -> None:
    read = event(kind="tool_result", text="a" * 50_000 + "\x00\ud800 the end")

    assert len(read.text) <= TEXT_MOST
    assert read.text.endswith("the end")
    assert "left out" in read.text
    assert "\x00" not in read.text
    assert read.text.encode()


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("2026-11-22T10:00:00+00:00", 1_795_341_600.0),
        ("2026-11-22T10:00:00Z", 1_795_341_600.0),
        (1_795_341_600, 1_795_341_600.0),
        ("2026-11-22T10:00:00", None),
        ("yesterday", None),
        (float("nan"), None),
        (-1, None),
        (True, None),
    ],
)
def test_a_moment_needs_its_zone(given: object, seconds: float | None) -> None:
    assert event(at=given).at_seconds == seconds


def test_words_for_an_outcome_are_understood() -> None:
    said = [event(outcome=word).outcome for word in ("passed", "Failed", "cancelled", "so-so", 3)]

    assert said == [
        Outcome.SUCCESS,
        Outcome.FAILURE,
        Outcome.ABANDONED,
        Outcome.UNKNOWN,
        Outcome.UNKNOWN,
    ]


def test_an_exit_code_tells_an_error() -> None:
    assert event(exit_code=2).is_error
    assert not event(exit_code=0).is_error


@given(JSON | st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6))
def test_nothing_is_raised_whatever_comes(row: object) -> None:
    assert isinstance(event_parsing.read(row=row), Event | Refused)


def test_what_an_agent_puts_down_is_kept_and_of_other_calls_nothing_is() -> None:
    row = {"sequence": 1, "kind": "tool_call", "args": {"content": "Totals are in cents."}}

    recorded = event_parsing.read(row={**row, "name": "mcp__cairn__add_memory"})
    written = event_parsing.read(row={**row, "name": "Write"})

    assert isinstance(recorded, Event)
    assert isinstance(written, Event)
    assert (recorded.text, written.text) == ("Totals are in cents.", "")


def test_a_cut_text_still_says_how_long_it_was() -> None:
    long = "word " * 8_000

    event = event_parsing.read(
        row={"sequence": 1, "kind": "tool_result", "name": "Read", "text": long}
    )

    assert isinstance(event, Event)
    assert len(event.text) < len(long)
    assert event_parsing.full_length(text=event.text) == pytest.approx(len(long), abs=40)
    assert event_parsing.full_length(text="short") == 5


def test_what_is_taken_of_a_call_reads_as_all_of_it_does() -> None:
    given = {"path": None, "file": "a.py", "filename": "b.py", "command": "ls", "env": {"A": "b"}}
    row = {"sequence": 1, "kind": "tool_call", "name": "X"}

    taken = event_parsing.known_arguments(given=given)

    assert taken == {"filename": "b.py", "command": "ls"}
    assert event_parsing.read(row={**row, "args": taken}) == event_parsing.read(
        row={**row, "args": given}
    )


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
