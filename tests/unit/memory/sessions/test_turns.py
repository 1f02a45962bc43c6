"""What a speaker says in their own words, and what only passes through a turn."""

import pytest

from memory.sessions.turns import Speaker, SpokenSentence, Turn, own_words, prose


def said(text: str, speaker: Speaker = Speaker.ASSISTANT) -> list[str]:
    """Return the sentences of a turn."""
    return [one.text for one in own_words(turn=Turn(sequence=1, speaker=speaker, text=text))]


@pytest.mark.parametrize(
    "passing",
    [
        "```python\n# We decided to use tabs.\n```",
        "~~~\nWe decided to use tabs.\n~~~",
        "> We decided to use tabs.",
        "<memory>\nWe decided to use tabs.\n</memory>",
        '<document source="a">We decided to use tabs.</document>',
        "diff --git a/x b/x\n@@ -1 +1 @@\n-We decided to use tabs.\n+We decided to use spaces.",
        "2026-11-02T10:00:01Z INFO We decided to use tabs.",
        "ERROR We decided to use tabs.",
        "| We decided | to use tabs |",
        "# We decided to use tabs.",
        "    we_decided_to_use_tabs()",
        "Traceback (most recent call last):",
        'const x = {"a": [1, 2, 3], "b": (4), "c": {}};',
    ],
)
def test_what_only_passes_through_is_nobodys_words(passing: str) -> None:
    assert said(f"Here it is.\n\n{passing}\n\nThat was it.") == ["Here it is.", "That was it."]


def test_a_fence_without_an_end_takes_the_rest() -> None:
    assert said("Look.\n```\nWe decided to use tabs.\nAnd more.") == ["Look."]


def test_sentences_know_their_line_and_their_paragraph() -> None:
    turn = Turn(sequence=1, speaker=Speaker.USER, text="First one. Second one.\n\n- An item.")

    assert own_words(turn=turn) == (
        SpokenSentence(text="First one.", line=1, paragraph=1),
        SpokenSentence(text="Second one.", line=1, paragraph=1),
        SpokenSentence(text="An item.", line=3, paragraph=2),
    )


def test_wrapped_lines_are_one_paragraph() -> None:
    assert said("The importer fails\nwhen two workers start.") == [
        "The importer fails when two workers start."
    ]


@pytest.mark.parametrize("speaker", [Speaker.TOOL, Speaker.SYSTEM])
def test_tools_and_systems_say_nothing(speaker: Speaker) -> None:
    assert said("We decided to use tabs.", speaker) == []


def test_marks_of_memories_and_emphasis_are_left_out() -> None:
    turn = Turn(sequence=1, speaker=Speaker.USER, text="**Always** use tabs. [^ Memory: a1]")

    assert prose(turn=turn) == "Always use tabs."


@pytest.mark.parametrize("text", ["", "\x00", "🙂" * 50, "שלום עולם", "a" * 100_000, "<a>" * 500])
def test_odd_text_does_not_break_it(text: str) -> None:
    assert isinstance(said(text), list)
