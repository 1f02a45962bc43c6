"""Sentences in which an agent or a person corrects; thinking aloud is no correction."""

import pytest

from memory.sessions import self_reports
from memory.sessions.self_reports import RemarkKind


def kinds(text: str) -> list[RemarkKind]:
    """Return what an agent's text tells."""
    return [each.kind for each in self_reports.of_agent(sequence=1, step=1, text=text)]


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

    found = self_reports.of_agent(sequence=4, step=2, text=text)

    assert found[0].text == "I was wrong about the cache. The store is actually Postgres."
    assert (found[0].sequence, found[0].step) == (4, 2)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("No, that is wrong", True),
        ("Don't use mocks here", True),
        ("Don\u2019t use mocks here", True),
        ("Non, ce n'est pas ça", True),
        ("Now add the tests", False),
        ("Is there no cache?", False),
    ],
)
def test_a_person_who_corrects_is_heard(text: str, is_one: bool) -> None:
    assert bool(self_reports.of_user(sequence=1, step=1, text=text)) is is_one


def test_long_texts_stay_linear() -> None:
    assert kinds("I initially thought " * 5_000) == []
