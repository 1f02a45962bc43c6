"""Events from JSON, and what a speaker says in their own words."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.sessions import event_parsing, events
from memory.sessions.event_parsing import Reason, Refused
from memory.sessions.events import TEXT_MOST, Arguments, Event, EventKind, Outcome
from memory.sessions.turns import (
    Remark,
    RemarkKind,
    Speaker,
    SpokenSentence,
    Turn,
    find_remarks,
    own_words,
    prose,
)

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
def test_what_would_mislead_is_refused(row: object, field: str, reason: Reason) -> None:
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
        ("2026-11-22T10:00:00+00:00", 1_795_341_600.0), ("2026-11-22T10:00:00Z", 1_795_341_600.0),
        (1_795_341_600, 1_795_341_600.0), ("2026-11-22T10:00:00", None), ("yesterday", None),
        (float("nan"), None), (-1, None), (True, None),
    ],
)  # fmt: skip
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
    sequence=7, kind=EventKind.QA_REPORT, step=3, at_seconds=12.5, agent="second", name="pytest",
    call="c1", arguments=Arguments(path="a.py", before="x", after="y", line=4), text="3 failed",
    is_error=True, tokens=10, steps=2, outcome=Outcome.FAILURE, files=("a.py", "b.py"),
)  # fmt: skip


def again(event: Event) -> Event:
    """Store an event as JSON and read it back."""
    row = orjson.loads(orjson.dumps(events.to_row(event=event)))
    return events.from_row(sequence=event.sequence, row=row)


def test_nothing_is_lost_and_what_is_not_said_takes_no_room() -> None:
    bare = Event(sequence=1, kind=EventKind.REASONING, text="so")

    assert (again(FULL), again(bare)) == (FULL, bare)
    assert events.to_row(event=bare) == {"kind": "reasoning", "text": "so"}


def said(text: str, speaker: Speaker = Speaker.ASSISTANT) -> list[str]:
    """Return the sentences of a turn."""
    return [one.text for one in own_words(turn=Turn(sequence=1, speaker=speaker, text=text))]


@pytest.mark.parametrize(
    "passing",
    [
        "```python\n# We decided to use tabs.\n```", "~~~\nWe decided to use tabs.\n~~~",
        "> We decided to use tabs.", "<memory>\nWe decided to use tabs.\n</memory>",
        '<document source="a">We decided to use tabs.</document>',
        "diff --git a/x b/x\n@@ -1 +1 @@\n-We decided to use tabs.\n+We decided to use spaces.",
        "2026-11-02T10:00:01Z INFO We decided to use tabs.", "ERROR We decided to use tabs.",
        "| We decided | to use tabs |", "# We decided to use tabs.", "    we_decided_to_use_tabs()",
        "Traceback (most recent call last):", 'const x = {"a": [1, 2, 3], "b": (4), "c": {}};',
    ],
)  # fmt: skip
def test_what_only_passes_through_is_nobodys_words(passing: str) -> None:
    assert said(f"Here it is.\n\n{passing}\n\nThat was it.") == ["Here it is.", "That was it."]


def test_a_fence_without_an_end_takes_the_rest_and_wrapped_lines_are_one_paragraph() -> None:
    assert said("Look.\n```\nWe decided to use tabs.\nAnd more.") == ["Look."]

    assert said("The importer fails\nwhen two workers start.") == [
        "The importer fails when two workers start."
    ]


def test_sentences_know_their_line_and_their_paragraph() -> None:
    turn = Turn(sequence=1, speaker=Speaker.USER, text="First one. Second one.\n\n- An item.")

    assert own_words(turn=turn) == (
        SpokenSentence(text="First one.", line=1, paragraph=1),
        SpokenSentence(text="Second one.", line=1, paragraph=1),
        SpokenSentence(text="An item.", line=3, paragraph=2),
    )


def test_tools_and_systems_say_nothing() -> None:
    for speaker in (Speaker.TOOL, Speaker.SYSTEM):
        assert said("We decided to use tabs.", speaker) == []


def test_marks_of_memories_and_emphasis_are_left_out() -> None:
    turn = Turn(sequence=1, speaker=Speaker.USER, text="**Always** use tabs. [^ Memory: a1]")

    assert prose(turn=turn) == "Always use tabs."


def remarks(text: str, speaker: Speaker = Speaker.ASSISTANT) -> tuple[Remark, ...]:
    """Return where an agent corrects itself or gives up, or a person corrects it."""
    return find_remarks(speaker=speaker, sequence=4, step=2, text=text)


def kinds(text: str) -> list[RemarkKind]:
    """Return what an agent's text tells."""
    return [one.kind for one in remarks(text)]


FOUND = {
    RemarkKind.SELF_CORRECTION: (
        "I was wrong about the cache. The store is actually Postgres.",
        "Correction: the flag is read at start only.",
        "Hmm. Let me reconsider: the hook runs before the migration.",
        "I initially thought the tokens expire, but they are renewed.",
        "Actually, the limit is per tenant instead of per user.",
        "Wait, that's wrong: the queue is drained twice.",
        "My earlier assumption was wrong.",
        "Wait, that isn\u2019t where the queue is drained.",
    ),
    RemarkKind.DEAD_END: (
        "This approach won't work because the driver has no savepoints.",
        "Let me try a different approach.",
        "Docker is not available in this environment.",
        "I need to abandon this.",
        "Redis is unavailable in CI.",
        "This approach won\u2019t work, the driver has no savepoints.",
    ),
    None: (
        "",
        "Wait, let me look at the tests first.",
        "Actually, let me read the file.",
        "The user was wrong about the version.",
        "Now I will correct the spelling in the readme.",
        "> I was wrong about everything",
        "```\nI was wrong about this\n```",
        "This approach works.",
        "A different approach is described in the docs.",
    ),
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in FOUND.items() for text in texts]
)
def test_corrections_and_dead_ends_are_found(kind: RemarkKind | None, text: str) -> None:
    assert kinds(text) == ([kind] if kind else [])


def test_what_is_true_instead_is_kept_with_it() -> None:
    text = "I was wrong about the cache. The store is actually Postgres. Now the tests."

    (found,) = remarks(text)

    assert found.text == "I was wrong about the cache. The store is actually Postgres."
    assert (found.sequence, found.step) == (4, 2)


def test_a_person_who_corrects_is_heard() -> None:
    corrects = ("No, that is wrong", "Don't use mocks here", "Don\u2019t use mocks here",
                "Non, ce n'est pas ça")  # fmt: skip

    assert all(remarks(text, Speaker.USER) for text in corrects)
    assert not remarks("Now add the tests", Speaker.USER)
    assert not remarks("Is there no cache?", Speaker.USER)


def test_long_and_odd_texts_break_nothing() -> None:
    assert kinds("I initially thought " * 5_000) == []
    for text in ("\x00", "🙂" * 50, "שלום עולם", "a" * 100_000, "<a>" * 500):
        assert isinstance(said(text), list)
    assert said("") == []
