"""The readings of a text: hashed, embedded, indexed, cited, cut into sentences, counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.taxonomy import MemoryType
from memory.text import globs, passages, tokens
from memory.text import text as texts
from memory.text.text import TextFaultKind

LONG = "We decided to use X because of Y. " * 20_000
STORABLE = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))


def test_the_hash_is_of_case_and_values_not_of_composition_and_invisible_characters() -> None:
    plain = "The caf\u00e9 opens at nine."
    same = (
        plain,
        "The caf\u00e9 opens  at\n nine.",
        "  The cafe\u0301 opens at nine. ",
        "The ca\u200bf\u00e9 opens at\u202e nine.",
    )

    hashes = {texts.content_hash(content=text) for text in same}

    assert [len(one) for one in hashes] == [64]
    others = {texts.content_hash(content=text) for text in ("Retry 3", "retry 3", "retry 5")}
    assert len(others) == 3
    assert texts.check_text(text="a\x00b\ud800") is TextFaultKind.NUL  # the first is named
    assert texts.check_text(text="a\ud800") is TextFaultKind.LONE_SURROGATE


@given(text=STORABLE)
def test_normalizing_twice_changes_nothing_and_a_storable_text_has_no_faults(text: str) -> None:
    once = texts.normalize(text=text)

    assert texts.normalize(text=once) == once
    assert texts.check_text(text=text) is None
    assert len(texts.citation_text(content=text)) <= 40


def test_the_text_to_embed_begins_with_its_context() -> None:
    text = texts.contextual_text(
        files=("auth.ts", "db.ts"), module="auth", type=MemoryType.GOTCHA, content="Rotate first."
    )

    bare = texts.contextual_text(files=(), module="", type=MemoryType.FACT, content="x")
    assert text == "Files: auth.ts, db.ts | Module: auth | Type: gotcha\n\nRotate first."
    assert bare == "Type: fact\n\nx"


def test_identifiers_are_split_at_separators_and_humps() -> None:
    parts = {
        "getUserName": "get user name",
        "HTTPServerError": "http server error",
        "token_store": "token store",
        "rate-limit": "rate limit",
        "src/auth/tokenStore.py": "src auth tokenstore.py tokenstore py token store",
        "accounts.tokens.mint": "accounts tokens mint",
        "plain words only.": "",
    }

    assert {text: " ".join(texts.identifier_parts(text=text)) for text in parts} == parts


def test_the_keyword_text_keeps_the_whole_and_adds_parts_and_the_language_of_code() -> None:
    text = texts.keyword_text(content="Call getUser.", files=("src/auth.py",), tags=("db",))
    code = "def total(cart):\n    return sum(cart)"

    assert text == "Call getUser.\nsrc/auth.py\ndb\nget user src auth.py auth py"
    assert texts.keyword_text(content=code, files=(), tags=("code",)).endswith("\ncode\npython")
    assert "python" not in texts.keyword_text(content=code, files=(), tags=())


def test_a_citation_is_the_first_sentence_cut_at_a_word() -> None:
    citations = {
        "Short. And more.": "Short.",
        "Rotate the signing key before the deploy": "Rotate the signing key before the deploy",
        "Rotate the signing key before the deployment": "Rotate the signing key before the…",
        "Use the retry budget of the gateway, not your own": "Use the retry budget of the gateway…",
    }

    assert {text: texts.citation_text(content=text) for text in citations} == citations


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Use a cache, e.g. Redis. It is fast.", ("Use a cache, e.g. Redis.", "It is fast.")),
        ("See fig. 3. Done.", ("See fig. 3.", "Done.")),
        ("It is approx. Ten. So be it.", ("It is approx. Ten.", "So be it.")),
        ("Run `make x. Then y` once. Done.", ("Run `make x. Then y` once.", "Done.")),
        ("He said “no.” Then he left.", ("He said “no.”", "Then he left.")),
        ("A whirlpool etc.   Next.", ("A whirlpool etc.   Next.",)),
        (LONG, (LONG.strip(),)),
    ],
)
def test_sentences_are_cut_where_they_end(text: str, cut: tuple[str, ...]) -> None:
    assert passages.split_sentences(text=text) == cut


def test_pieces_have_a_cost() -> None:
    costs = {
        "": 0, "cache": 1, "refresh": 2, "the cache": 2, "the\ncache": 3, "a    b": 3,
        "auth/token.py:118": 8, "mémoire": 4, "日本": 4, "🚀": 2,
    }  # fmt: skip

    assert {text: tokens.count(text=text) for text in costs} == costs


@given(one=st.text(), two=st.text())
def test_counts_of_lines_add_up_and_only_spaces_cost_nothing(one: str, two: str) -> None:
    together = tokens.count(text=f"{one}\n{two}")

    assert together == tokens.count(text=f"{one}\n") + tokens.count(text=two)
    assert 0 <= tokens.count(text=one) <= 2 * len(one)
    assert tokens.count(text=one) > 0 or not one.strip()


def test_paths_and_globs_are_compared_from_their_first_name_by_the_signs_of_globs_alone() -> None:
    bare = {"./a/b.py": "a/b.py", "/a.py": "a.py", "../../a.py": "a.py", ".env": ".env"}
    likes = {
        "middleware/*": "%/middleware/%",
        "*.sql": "%/%.sql",
        "./a?c.py": "%/a_c.py",
        "100%_*": r"%/100\%\_%",
        "a\\*": "%/a\\\\%",
    }

    assert {path: globs.bare(path=path) for path in bare} == bare
    assert {glob: globs.like(glob=glob) for glob in likes} == likes
    assert [globs.is_glob(text=text) for text in ("a/*", "a?.py", "a/b.py")] == [True, True, False]


SOURCES = {
    "python": "    async def total(\n        self, cart={}\n    ) -> int:\n        return 1",
    "ruby": "def total(cart)\n  cart.sum\nend",
    "go": "func (c *Cart) Total() int {\n\treturn 1\n}",
    "rust": "pub(crate) async fn total(cart: &Cart) -> u32 { 1 }",
    "java": "    public static List<Item> items(Cart cart) {\n        return cart.items();\n    }",
    "javascript": "export const total = (cart) => cart.length;",
    "typescript": "export interface Cart {\n  total: number;\n}",
    "php": "<?php\nfunction total($cart) { return 1; }",
    "sql": "SELECT sum(price) FROM cart",
    "": "The cart is a function of what was put into it, and its class is decided later.",
}


def test_source_text_tells_its_language_and_a_file_better() -> None:
    told = {name: texts.language_of(content=text, files=()) for name, text in SOURCES.items()}
    named = (
        ("python", ("docs/cart.md", "src/Cart.TSX"), "typescript"),
        ("python", ("src/cart.rs:12",), "rust"),
        ("go", ("Makefile", "notes.txt"), "go"),
    )
    for source, paths, language in named:
        assert texts.language_of(content=SOURCES[source], files=paths) == language
    assert told == {name: name for name in SOURCES}


@given(content=st.text(), files=st.lists(st.text()).map(tuple))
def test_any_text_has_one_language_or_none(content: str, files: tuple[str, ...]) -> None:
    any_text = texts.language_of(content=content, files=files)
    assert any_text.isalpha() or not any_text
