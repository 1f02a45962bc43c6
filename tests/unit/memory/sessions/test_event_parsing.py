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


def test_a_call_keeps_what_signals_ask_for_and_what_an_agent_puts_down() -> None:
    read = event(args={"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2", "z": []})
    put_down = {"content": "Totals are in cents."}

    assert read.arguments.path == "a.py"
    assert len(read.arguments.before) == 16
    assert read.arguments.before != read.arguments.after
    assert event(name="mcp__cairn__add_memory", args=put_down).text == "Totals are in cents."
    assert event(name="Write", args=put_down).text == ""


def test_an_unknown_kind_is_kept_and_counted() -> None:
    read = event(kind="telepathy", name="")

    assert (read.kind, read.name) == (EventKind.UNKNOWN, "telepathy")


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        (None, "", Reason.NOT_AN_OBJECT),
        ({"kind": "reasoning"}, "sequence", Reason.BAD_SEQUENCE),
        ({"sequence": 0, "kind": "reasoning"}, "sequence", Reason.BAD_SEQUENCE),
        ({"sequence": True, "kind": "reasoning"}, "sequence", Reason.BAD_SEQUENCE),
        ({"sequence": 10**20, "kind": "reasoning"}, "sequence", Reason.BAD_SEQUENCE),
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


def test_texts_are_cut_and_storable_and_say_how_long_they_were() -> None:
    given = "a" * 50_000 + "\x00\ud800 the end"

    text = event(kind="tool_result", text=given).text

    assert len(text) <= TEXT_MOST
    assert text.endswith("the end")
    assert "left out" in text
    assert "\x00" not in text
    assert text.encode()
    assert event_parsing.full_length(text=text) == pytest.approx(len(given), abs=40)
    assert event_parsing.full_length(text="short") == 5


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


def test_words_for_an_outcome_and_exit_codes_are_understood() -> None:
    said = [event(outcome=word).outcome for word in ("passed", "Failed", "cancelled", "so-so", 3)]

    known = [Outcome.SUCCESS, Outcome.FAILURE, Outcome.ABANDONED]
    assert said == [*known, Outcome.UNKNOWN, Outcome.UNKNOWN]
    assert [event(exit_code=code).is_error for code in (2, 0)] == [True, False]


@given(JSON | st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6))
def test_nothing_is_raised_whatever_comes(row: object) -> None:
    assert isinstance(event_parsing.read(row=row), Event | Refused)


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


def test_nothing_is_lost_and_what_is_not_said_takes_no_room() -> None:
    bare = Event(sequence=1, kind=EventKind.REASONING, text="so")

    assert (again(FULL), again(bare)) == (FULL, bare)
    assert events.to_row(event=bare) == {"kind": "reasoning", "text": "so"}
