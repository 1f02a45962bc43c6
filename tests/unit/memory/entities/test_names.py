"""Which spellings name the same thing."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.entities import names
from memory.entities import rules as entities_rules
from memory.entities.rules import ALIASES, CANONICAL, EntityKind, EntityType


def _keys(text: str) -> list[str]:
    return [one.key for one in names.names_of(spans=entities_rules.find_entities(text=text))]


def _asked(text: str) -> tuple[str, ...]:
    return tuple(names.keys_asked(text=text, spans=entities_rules.find_entities(text=text)))


def test_spellings_of_a_code_name_have_one_key_and_the_first_is_told() -> None:
    for written in ("AuthService", "authService", "auth-service", "auth_services", "AUTH_SERVICE",
                    "`AuthService`", "auth_service()"):  # fmt: skip
        spans = entities_rules.find_entities(text=f"See {written} there, or auth_service")
        (found,) = names.names_of(spans=spans)
        assert (found.type, found.key) == (EntityType.SYSTEM, "auth service"), written
        assert found.written == written.strip("`"), written


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("We run Postgres", "postgresql"),
        ("We run PostgreSQL", "postgresql"),
        ("We run k8s", "kubernetes"),
        ("We run OAuth2", "oauth"),
        ("On March 3, 2026 it broke", "2026-03-03"),
        ("On 3 March 2026 it broke", "2026-03-03"),
        ("At 2026-03-03T10:00:00Z it broke", "2026-03-03"),
        ("See https://www.Example.com/a/ there", "example.com/a"),
        ("Since v1.20.3 it works", "1.20.3"),
        ("Edit ./src/Auth/token.py first", "src/auth/token.py"),
        ("Mail Ops@Example.com today", "ops@example.com"),
        ("Ask @Maria-Lopez today", "maria lopez"),
        ("It is the billing-gateway again", "billing gateway"),
        ("catch ECONNREFUSED there", "econnrefused"),
        ("The board is called “Shop Final” é", "shop final"),
    ],
)
def test_each_kind_is_read_in_its_own_way(written: str, key: str) -> None:
    assert _keys(written) == [key]


def test_what_names_nothing_is_left_out() -> None:
    for plain in ("Returns `None` or `true`", "Ask the same service again", "Each service is slow"):
        assert _keys(plain) == [], plain
    assert _keys("`x`") == []


def test_a_word_that_only_ends_like_a_plural_is_left_as_it_is() -> None:
    for word in ("access", "status", "analysis", "alias", "css", "os"):
        assert names.word_key(text=word) == word


def test_a_question_names_what_has_no_sign_of_a_name_by_the_words_of_a_text() -> None:
    assert {"auth service", "kubernetes"} <= set(_asked("why does the auth service fail on k8s?"))
    assert _asked("what is it, and why is that so?") == ()
    assert _asked("how does billing use TokenStore")[0] == "token store"  # what has one comes first
    for written in ("AuthService", "postgres", "Ops@Example.com", "v1.20.3", "3 March 2026"):
        assert set(_keys(f"So {written} it is")) <= set(_asked(f"tell of {written} please"))


@given(text=st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    asked = _asked(text)

    assert len(asked) <= names.MOST_ASKED
    assert all(0 < len(key) <= names.LONGEST for key in asked)
    assert all(1 < len(key) <= names.LONGEST for key in _keys(text))


@given(kind=st.sampled_from(EntityKind), text=st.text(st.sampled_from("aB1_-. /:@#v"), max_size=30))
def test_no_kind_stumbles_over_a_text(kind: EntityKind, text: str) -> None:
    assert len(names.key_of(kind=kind, text=text)) <= names.LONGEST


def test_no_tool_is_also_called_like_another() -> None:
    every = [alias for name, others in ALIASES.items() for alias in (name, *others)]

    assert len(every) == len(set(every)) == len(CANONICAL)


def test_a_reader_that_reads_otherwise_has_another_version() -> None:
    tables = (entities_rules._PATTERNS, entities_rules.ENTITY_TYPES, ALIASES, names._BREAKS.pattern)
    words = (names._NO_PLURAL, sorted(names._SAYS_NOTHING), sorted(names._SMALL))

    digest = hashlib.sha256(repr((tables, words)).encode()).hexdigest()[:12]

    assert (names.VERSION, digest) == (
        3,
        "1064d3c7533e",
    )  # what reads otherwise has another version
