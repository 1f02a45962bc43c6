"""What a speaker says in their own words, where they correct, and what only passes through."""

import pytest

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
def test_corrections_and_dead_ends_are_found_and_thinking_aloud_and_quotes_are_none(
    kind: RemarkKind | None, text: str
) -> None:
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
