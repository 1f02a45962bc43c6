"""The readings of a text: hashed, embedded, indexed, cited."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.taxonomy import MemoryType
from memory.text import text as texts
from memory.text.text import TextFaultKind

STORABLE = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))


@pytest.mark.parametrize(
    "same",
    [
        "The caf\u00e9 opens  at\n nine.",
        "  The cafe\u0301 opens at nine. ",
        "The ca\u200bf\u00e9 opens at\u202e nine.",
    ],
)
def test_composition_whitespace_and_invisible_characters_do_not_change_the_hash(same: str) -> None:
    plain = texts.content_hash(content="The caf\u00e9 opens at nine.")

    assert texts.content_hash(content=same) == plain
    assert len(plain) == 64


def test_case_and_values_do_change_the_hash() -> None:
    hashes = {texts.content_hash(content=text) for text in ("Retry 3", "retry 3", "retry 5")}

    assert len(hashes) == 3


@given(text=STORABLE)
def test_normalizing_twice_changes_nothing(text: str) -> None:
    once = texts.normalize(text=text)

    assert texts.normalize(text=once) == once


@pytest.mark.parametrize(
    ("text", "kind"),
    [("a\x00b\ud800", TextFaultKind.NUL), ("a\ud800", TextFaultKind.LONE_SURROGATE)],
)
def test_the_first_unstorable_character_is_named(text: str, kind: TextFaultKind) -> None:
    assert texts.check_text(text=text) is kind


@given(text=STORABLE)
def test_a_storable_text_has_no_faults(text: str) -> None:
    assert texts.check_text(text=text) is None


def test_the_text_to_embed_begins_with_its_context() -> None:
    text = texts.contextual_text(
        files=("auth.ts", "db.ts"), module="auth", type=MemoryType.GOTCHA, content="Rotate first."
    )

    assert text == "Files: auth.ts, db.ts | Module: auth | Type: gotcha\n\nRotate first."


def test_unknown_context_is_left_out() -> None:
    text = texts.contextual_text(files=(), module="", type=MemoryType.FACT, content="x")

    assert text == "Type: fact\n\nx"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getUserName", ("get", "user", "name")),
        ("HTTPServerError", ("http", "server", "error")),
        ("token_store", ("token", "store")),
        ("rate-limit", ("rate", "limit")),
        (
            "src/auth/tokenStore.py",
            ("src", "auth", "tokenstore.py", "tokenstore", "py", "token", "store"),
        ),
        ("accounts.tokens.mint", ("accounts", "tokens", "mint")),
        ("plain words only.", ()),
    ],
)
def test_identifiers_are_split_at_separators_and_humps(text: str, parts: tuple[str, ...]) -> None:
    assert texts.identifier_parts(text=text) == parts


def test_the_keyword_text_keeps_the_whole_and_adds_the_parts() -> None:
    text = texts.keyword_text(content="Call getUser.", files=("src/auth.py",), tags=("db",))

    assert text == "Call getUser.\nsrc/auth.py\ndb\nget user src auth.py auth py"


def test_source_text_has_its_language_among_its_words() -> None:
    code = "def total(cart):\n    return sum(cart)"

    assert texts.keyword_text(content=code, files=(), tags=("code",)).endswith("\ncode\npython")
    assert "python" not in texts.keyword_text(content=code, files=(), tags=())


def test_a_plain_content_is_its_own_keyword_text() -> None:
    assert texts.keyword_text(content="Nothing special", files=(), tags=()) == "Nothing special"


@pytest.mark.parametrize(
    ("content", "citation"),
    [
        ("Short. And more.", "Short."),
        ("Rotate the signing key before the deploy", "Rotate the signing key before the deploy"),
        ("Rotate the signing key before the deployment", "Rotate the signing key before the…"),
        (
            "Use the retry budget of the gateway, not your own",
            "Use the retry budget of the gateway…",
        ),
    ],
)
def test_a_citation_is_the_first_sentence_cut_at_a_word(content: str, citation: str) -> None:
    assert texts.citation_text(content=content) == citation


@given(content=STORABLE)
def test_a_citation_never_exceeds_40_characters(content: str) -> None:
    assert len(texts.citation_text(content=content)) <= 40


def test_typographic_apostrophes_are_read_as_straight_ones_in_their_places() -> None:
    assert texts.straighten_apostrophes(text="It won\u2019t \u2018work\u2019") == "It won't 'work'"
